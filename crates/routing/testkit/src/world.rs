//! What a node requires of the scripted world around it.

use std::collections::BTreeMap;

use wayhop_core::{
    DropReason, Frame, IfaceId, Input, NodeId, Packet, PacketMeta, Prefix, SendState, Span, Time, TimerKey,
    TraceNote, TxReport, TxStatus,
};
use wayhop_node::{Above, Below, Due, Hop, HopKind, InputContext, InstalledRoute, Stage, Workspace, World};

use crate::event::Happening;
use crate::record::{EventKind, Record};

/// What all nodes share.
#[derive(Default)]
pub(crate) struct Common {
    pub(crate) work: Workspace,
    pub(crate) record: Vec<Record>,
    /// By time, and in the order in which they were scheduled.
    pub(crate) events: BTreeMap<(Time, u64), Happening>,
    pub(crate) now: Time,
    /// How long one transmission takes.
    pub(crate) airtime: Span,
    /// Each node's transmitter.
    pub(crate) air: Vec<Transmitter>,
    next_event: u64,
}

#[derive(Default)]
pub(crate) struct Transmitter {
    pub(crate) on_air: Option<Frame>,
    /// Grows with every stop of the node: the end of an earlier life's transmission is stale.
    pub(crate) life: u32,
}

impl Common {
    pub(crate) fn schedule(&mut self, at: Time, what: Happening) {
        let number = self.next_event;
        self.next_event += 1;
        self.events.insert((at.max(self.now), number), what);
    }
    /// A node begins to transmit.
    pub(crate) fn transmit(&mut self, node: usize, frame: Frame) {
        let Frame { packet, next_hop, priority, .. } = &frame;
        let (PacketMeta { id, flow, .. }, bytes) = (packet.meta, packet.bytes().to_vec());
        self.log(node, EventKind::Sent { id, flow, next_hop: *next_hop, priority: *priority, bytes });
        let t = &mut self.air[node];
        t.on_air = Some(frame);
        let life = t.life;
        self.schedule(self.now + self.airtime, Happening::AirEnd { node, life });
    }
    pub(crate) fn log(&mut self, node: usize, what: EventKind) {
        self.record.push(Record { at: self.now, node: NodeId(node as u32), what });
    }
}

/// The surroundings of one node.
pub(crate) struct NodeWorld<'a> {
    pub(crate) common: &'a mut Common,
    pub(crate) node: usize,
}

impl Below for NodeWorld<'_> {
    fn ready(&mut self, _: Time, _: IfaceId) {
        // The transmitter looks into the queue after each call.
    }
    fn offer(&mut self, _: Time, frame: Frame) -> Option<Frame> {
        if self.common.air[self.node].on_air.is_some() {
            return Some(frame);
        }
        self.common.transmit(self.node, frame);
        None
    }
}

impl Above for NodeWorld<'_> {
    fn listens(&mut self, _: Time, _: &Packet) -> bool {
        true
    }
    fn deliver(&mut self, _: Time, packet: Packet) {
        self.common.work.pool.recycle(packet);
    }
    fn unreachable(&mut self, _: Time, packet: Packet, _: DropReason) {
        self.common.work.pool.recycle(packet);
    }
}

impl World for NodeWorld<'_> {
    fn workspace(&mut self) -> &mut Workspace {
        &mut self.common.work
    }
    fn schedule_timer(&mut self, at: Time, engine: u8, key: TimerKey) {
        self.common.schedule(at, Happening::Due { node: self.node, due: Due::Timer(engine, key) });
    }
    fn schedule_frame(&mut self, at: Time, stage: Stage, frame: Frame) {
        self.common.schedule(at, Happening::Due { node: self.node, due: Due::Frame(stage, frame) });
    }
    fn schedule_resolution(&mut self, at: Time, iface: IfaceId) {
        self.common.schedule(at, Happening::Due { node: self.node, due: Due::Resolution(iface) });
    }
    fn logs_inputs(&self) -> bool {
        true
    }
    fn log_input(&mut self, _: Time, _: u8, _: &InputContext<'_>, input: &Input<'_>) {
        if let Input::TxStatus(TxReport { next_hop, status, .. }) = *input
            && !matches!(status, TxStatus::Acked | TxStatus::Unknown)
        {
            self.common.log(self.node, EventKind::Status { next_hop, status });
        }
    }
    fn record(&mut self, _: Time, p: &Packet, hop: Hop) {
        let (id, flow) = (p.meta.id, p.meta.flow);
        let what = match (hop.kind, hop.reason) {
            (HopKind::Deliver, _) => EventKind::Delivered { id, flow, bytes: p.bytes().to_vec() },
            (HopKind::Drop, Some(reason)) => EventKind::Dropped { id, flow, reason },
            _ => return,
        };
        self.common.log(self.node, what);
    }
    fn note(&mut self, _: Time, note: TraceNote) {
        self.common.log(self.node, EventKind::Note(note));
    }
    fn state(&mut self, _: Time, state: SendState) {
        self.common.log(self.node, EventKind::State(state));
    }
    fn route_installed(&mut self, _: Time, row: &InstalledRoute) {
        self.common.log(self.node, EventKind::Installed(row.route));
    }
    fn route_removed(&mut self, _: Time, destination: Prefix) {
        self.common.log(self.node, EventKind::Uninstalled(destination));
    }
}
