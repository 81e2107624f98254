//! One node in a world of a few lists: the order of effects, recall, several engines and interfaces, going down.

use std::net::Ipv4Addr;
use std::sync::Arc;

use wayhop_core::{
    Addr, BROADCAST, Command, Cx, DataPlane, DropReason, Frame, IfaceId, Inspect, Interests, Limits,
    LinkChange, Mac, NodeId, Packet, PacketId, PacketMeta, Payload, Pool, Prefix, Priority, Protocol,
    Purpose, Refused, Reporting, Route, RouteUse, RxMeta, SendState, Socket, Span, Time, TimerKey, TraceNote,
    TxId, TxReport, TxSpec, TxStatus, stream,
};
use wayhop_wire::{arp, ipv4, udp};

mod gateway;
mod ipv6;
mod keys;
mod overhearing;

use crate::{
    Above, Below, Engine, Hop, HopKind, IfaceConfig, InstalledRoute, Node, Resolution, Schedule, Stage,
    Workspace, World,
};

const ME: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const NEXT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const FAR: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 9);
const DATA: Socket = Socket::Udp(9_000);

/// What an engine is to do when it is called, and what it was told.
#[derive(Default)]
struct Script {
    plane: Option<DataPlane>,
    at_start: Vec<Step>,
    on_outbound: Vec<Step>,
    told: Vec<String>,
    /// Packets that came back.
    back: Vec<Vec<u8>>,
    held: Vec<Packet>,
}

#[derive(Clone)]
enum Step {
    /// Sends the packet at hand, with a report under this number or with none.
    Forward(Option<u64>),
    /// Sends a new packet to this neighbour under this number.
    Send(Addr, u64),
    Recall,
    Install(Route),
    Replace(Vec<Route>),
    Open(Socket),
    Timer(u64, f64),
    Hold,
}

impl Script {
    fn act(&mut self, cx: &mut Cx<'_>, steps: &[Step], packet: Option<Packet>) {
        let mut packet = packet;
        for step in steps.iter().cloned() {
            match step {
                Step::Forward(report) => {
                    let spec = TxSpec { report: report.map(TxId), ..TxSpec::unicast(NEXT) };
                    packet.take().into_iter().for_each(|p| cx.send(p, spec));
                }
                Step::Send(to, id) => {
                    let p = cx.alloc(60);
                    cx.send(p, TxSpec::unicast(to).reported(TxId(id)));
                }
                Step::Recall => cx.recall(NEXT),
                Step::Install(r) => cx.install(r),
                Step::Replace(rows) => cx.replace_routes(rows),
                Step::Open(socket) => cx.open(socket),
                Step::Timer(key, at) => cx.set_timer(TimerKey(key), Time::from_secs_f64(at)),
                Step::Hold => self.held.extend(packet.take()),
            }
        }
        if let Some(p) = packet {
            cx.drop(p, DropReason::Policy);
        }
    }
}

impl Protocol for Script {
    fn data_plane(&self) -> DataPlane {
        self.plane.unwrap_or(DataPlane::PerPacket)
    }
    fn interests(&self) -> Interests {
        Interests { route_used: true, ..Interests::default() }
    }
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.told.push("start".into());
        let steps = self.at_start.clone();
        self.act(cx, &steps, None);
    }
    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        self.told.push("outbound".into());
        let steps = self.on_outbound.clone();
        self.act(cx, &steps, Some(p));
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        self.told.push(format!("frame from {}", rx.from));
        cx.consume(p);
    }
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        self.told.push(format!("{:?} {:?}", report.id.map(|i| i.0), report.status));
        self.back.extend(report.packet.iter().map(|p| p.bytes().to_vec()));
        report.packet.into_iter().for_each(|p| cx.drop(p, DropReason::MacRetries));
    }
    fn on_timer(&mut self, _: &mut Cx<'_>, key: TimerKey) {
        self.told.push(format!("timer {}", key.0));
    }
    fn on_command(&mut self, _: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        if let Command::SetOutside(o) = command {
            let reaches = o.reaches.iter().map(|p| format!(" {p}")).collect::<Vec<_>>().concat();
            self.told.push(format!("outside{reaches}"));
        }
        Ok(())
    }
    fn on_route_used(&mut self, _: &mut Cx<'_>, used: &RouteUse) {
        self.told.push(format!("used {} by {}", used.destination, used.next_hop));
    }
    fn inspect(&self, _: Time, out: &mut dyn Inspect) {
        self.held.iter().for_each(|p| out.held("held", p));
    }
}

#[derive(Default)]
struct RecordingWorld {
    work: Workspace,
    schedule: Schedule,
    rows: Vec<(HopKind, Option<DropReason>)>,
    delivered: usize,
    routes: Vec<String>,
    refused: usize,
}

impl Below for RecordingWorld {
    fn ready(&mut self, _: Time, _: IfaceId) {}
}
impl Above for RecordingWorld {
    fn listens(&mut self, _: Time, _: &Packet) -> bool {
        true
    }
    fn deliver(&mut self, _: Time, packet: Packet) {
        self.delivered += 1;
        self.work.pool.recycle(packet);
    }
    fn unreachable(&mut self, _: Time, packet: Packet, _: DropReason) {
        self.refused += 1;
        self.work.pool.recycle(packet);
    }
}
impl World for RecordingWorld {
    fn workspace(&mut self) -> &mut Workspace {
        &mut self.work
    }
    fn schedule_timer(&mut self, at: Time, engine: u8, key: TimerKey) {
        self.schedule.push(at, crate::Due::Timer(engine, key));
    }
    fn schedule_frame(&mut self, at: Time, stage: Stage, frame: Frame) {
        self.schedule.push(at, crate::Due::Frame(stage, frame));
    }
    fn schedule_resolution(&mut self, at: Time, iface: IfaceId) {
        self.schedule.push(at, crate::Due::Resolution(iface));
    }
    /// UDP is a routing protocol's here.
    fn limited_class(&self, packet: &[u8]) -> Option<u8> {
        ipv4::Packet::new_checked(packet).ok().filter(|ip| ip.protocol() == ipv4::protocol::UDP).map(|_| 0)
    }
    fn record(&mut self, _: Time, _: &Packet, hop: Hop) {
        self.rows.push((hop.kind, hop.reason));
    }
    fn note(&mut self, _: Time, _: TraceNote) {}
    fn state(&mut self, _: Time, _: SendState) {}
    fn route_installed(&mut self, _: Time, row: &InstalledRoute) {
        self.routes.push(format!("+{} {}", row.route.destination, row.route.next_hop));
    }
    fn route_removed(&mut self, _: Time, destination: Prefix) {
        self.routes.push(format!("-{destination}"));
    }
}

fn engine(script: Script) -> Engine<Script> {
    Engine::new(script, stream(1, Purpose::Protocol, 0))
}
fn node(script: Script) -> Node<Script> {
    Node::new(ME, engine(script), Arc::new(IfaceConfig { queue_packets: 2, ..IfaceConfig::default() }))
}
fn secs(s: f64) -> Time {
    Time::from_secs_f64(s)
}

/// A datagram to port 9000.
fn datagram(w: &mut RecordingWorld, from: Ipv4Addr, to: Ipv4Addr, ttl: u8) -> Packet {
    let u = udp::Repr { src_port: 9_000, dst_port: 9_000, payload_len: 4 };
    let mut ip = ipv4::Repr::new(from, to, ipv4::protocol::UDP, u.buffer_len() as u16);
    ip.ttl = ttl;
    let mut p = w.work.new_packet(Time::ZERO, ipv4::HEADER_LEN + u.buffer_len());
    ip.emit(p.bytes_mut());
    u.emit(&mut p.bytes_mut()[ipv4::HEADER_LEN..], from, to);
    p
}

/// An application at the node sends a datagram.
fn sends(n: &mut Node<Script>, w: &mut RecordingWorld, at: Time, to: Ipv4Addr) {
    let p = datagram(w, ME, to, 64);
    n.originate(w, at, p);
}

/// An ARP request of [`NEXT`] for this node.
fn arp_request() -> [u8; 28] {
    let mut bytes = [0; arp::LEN];
    arp::Repr::request(Mac::from_addr(NEXT), NEXT, ME).emit(&mut bytes);
    bytes
}

/// A frame whose packet has this number, for tests of queues and resolvers.
pub(crate) fn frame(id: u64, next_hop: u32, priority: Priority) -> Frame {
    let packet = Pool::new().packet(&[0; 20], PacketMeta { id: PacketId(id), ..PacketMeta::default() });
    let next_hop = NodeId(next_hop).default_addr();
    Frame {
        packet,
        payload: Payload::Ip,
        iface: IfaceId(0),
        next_hop: next_hop.into(),
        receiver: Mac::from_addr(next_hop),
        priority,
        reporting: Reporting::Nobody,
        life: 0,
    }
}

fn drops(w: &RecordingWorld) -> Vec<DropReason> {
    w.rows.iter().filter_map(|r| r.1).collect()
}

#[test]
fn what_effects_provoke_comes_after_all_of_them() {
    // The queue holds two packets of a class: the third and the fourth are refused.
    let steps: Vec<Step> =
        (1..=4).map(|id| Step::Send(NEXT.into(), id)).chain([Step::Timer(7, 1.0)]).collect();
    let mut n = node(Script { on_outbound: steps, ..Script::default() });
    let mut w = RecordingWorld::default();
    sends(&mut n, &mut w, Time::ZERO, FAR);
    assert_eq!(n.protocol(0).told, ["outbound", "Some(3) QueueFull", "Some(4) QueueFull"]);
    // The timer was set before the statuses came.
    assert_eq!(n.timers().count(), 1);
    assert_eq!(n.queued(IfaceId(0)), 2);
}

#[test]
fn a_recall_takes_packets_out_and_ends_those_that_nobody_asked_for() {
    let mut n = node(Script { on_outbound: vec![Step::Forward(None)], ..Script::default() });
    let mut w = RecordingWorld::default();
    sends(&mut n, &mut w, Time::ZERO, FAR);
    let steps = vec![Step::Send(NEXT.into(), 5), Step::Send(FAR.into(), 6), Step::Recall];
    n.engines[0].protocol.on_outbound = steps;
    n.interfaces[0].config = Arc::new(IfaceConfig::default());
    sends(&mut n, &mut w, Time::ZERO, FAR);
    // What was sent without a report ends as if its link had broken; the packet at hand ended by the script.
    assert_eq!(drops(&w), [DropReason::MacRetries, DropReason::Policy, DropReason::MacRetries]);
    assert_eq!(n.protocol(0).told.last().unwrap(), "Some(5) Recalled");
    assert_eq!(n.pull(IfaceId(0)).map(|f| f.next_hop), Some(FAR.into()));
    assert!(n.pull(IfaceId(0)).is_none());
}

#[test]
fn a_forwarding_node_reports_the_use_of_a_route_and_then_its_packet_leaves() {
    let route = Route::to_host(FAR, NEXT, 3);
    let script = Script {
        plane: Some(DataPlane::Forwarding),
        at_start: vec![Step::Install(route), Step::Open(Socket::Udp(654))],
        ..Script::default()
    };
    let (mut n, mut w) = (node(script), RecordingWorld::default());
    n.start(&mut w, Time::ZERO);
    let p = datagram(&mut w, Ipv4Addr::new(10, 0, 0, 5), FAR, 9);
    n.receive(&mut w, secs(1.0), p, RxMeta::from(Ipv4Addr::new(10, 0, 0, 5), false));
    assert_eq!(n.protocol(0).told, ["start", "used 10.0.0.9 by 10.0.0.2"]);
    let sent = n.pull(IfaceId(0)).unwrap();
    assert_eq!(ipv4::Packet::new_checked(sent.packet.bytes()).unwrap().ttl(), 8);
    n.finished(&mut w, secs(1.1), sent, TxStatus::NoAck { tries: 7 });
    assert_eq!(n.protocol(0).told.last().unwrap(), "None NoAck { tries: 7 }");
    // Without a route it is the protocol's; with the last hop of its life it goes no further.
    let p = datagram(&mut w, Ipv4Addr::new(10, 0, 0, 5), FAR, 1);
    n.receive(&mut w, secs(2.0), p, RxMeta::from(Ipv4Addr::new(10, 0, 0, 5), false));
    assert_eq!(drops(&w).last(), Some(&DropReason::TtlExpired));
    assert_eq!(w.work.pool.live(), 0);
}

#[test]
fn each_engine_gets_what_its_socket_listens_to_and_owns_its_routes() {
    let first = Script {
        plane: Some(DataPlane::Forwarding),
        at_start: vec![Step::Install(Route::to_host(FAR, NEXT, 5))],
        ..Script::default()
    };
    let other = Ipv4Addr::new(10, 0, 0, 3);
    let second = Script {
        plane: Some(DataPlane::Forwarding),
        at_start: vec![Step::Open(DATA), Step::Install(Route::to_host(FAR, other, 2))],
        ..Script::default()
    };
    let (mut n, mut w) = (node(first), RecordingWorld::default());
    n.add_engine(engine(second));
    n.start(&mut w, Time::ZERO);
    assert_eq!(n.table().get(FAR.into()).map(|r| (r.route.next_hop, r.owner)), Some((other.into(), 1)));
    let p = datagram(&mut w, NEXT, BROADCAST, 1);
    n.receive(&mut w, Time::ZERO, p, RxMeta::from(NEXT, true));
    assert_eq!(n.protocol(1).told.last().unwrap(), "frame from 10.0.0.2");
    assert_eq!((n.protocol(0).told.len(), w.delivered), (1, 0));
    // The second engine replaces its rows by others: the first one's route is the best again.
    n.engines[1].protocol.on_outbound = vec![];
    n.engines[1].protocol.at_start = vec![Step::Replace(vec![Route::to_host(NEXT, NEXT, 1)])];
    n.start(&mut w, secs(1.0));
    assert_eq!(n.table().get(FAR.into()).map(|r| r.route.next_hop), Some(NEXT.into()));
    assert_eq!(w.routes[2..4], ["+10.0.0.9 10.0.0.2", "+10.0.0.2 10.0.0.2"]);
}

#[test]
fn with_two_interfaces_a_broadcast_leaves_by_both_and_a_unicast_where_its_neighbour_was_heard() {
    let steps = vec![Step::Send(BROADCAST.into(), 1), Step::Send(NEXT.into(), 2)];
    let mut n = node(Script { on_outbound: steps, ..Script::default() });
    let second = n.add_interface(None, Arc::new(IfaceConfig { segment: 0x123, ..IfaceConfig::default() }));
    assert_eq!(n.mac(second).to_string(), "06:23:0a:00:00:01");
    assert_ne!(n.mac(IfaceId(0)), n.mac(second));
    let mut w = RecordingWorld::default();
    let p = datagram(&mut w, NEXT, ME, 1);
    n.receive(&mut w, Time::ZERO, p, RxMeta { iface: second, ..RxMeta::from(NEXT, false) });
    sends(&mut n, &mut w, Time::ZERO, FAR);
    let hops = |n: &mut Node<Script>, i| -> Vec<Addr> {
        std::iter::from_fn(|| n.pull(i)).map(|f| f.next_hop).collect()
    };
    assert_eq!(hops(&mut n, IfaceId(0)), [BROADCAST]);
    assert_eq!(hops(&mut n, second), [BROADCAST, NEXT]);
}

#[test]
fn a_node_knows_on_which_of_its_links_unicasts_are_acknowledged() {
    const OTHER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);
    let config =
        |acknowledges, metric| Arc::new(IfaceConfig { acknowledges, metric, ..IfaceConfig::default() });
    let mut n = node(Script::default());
    let radio = IfaceId(0);
    n.configure(radio, config(true, 1));
    let wire = n.add_interface(None, config(false, 0));
    let mut w = RecordingWorld::default();
    let hear = |n: &mut Node<Script>, w: &mut RecordingWorld, from: Ipv4Addr, iface| {
        let p = datagram(w, from, ME, 1);
        n.receive(w, Time::ZERO, p, RxMeta { iface, ..RxMeta::from(from, false) });
    };
    let acknowledged = |n: &Node<Script>, to: &[Ipv4Addr]| -> Vec<bool> {
        let (mut rng, mut pool, mut next, mut effects) =
            (stream(1, Purpose::Protocol, 0), Pool::new(), 0, Vec::new());
        let cx = Cx::new(Time::ZERO, ME, n.interface_facts(), &mut rng, &mut pool, &mut next, &mut effects)
            .with_exceptions(n.heard.exceptions());
        let mut all: Vec<bool> = to.iter().map(|to| cx.link_acknowledges(*to)).collect();
        all.push(cx.all_links_acknowledge());
        all
    };
    let three = [NEXT, OTHER, FAR];
    assert_eq!(acknowledged(&n, &three), [true, true, true, true], "nobody was heard");
    hear(&mut n, &mut w, OTHER, wire);
    hear(&mut n, &mut w, NEXT, radio);
    assert_eq!(acknowledged(&n, &three), [true, false, true, false]);
    hear(&mut n, &mut w, NEXT, wire);
    assert_eq!(acknowledged(&n, &three), [false, false, true, false], "the wire has the lower metric");
    n.link(&mut w, Time::ZERO, wire, LinkChange::Down);
    assert_eq!(acknowledged(&n, &three), [true, true, true, true], "all that is left is the radio");
    n.link(&mut w, Time::ZERO, wire, LinkChange::Up);
    assert_eq!(acknowledged(&n, &three), [false, false, true, false]);
    n.link(&mut w, Time::ZERO, radio, LinkChange::Down);
    assert_eq!(acknowledged(&n, &three), [false, false, false, false]);
    n.configure(wire, config(true, 0));
    assert_eq!(acknowledged(&n, &three), [true, true, true, true]);
}

#[test]
fn a_node_that_goes_down_ends_its_packets_and_comes_back_with_its_timers() {
    let steps = vec![Step::Send(NEXT.into(), 1), Step::Timer(3, 5.0), Step::Hold];
    let mut n = node(Script { on_outbound: steps, ..Script::default() });
    let mut w = RecordingWorld::default();
    sends(&mut n, &mut w, Time::ZERO, FAR);
    n.go_down(&mut w, secs(1.0));
    assert_eq!(drops(&w), [DropReason::NodeDown]);
    let p = datagram(&mut w, NEXT, ME, 1);
    n.receive(&mut w, secs(2.0), p, RxMeta::from(NEXT, false));
    sends(&mut n, &mut w, secs(2.0), FAR);
    assert_eq!(drops(&w), [DropReason::NodeDown; 3]);
    while let Some((at, due)) = w.schedule.pop(secs(6.0)) {
        if let crate::Due::Timer(engine, key) = due {
            n.timer(&mut w, at, engine, key);
        }
    }
    assert_eq!(n.protocol(0).told, ["outbound"], "no timer fires while the node is down");
    n.come_back(&mut w, secs(8.0));
    let Some((at, crate::Due::Timer(engine, key))) = w.schedule.pop(secs(8.0)) else {
        panic!("the timer is due")
    };
    n.timer(&mut w, at, engine, key);
    assert_eq!(n.protocol(0).told, ["outbound", "timer 3"]);
    assert_eq!((n.protocol(0).held.len(), w.work.pool.live()), (1, 1));
}

#[test]
fn a_reboot_ends_what_the_engines_held_and_their_routes() {
    let script = Script {
        at_start: vec![Step::Install(Route::to_host(FAR, NEXT, 3)), Step::Timer(1, 9.0)],
        on_outbound: vec![Step::Hold],
        ..Script::default()
    };
    let (mut n, mut w) = (node(script), RecordingWorld::default());
    n.start(&mut w, Time::ZERO);
    sends(&mut n, &mut w, Time::ZERO, FAR);
    n.go_down(&mut w, secs(1.0));
    n.reboot(&mut w, secs(2.0), vec![engine(Script::default())]);
    assert_eq!(drops(&w), [DropReason::NodeDown]);
    assert_eq!(w.routes, ["+10.0.0.9 10.0.0.2", "-10.0.0.9"]);
    assert_eq!(n.protocol(0).told, ["start"]);
    assert_eq!((n.timers().count(), w.work.pool.live()), (0, 0));
    assert!(n.is_up() && n.table().is_empty());
}

#[test]
fn the_queue_of_an_interface_that_goes_down_fails_at_once() {
    let mut n = node(Script { on_outbound: vec![Step::Forward(Some(1))], ..Script::default() });
    let mut w = RecordingWorld::default();
    sends(&mut n, &mut w, Time::ZERO, FAR);
    n.link(&mut w, secs(1.0), IfaceId(0), wayhop_core::LinkChange::Down);
    assert_eq!(n.protocol(0).told.last().unwrap(), "Some(1) NoAck { tries: 0 }");
    assert!(n.pull(IfaceId(0)).is_none());
    assert_eq!(w.work.pool.live(), 0);
}

#[test]
fn an_idle_node_is_small() {
    // With its engine and its interface, without what they allocate later; the goal for a whole node is 400.
    let size = size_of::<Node>();
    assert!(size <= 384, "{size} octets");
}

#[test]
fn a_loud_neighbour_spends_its_own_share_and_each_second_has_another() {
    let mut n = node(Script::default());
    let limits = Limits { routing_per_neighbour: 5, routing_total: 0, arp_per_neighbour: 2 };
    n.interfaces[0].config = Arc::new(IfaceConfig { limits, ..IfaceConfig::default() });
    let mut w = RecordingWorld::default();
    let quiet = Ipv4Addr::new(10, 0, 0, 3);
    let hear = |n: &mut Node<Script>, w: &mut RecordingWorld, at: f64, from: Ipv4Addr| {
        let p = datagram(w, from, ME, 64);
        n.receive(w, secs(at), p, RxMeta::from(from, false));
    };
    for _ in 0..1_000 {
        hear(&mut n, &mut w, 1.5, NEXT);
    }
    hear(&mut n, &mut w, 1.6, quiet);
    let told = |n: &Node<Script>, from: Ipv4Addr| {
        let line = format!("frame from {from}");
        n.protocol(0).told.iter().filter(|t| **t == line).count()
    };
    assert_eq!((told(&n, NEXT), told(&n, quiet)), (5, 1));
    assert_eq!(drops(&w), vec![DropReason::RateLimit; 995]);
    hear(&mut n, &mut w, 2.0, NEXT);
    assert_eq!(told(&n, NEXT), 6);

    // It is answered twice a second, whatever it asks for.
    for _ in 0..10 {
        n.receive_arp(&mut w, secs(3.0), IfaceId(0), &arp_request());
    }
    assert_eq!(n.queued(IfaceId(0)), 2);
}

#[test]
fn a_link_address_is_announced_at_an_interface_that_is_up_and_at_no_other() {
    let (mut n, mut w) = (node(Script::default()), RecordingWorld::default());
    let radio = IfaceId(0);
    n.link(&mut w, secs(1.0), radio, LinkChange::Down);
    n.announce(&mut w, secs(1.5), radio);
    assert_eq!(n.queued(radio), 0, "nobody hears it");
    n.link(&mut w, secs(2.0), radio, LinkChange::Up);
    n.announce(&mut w, secs(2.0), radio);
    assert_eq!(n.queued(radio), 1);
}

#[test]
fn a_neighbour_s_first_request_is_answered_late_and_none_before() {
    let mut n = node(Script::default());
    let config = IfaceConfig {
        resolution: Resolution::Host,
        link_delay: Some(Span::ZERO),
        first_answer: Span::from_secs(4),
        ..IfaceConfig::default()
    };
    n.interfaces[0].config = Arc::new(config);
    let mut w = RecordingWorld::default();
    let mut answers = |at: f64| {
        n.receive_arp(&mut w, secs(at), IfaceId(0), &arp_request());
        std::iter::from_fn(|| w.schedule.pop(Time::NEVER)).map(|(at, _)| at).collect::<Vec<_>>()
    };
    // A host asks three times, a second apart, and has given up by 4 s: the ping that comes then finds the address.
    assert_eq!(answers(1.0), [secs(5.0)]);
    assert_eq!(answers(2.0), []);
    assert_eq!(answers(3.0), []);
    assert_eq!(answers(6.0), [secs(6.0)]);
}
