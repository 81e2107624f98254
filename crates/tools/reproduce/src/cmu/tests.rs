//! The paper's definitions on runs made by hand, whose counts are known.

use std::net::Ipv4Addr;

use wayhop_core::{Decision, FlowTag, Mac, NodeId, PacketId, Position, SendState, Span, Time};
use wayhop_report::Section;
use wayhop_trace::{
    Direction, FrameEvent, HopEvent, HopKind, Messages, Observer, PositionEvent, SendEvent, TcpEvent,
};
use wayhop_wire::dsr::{AddrList, Builder, DsrOption, SourceRoute};
use wayhop_wire::{dot11, icmp, ipv4, llc};

use super::bad_routes::{self, Transfer, WAYS};
use super::congestion::Congestion;
use super::links::Counts;
use super::ping::{Ping, Roles};
use super::survey::{Survey, SurveyWatch};
use super::{congestion, links, route_length, spacing, timers, totals};
use crate::testing::{self, at, find};

const E1: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const T1: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const T2: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);
const E2: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 4);

/// A packet of the script: who transmits it, and what is in it.
#[derive(Copy, Clone)]
struct Frame<'a> {
    transmitter: Ipv4Addr,
    source: Ipv4Addr,
    destination: Ipv4Addr,
    /// The nodes between, and how many of them are still to be visited.
    route: Option<(&'a [Ipv4Addr], u8)>,
    ack_request: Option<u16>,
    ack: Option<(u16, Ipv4Addr, Ipv4Addr)>,
    /// Reply or request, and its number.
    echo: Option<(bool, u16)>,
}

const NOTHING: Frame<'_> = Frame {
    transmitter: E1,
    source: E1,
    destination: E2,
    route: None,
    ack_request: None,
    ack: None,
    echo: None,
};

impl Frame<'_> {
    fn bytes(&self) -> Vec<u8> {
        let mut scratch = Vec::new();
        let next = if self.echo.is_some() { ipv4::protocol::ICMP } else { ipv4::protocol::NO_NEXT_HEADER };
        let mut b = Builder::new(&mut scratch, next);
        if let Some((list, segments_left)) = self.route {
            b.push(&DsrOption::SourceRoute(SourceRoute {
                first_hop_external: false,
                last_hop_external: false,
                salvage: 0,
                segments_left,
                addresses: AddrList::from(list),
            }))
            .unwrap();
        }
        if let Some(id) = self.ack_request {
            b.push(&DsrOption::AckRequest { id, source: None }).unwrap();
        }
        if let Some((id, source, destination)) = self.ack {
            b.push(&DsrOption::Ack { id, source, destination }).unwrap();
        }
        let mut payload = b.finish().to_vec();
        if let Some((is_reply, seq)) = self.echo {
            let data = &[0; 56];
            let echo = if is_reply {
                icmp::Repr::EchoReply { ident: 1, seq, data }
            } else {
                icmp::Repr::EchoRequest { ident: 1, seq, data }
            };
            let at = payload.len();
            payload.resize(at + echo.buffer_len(), 0);
            echo.emit(&mut payload[at..]);
        }
        let header = dot11::Repr::Data(dot11::Data {
            duration_us: 0,
            retry: false,
            more_fragments: false,
            receiver: Mac::BROADCAST,
            transmitter: Mac::from_addr(self.transmitter),
            bssid: Mac([2, 0, 0, 0, 0, 0]),
            sequence: 0,
            fragment: 0,
        });
        let mut f = vec![0; header.buffer_len() + llc::LEN + ipv4::HEADER_LEN];
        header.emit(&mut f);
        llc::Repr { ether_type: llc::IPV4 }.emit(&mut f[header.buffer_len()..]);
        ipv4::Repr::new(self.source, self.destination, ipv4::protocol::DSR, payload.len() as u16)
            .emit(&mut f[header.buffer_len() + llc::LEN..]);
        f.extend_from_slice(&payload);
        f
    }
}

/// The air of the script: who transmits is in the frame, who hears is said.
struct Air<O> {
    to: O,
    at_ms: u64,
}

impl<O: Observer> Air<O> {
    fn carry(&mut self, f: Frame<'_>, heard_by: &[Ipv4Addr]) {
        self.at_ms += 5;
        let bytes = f.bytes();
        let time = at(self.at_ms);
        let node = |who: Ipv4Addr| NodeId(u32::from(who.octets()[3]) - 1);
        let event =
            |who, direction| FrameEvent { time, node: node(who), ..testing::frame(direction, &bytes) };
        self.to.frame(&event(f.transmitter, Direction::Tx));
        for who in heard_by {
            self.to.frame(&event(*who, Direction::Rx));
        }
    }
}

fn request(seq: u16, by: &[Ipv4Addr]) -> Frame<'_> {
    Frame { route: Some((by, by.len() as u8)), echo: Some((false, seq)), ..NOTHING }
}

fn passed_on(seq: u16, by: &[Ipv4Addr]) -> Frame<'_> {
    Frame { transmitter: by[0], route: Some((by, by.len() as u8 - 1)), ..request(seq, by) }
}

fn ack(id: u16, from: Ipv4Addr) -> Frame<'static> {
    Frame { transmitter: from, source: from, destination: E1, ack: Some((id, from, E1)), ..NOTHING }
}

/// Four requests with every kind of fate.
fn script() -> Ping {
    let roles = Roles { from: NodeId(0), to: NodeId(3), cars: vec![T1, T2], addresses: vec![E1, T1, T2, E2] };
    let mut air = Air { to: Ping::new(roles), at_ms: 0 };
    // 0: all is well; the reply is overheard on its first hop, then received.
    air.carry(request(0, &[T1]), &[T1, T2]);
    air.carry(passed_on(0, &[T1]), &[E1, E2]);
    let reply = Frame { transmitter: E2, source: E2, destination: E1, echo: Some((true, 0)), ..NOTHING };
    air.carry(Frame { route: Some((&[T1], 1)), ..reply }, &[E1, T1]);
    air.carry(Frame { transmitter: T1, route: Some((&[T1], 0)), ..reply }, &[E1]);
    // 1: lost at first; the retransmission arrives and is acknowledged and passed on.
    air.carry(request(1, &[T1]), &[]);
    air.carry(Frame { ack_request: Some(7), ..request(1, &[T1]) }, &[T1]);
    air.carry(ack(7, T1), &[E1]);
    air.carry(passed_on(1, &[T1]), &[E1]);
    // 2: arrives, and nothing is heard of that; its acknowledgement is lost, then it is; T2 takes it over.
    air.carry(request(2, &[T1]), &[T1]);
    air.carry(passed_on(2, &[T1]), &[]);
    air.carry(Frame { ack_request: Some(8), ..request(2, &[T1]) }, &[T1]);
    air.carry(ack(8, T1), &[]);
    air.carry(Frame { ack_request: Some(9), ..request(2, &[T1]) }, &[]);
    air.carry(request(2, &[T2]), &[T2]);
    air.carry(passed_on(2, &[T2]), &[E1]);
    // 3: directly to E2, which does not answer. An acknowledgement to another node does not count
    // for E1.
    air.carry(Frame { ack_request: Some(10), ..request(3, &[]) }, &[E2]);
    air.carry(Frame { ack: Some((9, T1, T2)), ..ack(9, T1) }, &[]);
    air.to
}

fn ours(section: &Section, artefact: &str, row: &str, quantity: &str) -> Option<f64> {
    find(section.rows.iter().filter(|r| r.artefact == artefact), row, quantity).ours
}

#[test]
fn each_first_hop_has_the_counts_of_the_script() {
    let p = script();
    let t1 = Counts {
        sent: 3,
        received_raw: 2,
        received: 3,
        // That of request 1 came after its retransmission.
        passive_acks: 1,
        retransmissions: 3,
        retransmissions_lost: 1,
        acks_lost: 1,
    };
    let t2 = Counts { sent: 1, received_raw: 1, received: 1, passive_acks: 1, ..Counts::default() };
    assert_eq!((Counts::of(&p, &[T1]), Counts::of(&p, &[T2])), (t1, t2));
}

#[test]
fn tables_and_equation_are_computed_from_the_counts() {
    let sections = links::sections(&[script()], &[T1, T2]);
    let [losses, equation] = &sections[..] else { panic!("two sections") };
    assert_eq!(ours(losses, "Table I", "T1", "loss_pct"), Some(100.0 / 3.0));
    assert_eq!(ours(losses, "Table I", "Total", "loss_pct"), Some(25.0));
    assert_eq!(ours(losses, "Table II", "T1", "loss_pct"), Some(0.0));
    assert_eq!(ours(equation, "Table III", "T1", "expected_retransmissions"), Some(2.0));
    assert_eq!(ours(equation, "Table IV", "T1", "successful_retransmissions"), Some(1.0));
    assert_eq!(ours(equation, "Section 8.2", "Total", "successful_of_expected_pct"), Some(50.0));
}

#[test]
fn totals_and_the_direct_link_are_those_of_the_script() {
    let p = [script()];
    let s = totals::section(&p);
    let total = |quantity| ours(&s, "Section 8.2", "E1 to E2", quantity);
    assert_eq!(total("requests_transmitted"), Some(8.0));
    assert_eq!(total("unique_requests_transmitted"), Some(4.0));
    assert_eq!(total("retransmitted_or_duplicate"), Some(4.0));
    assert_eq!(total("recycled"), Some(1.0));
    let s = totals::direct_section(&p);
    let direct = |quantity| ours(&s, "Section 8.3", "E1 to E2 directly", quantity);
    assert_eq!(
        ["requests_sent", "originations", "replies", "loss_pct"].map(direct),
        [1.0, 1.0, 0.0, 100.0].map(Some)
    );
}

#[test]
fn a_fourth_transmission_to_the_same_node_is_a_recycled_packet() {
    let roles = Roles { from: NodeId(0), to: NodeId(3), cars: vec![T1], addresses: vec![E1, T1, T2, E2] };
    let mut air = Air { to: Ping::new(roles), at_ms: 0 };
    (0..7).for_each(|_| air.carry(request(5, &[T1]), &[]));
    let recycled: Vec<bool> = air.to.transmissions.iter().map(|t| t.recycled).collect();
    assert_eq!(recycled, [false, false, false, true, false, false, true]);
}

#[test]
fn route_lengths_count_pings_with_a_reply_only() {
    let s = route_length::section(&[script()]);
    assert_eq!(ours(&s, "Table V", "echo request", "routes_of_2_hops"), Some(1.0));
    assert_eq!(ours(&s, "Table V", "echo request", "routes_of_1_hop"), Some(0.0));
    assert_eq!(ours(&s, "Table V", "echo reply", "routes_of_2_hops"), Some(1.0));
}

#[test]
fn the_longest_hundredth_of_the_spacings_is_left_out() {
    let mut p = script();
    // 200 spacings: 100 of 300 ms, 98 of 320 ms, two of 10 s, which are the hundredth.
    let gaps = (0..100).map(|_| 0.3).chain((0..98).map(|_| 0.32)).chain([10.0, 10.0]);
    let mut at = 0.0;
    p.replies = std::iter::once(0.0)
        .chain(gaps)
        .enumerate()
        .map(|(i, gap)| {
            at += gap;
            (i as u16, (at, 2))
        })
        .collect();
    let s = spacing::section(&[p]);
    let mean = ours(&s, "Figure 14", "replies at E1", "spacing_mean_ms").unwrap();
    let sd = ours(&s, "Figure 14", "replies at E1", "spacing_sd_ms").unwrap();
    // (100 * 300 + 98 * 320) / 198 = 309.899; sqrt(20^2 * (100/198) * (98/198) * 198/197) = 10.0249.
    assert!((mean - 309.899).abs() < 0.01 && (sd - 10.0249).abs() < 0.001, "{mean} {sd}");
}

fn send(node: u32, at_ms: u64, packet: u64, decision: Decision, timer_ms: u64) -> SendEvent {
    SendEvent {
        time: at(at_ms),
        node: NodeId(node),
        state: SendState {
            packet: PacketId(packet),
            next_hop: T1.into(),
            decision,
            attempt: 1,
            hops: 1,
            queued: 0,
            timer: Span::from_micros(timer_ms * 1_000),
            rtt: Span::ZERO,
            rtt_deviation: Span::ZERO,
        },
    }
}

#[test]
fn the_timers_are_those_of_sends_that_wait_for_a_confirmation() {
    let mut p = script();
    for (packet, timer_ms) in [(1, 50), (2, 50), (3, 50), (4, 200), (5, 0)] {
        p.sent(&send(0, packet, packet, Decision::Cached, timer_ms));
    }
    let s = timers::section(&[p], &[]);
    let row = |quantity| ours(&s, "Figure 7", "all nodes", quantity);
    assert_eq!((row("timer_at_minimum_pct"), row("timer_max_ms")), (Some(75.0), Some(200.0)));
}

fn hop(kind: HopKind, node: u32, packet: u64, seq: u32) -> HopEvent {
    let (time, flow) = (at(u64::from(seq) * 100), Some(FlowTag { flow: 0, seq }));
    HopEvent { time, packet: PacketId(packet), flow, node: NodeId(node), bytes: 84, ..testing::hop(kind) }
}

/// One node's requests, with this number of retransmissions.
fn congested(retransmissions: u64) -> Congestion {
    let mut c = Congestion::new(NodeId(0));
    for seq in 0..20 {
        c.hop(&hop(HopKind::Originate, 0, u64::from(seq), seq));
        c.sent(&send(0, u64::from(seq) * 100, u64::from(seq), Decision::Cached, 50));
    }
    for i in 0..retransmissions {
        c.sent(&send(0, 3_000 + i, i, Decision::Retransmitted, 240));
    }
    // The other end's replies and retransmissions do not count for A.
    c.hop(&hop(HopKind::Originate, 1, 900, 3));
    c.sent(&send(1, 3_500, 900, Decision::Retransmitted, 999));
    c.sent(&send(0, 3_600, 900, Decision::Retransmitted, 999));
    c.hop(&hop(HopKind::Deliver, 0, 900, 3));
    c
}

#[test]
fn the_congestion_experiment_counts_what_a_sends_again() {
    let s = congestion::section(
        &[vec![congested(12), congested(14)], vec![congested(2), congested(0)]],
        &[vec![], vec![]],
    );
    assert_eq!(ours(&s, "Figure 8", "without", "retransmissions"), Some(13.0));
    assert_eq!(ours(&s, "Figure 8", "with queue length", "retransmissions"), Some(1.0));
    assert_eq!(ours(&s, "Figure 8", "without over with", "times_fewer_retransmissions"), Some(10.0));
    assert_eq!(ours(&s, "Figure 8", "without", "timer_max_ms"), Some(240.0));
    assert_eq!(congested(0).replies, [(0.3, 3)]);
}

#[test]
fn the_survey_marks_both_cars_where_losses_come_in_bursts() {
    // 660 s at 10 m/s, ten packets of 1024 octets a second; all are lost from 100 to 102 s and, a lap later, from 320 to
    // 322 s and from 540 to 542 s; one in 400 elsewhere.
    let mut w = SurveyWatch::new(NodeId(1), NodeId(0));
    for (node, ahead) in [(0, 220.0), (1, 0.0)] {
        w.position(&PositionEvent {
            time: Time::ZERO,
            until: Time::NEVER,
            node: NodeId(node),
            at: Position::new(ahead, 0.0, 0.0),
            velocity: Position::new(10.0, 0.0, 0.0),
        });
    }
    let mut lost = 0;
    for i in 0..6_600_u64 {
        let mut bytes = Frame { echo: None, ..NOTHING }.bytes();
        // An own identification and the length of the survey's packets.
        let ip_at = bytes.len() - 24;
        let ip = ipv4::Repr { id: i as u16, ..ipv4::Repr::new(T1, E1, ipv4::protocol::UDP, 1_004) };
        ip.emit(&mut bytes[ip_at..]);
        bytes.resize(ip_at + 1_024, 0);
        let burst = matches!(i, 1_000..1_020 | 3_200..3_220 | 5_400..5_420);
        let arrives = !burst && i % 400 != 7;
        lost += usize::from(!arrives);
        for (node, direction, seen) in [(1, Direction::Tx, true), (0, Direction::Rx, arrives)] {
            if seen {
                let frame = testing::frame(direction, &bytes);
                w.frame(&FrameEvent { time: at(i * 100), node: NodeId(node), ..frame });
            }
        }
    }
    let s = Survey::from(w);
    assert_eq!((s.difference.sent.len(), s.difference.lost()), (6_600, lost));
    assert_eq!(s.period_s(), Some(220.0));
    // In the middle of the window from 100 to 105 s the trailing car is at 1025 m.
    assert!(s.marks.iter().any(|m| m[0].x == 1_025.0 && m[1].x == 1_245.0), "{:?}", s.marks);
}

/// A transfer that received a packet at each of these times, in tenths of seconds.
fn transfer(tenths: &[u32]) -> Transfer {
    let mut t = Transfer::new(NodeId(2));
    for at in tenths {
        t.hop(&hop(HopKind::Deliver, 2, u64::from(*at), *at));
    }
    // What passes through another node has not arrived.
    t.hop(&hop(HopKind::Deliver, 1, 1, 500));
    t
}

#[test]
fn the_gain_is_taken_seed_by_seed_and_a_stall_is_a_fifth_of_a_second() {
    let mut transfers: [Vec<Transfer>; WAYS.len()] = Default::default();
    transfers[0] = vec![transfer(&[10, 11, 30, 31]), transfer(&[1, 2])];
    transfers[WAYS.len() - 1] = vec![transfer(&[10, 11, 12, 13, 14, 15]), transfer(&[1, 2, 3])];
    let s = bad_routes::section(&transfers, 4);
    assert_eq!(ours(&s, "Figure 16", "perfect routing", "throughput_gain_pct"), Some(50.0));
    assert_eq!(ours(&s, "Figure 15", "nothing remembered", "stalls_of_a_fifth_of_a_second"), Some(0.5));
    assert!((ours(&s, "Figure 15", "nothing remembered", "longest_stall_s").unwrap() - 1.0).abs() < 1e-9);
    assert_eq!(ours(&s, "Figure 15", "perfect routing", "stalls_of_a_fifth_of_a_second"), Some(0.0));
}

#[test]
fn the_sequence_plot_tells_direct_segments_and_wide_requests() {
    use super::tcp;
    use super::transfer::{Case, Connection};
    let (a, c) = (NodeId(0), Ipv4Addr::new(10, 0, 0, 3));
    let mut seen = Connection::new(a, c);
    let time = at(1_000);
    let hop = |kind, packet, bytes, peer, messages, ttl| {
        let (packet, flow) = (PacketId(packet), (bytes > 100).then_some(FlowTag { flow: 0, seq: 0 }));
        HopEvent { time, packet, flow, bytes, peer, messages, ttl, ..testing::hop(kind) }
    };
    let segment = |octet| TcpEvent { time, octet, bytes: 1_460, ..testing::tcp("send") };
    let (none, b) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::new(10, 0, 0, 2));
    for (packet, peer) in [(1, b), (2, c)] {
        seen.tcp(&segment(packet * 1_460));
        seen.hop(&hop(HopKind::Originate, packet, 1_500, none.into(), Messages::NONE, 64));
        seen.hop(&hop(HopKind::Send, packet, 1_520, peer.into(), Messages::NONE, 64));
    }
    for ttl in [1, 255] {
        let request = wayhop_protocols::messages("dsr", &["rreq"]).unwrap();
        seen.hop(&hop(HopKind::Send, 9, 60, none.into(), request, ttl));
    }
    assert_eq!(seen.requests.iter().map(|r| r.1).collect::<Vec<_>>(), [false, true]);
    let s = tcp::section(&[(Case::Field { way: 0 }, vec![seen])].into(), 4);
    let series = &s.figures[0].panels[0].plot.series;
    assert_eq!(series.iter().map(|s| s.points.len()).collect::<Vec<_>>(), [3, 3, 1, 1]);
    assert!(s.figures[0].caption.ends_with("One run, seed 4."), "{}", s.figures[0].caption);
}
