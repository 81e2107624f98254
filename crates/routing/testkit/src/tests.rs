use std::net::Ipv4Addr;

use wayhop_core::{
    Addr, Cx, DataPlane, DropReason, Inspect, Interests, Packet, Protocol, Route, RouteUse, RxMeta, Socket,
    Span, Time, TimerKey, TxId, TxReport, TxSpec, TxStatus,
};

use wayhop_wire::ipv4;

use crate::{EventKind, Link, Net, TestPacket, addr, data_packet, pcap, tshark};

/// A protocol whose next hops the test dictates: it passes packets up and down the line of nodes.
struct Line {
    mode: DataPlane,
    held: Vec<Packet>,
    hold: bool,
    lose: bool,
}

impl Line {
    fn boxed(mode: DataPlane) -> Box<dyn Protocol> {
        Box::new(Self { mode, held: Vec::new(), hold: false, lose: false })
    }
}

fn destination(p: &Packet) -> Ipv4Addr {
    ipv4::Packet::new_checked(p.bytes()).expect("sound").dst()
}

fn next_on_line(own: Ipv4Addr, to: Ipv4Addr) -> Ipv4Addr {
    let step = if to > own { 1 } else { u32::MAX };
    Ipv4Addr::from_bits(own.to_bits().wrapping_add(step))
}

impl Protocol for Line {
    fn data_plane(&self) -> DataPlane {
        self.mode
    }
    fn interests(&self) -> Interests {
        Interests { overhear: true, route_used: true, ..Interests::default() }
    }
    fn start(&mut self, cx: &mut Cx<'_>) {
        cx.open(Socket::Udp(654));
        cx.set_timer(TimerKey(1), Time::from_secs_f64(9.0));
        cx.set_timer(TimerKey(1), Time::from_secs_f64(1.0));
        cx.set_timer(TimerKey(2), Time::from_secs_f64(1.0));
        cx.clear_timer(TimerKey(2));
        if self.mode == DataPlane::Forwarding {
            for n in 0..4 {
                if addr(n) != cx.addr() {
                    let next_hop = next_on_line(cx.addr(), addr(n));
                    cx.install(Route::to_host(addr(n), next_hop, 1));
                }
            }
        }
    }
    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        cx.note("miss", cx.addr(), 0);
        if self.lose {
            cx.consume(p);
        } else if self.hold {
            self.held.push(p);
        } else if self.mode == DataPlane::Forwarding {
            cx.drop(p, DropReason::NoRoute);
        } else {
            let to = destination(&p);
            cx.send(p, TxSpec::unicast(next_on_line(cx.addr(), to)).reported(TxId(5)));
        }
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, _: &RxMeta) {
        let to = destination(&p);
        if to == cx.addr() {
            cx.deliver(p);
        } else {
            cx.send(p, TxSpec::unicast(next_on_line(cx.addr(), to)).reported(TxId(5)));
        }
    }
    fn on_overheard(&mut self, cx: &mut Cx<'_>, _: &[u8], next_hop: Addr, _: &RxMeta) {
        cx.note("overheard", next_hop, 0);
    }
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        let TxReport { id, next_hop: hop, status: st, packet: p, .. } = report;
        let id = id.unwrap_or_default();
        match st {
            TxStatus::NoAck { .. } => {
                cx.note("no_ack", hop, id.0);
                cx.recall(hop);
            }
            TxStatus::Recalled => cx.note("recalled", hop, id.0),
            TxStatus::Acked => cx.note("acked", hop, id.0),
            TxStatus::Unknown => cx.note("unknown", hop, id.0),
            TxStatus::QueueFull => cx.note("queue_full", hop, id.0),
        }
        if let Some(p) = p {
            cx.drop(p, DropReason::MacRetries);
        }
    }
    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        cx.note("timer", cx.addr(), key.0);
    }
    fn on_route_used(&mut self, cx: &mut Cx<'_>, used: &RouteUse) {
        cx.note("used", used.previous_hop.unwrap_or(Addr::UNSPECIFIED), 0);
    }
    fn inspect(&self, _: Time, out: &mut dyn Inspect) {
        self.held.iter().for_each(|p| out.held("held", p));
    }
}

fn secs(s: f64) -> Time {
    Time::from_secs_f64(s)
}

fn line_of(n: usize, mode: DataPlane) -> Net {
    let mut net = Net::new(n, |_| Line::boxed(mode));
    net.line();
    net
}

#[test]
fn both_data_planes_carry_packets_over_three_hops() {
    for mode in [DataPlane::PerPacket, DataPlane::Forwarding] {
        let mut net = line_of(4, mode);
        net.send_every(secs(0.5), Span::from_millis(100), 3, 0, 3, 1);
        net.run_until(secs(2.0));
        assert_eq!(net.delivered(1), [0, 1, 2], "{mode:?}");
        net.assert_conserved();
    }
}

#[test]
fn a_timer_set_again_moves_and_a_cleared_one_is_silent() {
    let mut net = line_of(1, DataPlane::PerPacket);
    net.run_until(secs(20.0));
    let fired: Vec<_> = net.record().iter().filter(|r| matches!(r.what, EventKind::Note(_))).collect();
    assert_eq!(fired.len(), 1);
    assert_eq!(fired[0].at, secs(1.0));
}

#[test]
fn the_host_counts_the_ttl_down_and_reports_use_with_the_previous_hop() {
    let mut net = line_of(4, DataPlane::Forwarding);
    net.config.ttl = 3;
    net.send_at(secs(1.0), 0, 3, 1);
    net.run_until(secs(2.0));
    let ttls: Vec<u8> = (0..3).flat_map(|n| net.sent_by(n).map(|(_, _, b)| b[8])).collect();
    assert_eq!(ttls, [3, 2, 1]);
    let used: Vec<_> = net.notes("used").iter().map(|(_, n)| n.about).collect();
    assert_eq!(used, [Ipv4Addr::UNSPECIFIED, addr(0), addr(1)]);
    net.config.ttl = 2;
    net.send_at(secs(3.0), 0, 3, 1);
    net.run_until(secs(4.0));
    assert_eq!(net.drops().last().map(|(n, r)| (n.0, *r)), Some((2, DropReason::TtlExpired)));
    net.assert_conserved();
}

#[test]
fn a_miss_of_the_table_comes_to_on_outbound() {
    let mut net = line_of(2, DataPlane::Forwarding);
    net.run_until(secs(1.0));
    net.send_to(0, Ipv4Addr::new(10, 0, 0, 99), 1);
    net.run_until(secs(2.0));
    assert_eq!(net.notes("miss").len(), 1);
    assert_eq!(net.drops().len(), 1);
}

#[test]
fn a_broken_link_gives_the_packet_back_and_recall_empties_the_queue() {
    let mut net = line_of(2, DataPlane::PerPacket);
    net.down(0, 1);
    (0..3).for_each(|_| net.send_at(secs(1.0), 0, 1, 1));
    net.run_until(secs(2.0));
    assert_eq!(net.notes("no_ack").len(), 1);
    assert_eq!(net.notes("recalled").len(), 2);
    assert_eq!(net.drops().len(), 3);
    net.assert_conserved();
}

#[test]
fn a_one_way_link_acknowledges_nothing() {
    let mut net = line_of(2, DataPlane::PerPacket);
    net.set_link(1, 0, Link::DOWN);
    net.send_at(secs(1.0), 0, 1, 1);
    net.run_until(secs(2.0));
    assert_eq!(net.delivered(1), [0u32; 0]);
    assert_eq!(net.notes("no_ack").len(), 1);
}

#[test]
fn without_acknowledgements_the_status_is_unknown_and_losses_are_silent() {
    let mut net = line_of(2, DataPlane::PerPacket);
    net.config.acknowledged = false;
    net.send_at(secs(1.0), 0, 1, 1);
    net.down_at(secs(2.0), 0, 1);
    net.send_at(secs(3.0), 0, 1, 1);
    net.run_until(secs(4.0));
    assert_eq!(net.delivered(1), [0]);
    assert_eq!(net.notes("unknown").len(), 2);
    assert_eq!(net.record().iter().filter(|r| matches!(r.what, EventKind::LostOnAir { .. })).count(), 1);
    net.assert_conserved();
}

#[test]
fn a_full_interface_queue_says_so() {
    let mut net = line_of(2, DataPlane::PerPacket);
    net.config.queue_limit = 2;
    (0..5).for_each(|_| net.send_at(secs(1.0), 0, 1, 1));
    net.run_until(secs(2.0));
    assert_eq!(net.delivered(1).len(), 3, "one on the air, two queued");
    assert_eq!(net.notes("queue_full").len(), 2);
    net.assert_conserved();
}

#[test]
fn the_tap_hears_what_goes_to_others_and_nothing_else() {
    let mut net = line_of(3, DataPlane::PerPacket);
    net.send_at(secs(1.0), 1, 2, 1);
    net.run_until(secs(2.0));
    assert_eq!(
        net.notes("overheard").iter().map(|(n, t)| (n.0, t.about)).collect::<Vec<_>>(),
        [(0, addr(2).into())]
    );
}

#[test]
fn loss_is_drawn_for_every_try() {
    // 1 - 0.5^7 = 99.2 % with seven tries, 50 % with one; 400 packets, five standard errors.
    for (acknowledged, low, high) in [(true, 380, 400), (false, 150, 250)] {
        let mut net = line_of(2, DataPlane::PerPacket);
        net.config.acknowledged = acknowledged;
        net.set_link(0, 1, Link::lossy(0.5));
        net.send_every(secs(1.0), Span::from_millis(5), 400, 0, 1, 1);
        net.run_until(secs(9.0));
        let n = net.delivered(1).len();
        assert!((low..=high).contains(&n), "{n}");
        net.assert_conserved();
    }
}

#[test]
fn two_runs_have_one_record() {
    let run = || {
        let mut net = line_of(4, DataPlane::Forwarding);
        net.set_link(1, 2, Link::lossy(0.8));
        net.send_every(secs(0.5), Span::from_millis(10), 50, 0, 3, 1);
        net.run_until(secs(3.0));
        net.record().to_vec()
    };
    let first = run();
    assert!(first.len() > 200);
    assert_eq!(first, run());
}

#[test]
#[should_panic(expected = "vanished without a reason")]
fn a_data_packet_that_is_consumed_is_noticed() {
    let mut net = Net::new(1, |_| {
        Box::new(Line { mode: DataPlane::PerPacket, held: Vec::new(), hold: false, lose: true })
    });
    net.send_to(0, addr(3), 1);
    net.run_until(secs(1.0));
    net.assert_conserved();
}

#[test]
fn a_held_packet_is_accounted_for_and_goes_down_with_its_node() {
    let mut net = Net::new(1, |_| {
        Box::new(Line { mode: DataPlane::PerPacket, held: Vec::new(), hold: true, lose: false })
    });
    net.send_to(0, addr(3), 1);
    net.run_until(secs(1.0));
    assert_eq!(net.inspect(0).held.len(), 1);
    net.assert_conserved();
    net.stop(0);
    net.restart(0, Line::boxed(DataPlane::PerPacket));
    net.run_until(secs(2.0));
    assert_eq!(net.drops().last().map(|d| d.1), Some(DropReason::NodeDown));
    net.assert_conserved();
}

#[test]
fn test_packets_are_sound_for_tshark() {
    let file = std::env::temp_dir().join(format!("wayhop-testkit-{}.pcap", std::process::id()));
    let t = TestPacket { source: addr(0), destination: addr(3), ttl: 9, ident: 77, port: 9_000 };
    let mut bytes = data_packet(t, &[1, 2, 3]);
    wayhop_wire::ipv4::decrement_ttl(&mut bytes).unwrap();
    pcap::write(std::fs::File::create(&file).unwrap(), [(secs(1.5), bytes.as_slice())]).unwrap();
    let rows = tshark::fields(
        &file,
        "ip.checksum.status != 0 && udp.checksum.status != 0",
        &["frame.time_epoch", "ip.src", "ip.dst", "ip.ttl", "ip.id", "udp.dstport", "udp.length"],
    );
    let complaints = tshark::complaints(&file);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(complaints.unwrap(), Vec::<Vec<String>>::new());
    assert_eq!(rows.unwrap(), [["1.500000000", "10.0.0.1", "10.0.0.4", "8", "0x004d", "9000", "11"]]);
}
