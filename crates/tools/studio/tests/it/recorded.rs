//! Run directories, written by the recorder that every world uses.

use std::net::Ipv4Addr;
use std::path::Path;

use wayhop_core::{DropReason, FlowTag, IfaceId, NodeId, PacketId, Position, Time};
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{
    HopEvent, HopKind, Manifest, Messages, NodeInfo, Outputs, PacketClass, PositionEvent, Recorder, RunDir,
    RunStatus, Summary,
};

/// Nanoseconds between events.
pub(crate) const STEP: u64 = 1_000;

/// Its file of movements is nowhere any more.
const SCENARIO: &str = "\
name = \"three\"
nodes.count = 3
movement = { kind = \"ns2\", path = \"gone.tcl\" }
radio = { preset = \"wavelan-914-ns2\" }
";

pub(crate) fn hop(i: u64) -> HopEvent {
    let is_drop = i % 4 == 3;
    HopEvent {
        iface: IfaceId(0),
        time: Time::from_nanos(i * STEP),
        packet: PacketId(i / 4),
        flow: Some(FlowTag { flow: 0, seq: (i / 4) as u32 }),
        node: NodeId((i % 3) as u32),
        bytes: 92,
        source: Ipv4Addr::new(10, 0, 0, 1).into(),
        destination: Ipv4Addr::new(10, 0, 0, 3).into(),
        peer: Ipv4Addr::new(10, 0, 0, 2).into(),
        signal_dbm: f32::NAN,
        kind: if is_drop { HopKind::Drop } else { HopKind::Forward },
        class: PacketClass::Cbr,
        messages: Messages::NONE,
        ttl: 63,
        reason: is_drop.then_some(DropReason::NoRoute),
    }
}

/// A leg of node `node` that begins at `x` metres after `from_s` and goes on at 2 m/s.
fn leg(node: u32, from_s: u64, until: Time, x: f64) -> PositionEvent {
    PositionEvent {
        time: Time::from_nanos(from_s * 1_000_000_000),
        until,
        node: NodeId(node),
        at: Position::new(x, 0.0, 0.0),
        velocity: Position::new(2.0, 0.0, 0.0),
    }
}

/// A recorder of a run with the nodes n0, n1 and n2.
pub(crate) fn recorder(at: &Path, outputs: &Outputs) -> Recorder {
    let manifest = Manifest::new(SCENARIO, 7, vec!["wayhop".into()], 1_795_292_745);
    let dir = RunDir::create(at, &manifest, CLASSIFIER).expect("a new directory");
    let address = |i: u8| Ipv4Addr::new(10, 0, 0, i + 1);
    let nodes = (0..3_u8).map(|i| NodeInfo::with_radio(format!("n{i}"), address(i))).collect();
    Recorder::start(dir, outputs, nodes).expect("a recorder")
}

/// Of a simulation of 20 s.
pub(crate) fn summary() -> Summary {
    Summary {
        scenario: "three".to_owned(),
        world: "sim".to_owned(),
        protocol: "dsr".to_owned(),
        simulated_s: 20.0,
        ..Summary::default()
    }
}

/// A run of `events` events; each node has a leg until 10 s and another one from then on.
pub(crate) fn run(at: &Path, events: u64) {
    let mut recorder = recorder(at, &Outputs::default());
    for node in 0..3 {
        recorder.position(&leg(node, 0, Time::from_nanos(10_000_000_000), f64::from(node)));
        recorder.position(&leg(node, 10, Time::NEVER, 50.0));
    }
    for i in 0..events {
        recorder.hop(&hop(i));
    }
    recorder.finish(&mut summary(), RunStatus::Complete).expect("room on the disk");
}
