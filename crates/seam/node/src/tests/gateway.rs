//! A node with an interface that leads out: what leaves, what comes in, and what does not.

use super::*;
use wayhop_core::Outside;

use crate::Edge;

const OUT: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 7);
const ROUTER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const RADIO: IfaceId = IfaceId(0);
const UPLINK: IfaceId = IfaceId(1);

fn everything() -> Prefix {
    Prefix::around(Addr::UNSPECIFIED, 0)
}

/// A gateway with a radio and an uplink, that has begun.
fn gateway(script: Script) -> (Node<Script>, RecordingWorld) {
    let (mut n, mut w) = (node(script), RecordingWorld::default());
    let uplink = n
        .add_interface(None, Arc::new(IfaceConfig { leads_out: true, segment: 1, ..IfaceConfig::default() }));
    assert_eq!(uplink, UPLINK);
    let way = Route { destination: everything(), next_hop: ROUTER.into(), iface: UPLINK, metric: 1 };
    let mesh = Prefix::around(ME, 24);
    n.set_edge(Edge { outside: Outside { mesh, reaches: vec![everything()] }, routes: vec![way] });
    n.start(&mut w, Time::ZERO);
    (n, w)
}

fn comes_in(n: &mut Node<Script>, w: &mut RecordingWorld, from: Ipv4Addr, to: Ipv4Addr, ttl: u8) {
    let p = datagram(w, from, to, ttl);
    n.receive(w, Time::ZERO, p, RxMeta { iface: UPLINK, ..RxMeta::from(ROUTER, false) });
}

#[test]
fn an_engine_hears_what_it_leads_to_and_that_the_uplink_is_down() {
    let (mut n, mut w) = gateway(Script::default());
    assert_eq!(n.protocol(0).told, ["start", "outside 0.0.0.0/0"]);
    n.link(&mut w, Time::ZERO, UPLINK, LinkChange::Down);
    assert_eq!(n.protocol(0).told.last().unwrap(), "outside");
    n.link(&mut w, Time::ZERO, UPLINK, LinkChange::Up);
    assert_eq!(n.protocol(0).told.last().unwrap(), "outside 0.0.0.0/0");
    n.reboot(&mut w, Time::ZERO, vec![engine(Script::default())]);
    assert_eq!(n.protocol(0).told, ["start", "outside 0.0.0.0/0"], "and again after a reboot");
}

#[test]
fn a_host_that_sends_on_by_itself_tells_that_its_way_out_is_gone_and_there_again() {
    let mut w = RecordingWorld::default();
    let mut n = node(Script::default());
    let open = Outside { mesh: Prefix::around(ME, 24), reaches: vec![everything()] };
    n.set_edge(Edge { outside: open.clone(), routes: Vec::new() });
    n.start(&mut w, Time::ZERO);
    assert!(!n.change_outside(&mut w, Time::ZERO, open.clone()));
    assert!(n.change_outside(&mut w, Time::ZERO, open.cut_off()));
    assert!(n.change_outside(&mut w, Time::ZERO, open));
    assert_eq!(n.protocol(0).told, ["start", "outside 0.0.0.0/0", "outside", "outside 0.0.0.0/0"]);
}

#[test]
fn the_routing_protocol_does_not_speak_on_the_uplink() {
    let steps = vec![Step::Send(BROADCAST.into(), 1)];
    let (mut n, mut w) = gateway(Script { on_outbound: steps, ..Script::default() });
    sends(&mut n, &mut w, Time::ZERO, FAR);
    assert_eq!((n.queued(RADIO), n.queued(UPLINK)), (1, 0));
    // Nor does it listen there.
    comes_in(&mut n, &mut w, OUT, BROADCAST, 9);
    assert_eq!(drops(&w).last(), Some(&DropReason::Policy));
    assert!(!n.protocol(0).told.iter().any(|t| t.starts_with("frame")));
}

#[test]
fn what_is_for_the_outside_leaves_by_the_uplink_and_what_is_for_the_mesh_does_not() {
    let (mut n, mut w) = gateway(Script { plane: Some(DataPlane::Forwarding), ..Script::default() });
    for (from, ttl) in [(ME, 64), (NEXT, 7)] {
        let p = datagram(&mut w, from, OUT, ttl);
        if from == ME {
            n.originate(&mut w, Time::ZERO, p);
        } else {
            n.receive(&mut w, Time::ZERO, p, RxMeta { iface: RADIO, ..RxMeta::from(NEXT, false) });
        }
        let frame = n.pull(UPLINK).expect("it leaves");
        assert_eq!(frame.next_hop, ROUTER);
        assert_eq!(frame.packet.bytes()[8], if from == ME { 64 } else { 6 }, "RFC 1812, section 5.3.1");
    }
    // An address of the mesh that nobody has is the engine's business.
    sends(&mut n, &mut w, Time::ZERO, FAR);
    assert_eq!((n.queued(UPLINK), n.protocol(0).told.last().unwrap().as_str()), (0, "outbound"));
    // And with the uplink down so is everything.
    n.link(&mut w, Time::ZERO, UPLINK, LinkChange::Down);
    sends(&mut n, &mut w, Time::ZERO, OUT);
    assert_eq!(n.protocol(0).told.last().unwrap(), "outbound");
}

#[test]
fn the_longest_prefix_of_the_ways_out_counts() {
    let (mut n, mut w) = gateway(Script { plane: Some(DataPlane::Forwarding), ..Script::default() });
    let all = Route { destination: everything(), next_hop: ROUTER.into(), iface: UPLINK, metric: 1 };
    let direct = Route::to_host(OUT, OUT, 1).on(UPLINK);
    let outside = Outside { mesh: Prefix::around(ME, 24), reaches: vec![everything()] };
    n.set_edge(Edge { outside, routes: vec![all, direct] });
    sends(&mut n, &mut w, Time::ZERO, OUT);
    assert_eq!(n.pull(UPLINK).unwrap().next_hop, OUT);
}

#[test]
fn what_comes_from_outside_goes_to_the_engine_with_one_hop_less_to_live() {
    let (mut n, mut w) = gateway(Script { on_outbound: vec![Step::Forward(None)], ..Script::default() });
    comes_in(&mut n, &mut w, OUT, FAR, 9);
    assert_eq!(n.pull(RADIO).expect("the engine sends it").packet.bytes()[8], 8);
    comes_in(&mut n, &mut w, OUT, ME, 1);
    assert_eq!(w.delivered, 1, "one for the gateway itself");
    comes_in(&mut n, &mut w, OUT, FAR, 1);
    assert_eq!(drops(&w), [DropReason::TtlExpired]);
}

#[test]
fn nobody_outside_speaks_for_the_mesh_or_goes_through_it() {
    let (mut n, mut w) = gateway(Script::default());
    // RFC 2827: a source of the mesh does not come from outside; nor does one that nobody can have.
    for from in [NEXT, ME, Ipv4Addr::BROADCAST, Ipv4Addr::new(224, 0, 0, 1), Ipv4Addr::LOCALHOST] {
        comes_in(&mut n, &mut w, from, FAR, 9);
    }
    // The mesh is no way from the outside to the outside.
    comes_in(&mut n, &mut w, OUT, Ipv4Addr::new(203, 0, 113, 1), 9);
    assert_eq!(drops(&w), [DropReason::Policy; 6]);
    assert!(n.protocol(0).told.iter().all(|t| t != "outbound"));
    let short = w.work.new_packet(Time::ZERO, 3);
    n.receive(&mut w, Time::ZERO, short, RxMeta { iface: UPLINK, ..RxMeta::from(ROUTER, false) });
    assert_eq!(drops(&w).last(), Some(&DropReason::Malformed));
}

#[test]
fn a_source_outside_hears_by_icmp_that_a_node_is_unreachable() {
    let (mut n, mut w) = gateway(Script::default());
    let p = datagram(&mut w, OUT, FAR, 9);
    n.drop_packet(&mut w, Time::ZERO, p, DropReason::NoRoute);
    let told = n.pull(UPLINK).expect("an ICMP message");
    let ip = ipv4::Packet::new_checked(told.packet.bytes()).unwrap();
    assert_eq!((ip.src(), ip.dst(), ip.protocol()), (ME, OUT, 1));
    assert_eq!(ip.payload()[..2], [3, 1], "destination unreachable, host");
    // Not about one that had a route.
    let p = datagram(&mut w, OUT, FAR, 9);
    n.drop_packet(&mut w, Time::ZERO, p, DropReason::QueueFull);
    assert!(n.pull(UPLINK).is_none());
    let command = Command::SetOutside(Outside { mesh: Prefix::around(ME, 24), reaches: vec![] });
    assert!(n.command(&mut w, Time::ZERO, 0, &command).is_ok());
}

#[test]
fn a_host_that_is_a_gateway_tells_a_source_outside_itself() {
    let mut w = RecordingWorld::default();
    let mut n = node(Script::default());
    let outside = Outside { mesh: Prefix::around(ME, 24), reaches: vec![everything()] };
    n.set_edge(Edge { outside: outside.clone(), routes: Vec::new() });
    n.start(&mut w, Time::ZERO);
    let p = datagram(&mut w, OUT, FAR, 9);
    n.drop_packet(&mut w, Time::ZERO, p, DropReason::NoRoute);
    assert_eq!(w.refused, 1);
    // Not about a packet of another node, nor about one that had a route, nor once nothing leads there.
    let p = datagram(&mut w, NEXT, FAR, 9);
    n.drop_packet(&mut w, Time::ZERO, p, DropReason::NoRoute);
    let p = datagram(&mut w, OUT, FAR, 9);
    n.drop_packet(&mut w, Time::ZERO, p, DropReason::QueueFull);
    n.change_outside(&mut w, Time::ZERO, outside.cut_off());
    let p = datagram(&mut w, OUT, FAR, 9);
    n.drop_packet(&mut w, Time::ZERO, p, DropReason::NoRoute);
    assert_eq!(w.refused, 1);
}
