//! Traffic between a mesh and hosts outside, as the gateway's record has it.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use wayhop_core::{Addr, DropReason, IfaceId, NodeId, PacketId, Time};
use wayhop_trace::{
    HopEvent, HopKind, Identity, Manifest, Messages, NodeInfo, Outcome, PacketClass, Summary,
};

use crate::fates::{RecordEnds, stories};
use crate::flows::{To, flows};
use crate::frames::RowRef;
use crate::input::{NodeRun, number};
use crate::unite::{Packets, TimedRow};

const ROBOT: [u8; 4] = [10, 0, 0, 1];
const GATEWAY: [u8; 4] = [10, 0, 0, 2];
const WEB: [u8; 4] = [192, 0, 2, 7];
const ABSENT: [u8; 4] = [10, 0, 0, 9];
const NOWHERE: [u8; 4] = [198, 51, 100, 1];

/// A row: time in seconds, packet, node, kind, source and destination.
type Row = (u64, u64, u32, HopKind, [u8; 4], [u8; 4]);

fn hop((s, packet, node, kind, from, to): Row) -> (HopEvent, Option<Identity>) {
    let of = HopEvent {
        time: Time::from_secs_f64(s as f64),
        packet: PacketId(packet),
        flow: None,
        node: NodeId(node),
        bytes: 84,
        source: Addr::from(Ipv4Addr::from(from)),
        destination: Addr::from(Ipv4Addr::from(to)),
        peer: Addr::from(Ipv4Addr::from(GATEWAY)),
        iface: IfaceId::ANY,
        signal_dbm: f32::NAN,
        kind,
        class: PacketClass::Data,
        messages: Messages::NONE,
        ttl: 64,
        reason: (kind == HopKind::Drop).then_some(DropReason::NoRoute),
    };
    let ports = Some((7, 7));
    let identity =
        Identity { frame: packet, end_to_end: packet, protocol: 1, ports, payload: 56, echo: None };
    (of, Some(identity))
}

fn run(address: [u8; 4], hops: Vec<(HopEvent, Option<Identity>)>) -> NodeRun {
    let address = Ipv4Addr::from(address);
    NodeRun {
        path: PathBuf::new(),
        manifest: Manifest::new(format!("address = \"{address}/24\"\n"), 1, Vec::new(), 0),
        summary: Summary::default(),
        node: NodeInfo::with_radio(address.to_string(), address),
        number: 0,
        hops,
        notes: Vec::new(),
        sends: Vec::new(),
        sizes: Vec::new(),
        connections: Vec::new(),
        gps: Vec::new(),
        positions: Vec::new(),
        counters: Vec::new(),
        end_ns: 100_000_000_000,
    }
}

#[test]
fn conversations_with_hosts_outside_are_flows_between_a_node_and_its_gateway() {
    use HopKind::{Deliver, Drop, Forward, Originate, Receive, Send};
    let robot: &[Row] = &[
        (1, 1, 0, Originate, ROBOT, WEB),
        (1, 1, 0, Send, ROBOT, WEB),
        (3, 2, 0, Receive, WEB, ROBOT),
        (3, 2, 0, Deliver, WEB, ROBOT),
        // Lost on its way to the gateway.
        (4, 3, 0, Originate, ROBOT, WEB),
        (4, 3, 0, Send, ROBOT, WEB),
        (5, 4, 0, Originate, ROBOT, ABSENT),
        (6, 5, 0, Originate, ROBOT, NOWHERE),
        (6, 5, 0, Drop, ROBOT, NOWHERE),
    ];
    let gateway: &[Row] =
        &[(1, 1, 1, Receive, ROBOT, WEB), (1, 1, 1, Deliver, ROBOT, WEB), (2, 2, 1, Forward, WEB, ROBOT)];
    let mut runs =
        [(ROBOT, robot), (GATEWAY, gateway)].map(|(a, rows)| run(a, rows.iter().copied().map(hop).collect()));
    number(&mut runs);
    let of_row = |r: &NodeRun| r.hops.iter().map(|(h, _)| h.packet).collect();
    let packets = Packets { of_row: runs.iter().map(of_row).collect(), of_number: Vec::new(), strange: 0 };
    let mut order = Vec::new();
    for (node, run) in (0..).zip(&runs) {
        let timed = |(row, (h, _)): (u32, &(HopEvent, _))| TimedRow {
            at_ns: h.time.as_nanos().into(),
            seen: RowRef { node, row },
        };
        order.extend((0..).zip(&run.hops).map(timed));
    }
    order.sort_by_key(|t| (t.at_ns, t.seen));
    let all = flows(&runs, &packets, &order);
    let ends: Vec<_> =
        all.list.iter().map(|f| (f.from, f.is_from_outside, f.to, f.conversation.packets)).collect();
    let expected =
        [(0, false, To::Outside(Some(1)), 2), (1, true, To::Node(0), 1), (0, false, To::Outside(None), 1)];
    assert_eq!(ends, expected);
    assert_eq!(all.entries.iter().copied().collect::<Vec<_>>(), [RowRef { node: 1, row: 2 }]);
    assert_eq!(all.elsewhere, 1, "a node of the mesh whose run is not here may have got it");

    let fates =
        stories(&runs, &packets, &all, &order, &RecordEnds::of([(100_000_000_000, false)].into_iter()));
    let outcomes = |flow: usize| fates[flow].iter().map(|s| s.fates[0].outcome).collect::<Vec<_>>();
    assert_eq!(outcomes(0), [Outcome::Delivered, Outcome::Dropped(DropReason::LostOnAir)]);
    assert_eq!(outcomes(1), [Outcome::Delivered]);
    assert_eq!(outcomes(2), [Outcome::Dropped(DropReason::NoRoute)]);
}
