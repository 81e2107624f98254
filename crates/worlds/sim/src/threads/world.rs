//! What a node requires of the simulator, where another thread than the run's has it: most of that is done later.

use wayhop_core::{
    DropReason, Frame, HopKind, IfaceId, Packet, Prefix, SendState, Time, TimerKey, TraceNote,
};
use wayhop_node::{Above, Below, Hop, InstalledRoute, Stage, Workspace, World};
use wayhop_trace::{HopEvent, PacketClass};

use crate::classify::PacketFacts;

/// What a node asked for, for the run's own thread to do.
pub(super) enum Request {
    /// A row about the packet that the node received.
    Received(HopEvent),
    /// A copy of a packet, and what happened to it.
    Record(Time, Packet, Hop),
    Note(Time, TraceNote),
    State(Time, SendState),
    Timer(Time, u8, TimerKey),
    Frame(Time, Stage, Frame),
    Resolution(Time, IfaceId),
    /// A packet for the applications.
    Deliver(Time, Packet),
    /// A packet of the node's own host that found no route.
    Unreachable(Time, Packet, DropReason),
}

/// The surroundings of one receiver of a broadcast.
pub(super) struct TaskWorld<'a> {
    pub(super) work: &'a mut Workspace,
    pub(super) requests: &'a mut Vec<(u32, Request)>,
    pub(super) node: u32,
    /// The packet that is received, and what it is.
    pub(super) packet: &'a [u8],
    pub(super) facts: &'a PacketFacts,
    pub(super) class: PacketClass,
}

impl TaskWorld<'_> {
    fn request(&mut self, what: Request) {
        self.requests.push((self.node, what));
    }
}

impl Below for TaskWorld<'_> {
    fn ready(&mut self, _: Time, _: IfaceId) {
        // The radio looks into the queue after each event of its node.
    }
}

/// The hosts of a run with threads have no applications of their own, only flows.
impl Above for TaskWorld<'_> {
    fn listens(&mut self, _: Time, p: &Packet) -> bool {
        p.meta.flow.is_some()
    }
    fn deliver(&mut self, at: Time, p: Packet) {
        self.request(Request::Deliver(at, p));
    }
    fn unreachable(&mut self, at: Time, p: Packet, why: DropReason) {
        self.request(Request::Unreachable(at, p, why));
    }
}

impl World for TaskWorld<'_> {
    fn workspace(&mut self) -> &mut Workspace {
        self.work
    }

    fn schedule_timer(&mut self, at: Time, engine: u8, key: TimerKey) {
        self.request(Request::Timer(at, engine, key));
    }
    fn schedule_frame(&mut self, at: Time, stage: Stage, frame: Frame) {
        self.request(Request::Frame(at, stage, frame));
    }
    fn schedule_resolution(&mut self, at: Time, iface: IfaceId) {
        self.request(Request::Resolution(at, iface));
    }

    fn limited_class(&self, packet: &[u8]) -> Option<u8> {
        match self.class {
            PacketClass::Control(class) if packet == self.packet => class.limited(),
            _ => wayhop_protocols::classify(packet).0?.limited(),
        }
    }

    fn record(&mut self, at: Time, p: &Packet, hop: Hop) {
        if hop.kind != HopKind::Receive {
            let copy = self.work.pool.copy(p);
            return self.request(Request::Record(at, copy, hop));
        }
        self.request(Request::Received(self.facts.row(at, self.node, p, self.class, &hop)));
    }
    fn note(&mut self, at: Time, note: TraceNote) {
        self.request(Request::Note(at, note));
    }
    fn state(&mut self, at: Time, state: SendState) {
        self.request(Request::State(at, state));
    }
    // Only those who watch from outside hear of routes.
    fn route_installed(&mut self, _: Time, _: &InstalledRoute) {}
    fn route_removed(&mut self, _: Time, _: Prefix) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Most are rows; the others must not make them larger by much.
    #[test]
    fn a_request_is_hardly_larger_than_a_row() {
        assert!(size_of::<Request>() <= size_of::<HopEvent>() + 32, "{}", size_of::<Request>());
    }
}
