//! What a node requires of the simulator around it.

use std::net::Ipv6Addr;

use wayhop_core::{
    DropReason, Effect, Frame, IfaceId, Input, Mac, NodeId, Packet, Prefix, RxMeta, SendState, Time,
    TimerKey, TraceNote,
};
use wayhop_node::{
    Above, Below, Hop, HopKind, HostTakes, InputContext, InstalledRoute, Stage, Workspace, World,
};
use wayhop_trace::{NoteEvent, SendEvent};

use crate::common::Common;
use crate::event::Event;
use crate::external::Exit;
use crate::watchers::Happening;

/// The surroundings of one node.
pub(crate) struct SimulationWorld<'a> {
    pub(crate) common: &'a mut Common,
    pub(crate) node: u32,
}

impl Below for SimulationWorld<'_> {
    fn link_address(&self, iface: IfaceId, neighbour: Ipv6Addr) -> Option<Mac> {
        let station = self.common.stations.get(neighbour.into())?;
        let at = *self.common.ports.of(self.node).get(iface.index())?;
        Some(self.common.mac_of(station, self.common.ports.segment(at)))
    }
    fn ready(&mut self, _: Time, _: IfaceId) {
        // The radio looks into the queue after each event of its node.
    }
}

impl Above for SimulationWorld<'_> {
    fn host_takes(&mut self, at: Time, p: &Packet, rx: &RxMeta) -> HostTakes {
        self.common.host_takes(at, self.node, p, rx)
    }
    fn listens(&mut self, at: Time, p: &Packet) -> bool {
        p.meta.flow.is_some()
            || self.common.stream_notice(at, self.node, p.bytes())
            || self.common.external.is_some()
            || self.common.application_listens(self.node, p.bytes())
            || self.common.is_of_stream(p)
            || self.common.network_listens(self.node, p.bytes())
    }
    fn deliver(&mut self, at: Time, p: Packet) {
        self.common.deliver(at, self.node, p);
    }
    fn unreachable(&mut self, at: Time, p: Packet, why: DropReason) {
        self.common.stream_refused(at, self.node, &p);
        self.common.leave(at, self.node, p, Exit::Refuse(why));
    }
}

impl World for SimulationWorld<'_> {
    fn workspace(&mut self) -> &mut Workspace {
        &mut self.common.work
    }

    fn schedule_timer(&mut self, at: Time, engine: u8, key: TimerKey) {
        self.common.queue.push(at, self.node, Event::Timer(engine, key));
    }
    fn schedule_frame(&mut self, at: Time, stage: Stage, frame: Frame) {
        let handle = self.common.tx_pending.put(frame);
        self.common.queue.push(at, self.node, Event::Down(stage, handle));
    }
    fn schedule_resolution(&mut self, at: Time, iface: IfaceId) {
        self.common.queue.push(at, self.node, Event::Resolution(iface));
    }

    fn accounts_for(&self, p: &Packet) -> bool {
        p.meta.flow.is_some_and(|tag| self.common.flows.is_own(tag.flow))
    }

    fn limited_class(&self, packet: &[u8]) -> Option<u8> {
        self.common.read.class(packet)?.limited()
    }

    fn record(&mut self, at: Time, p: &Packet, hop: Hop) {
        let (common, node) = (&mut *self.common, self.node);
        if hop.kind == HopKind::Receive {
            let facts = common.arrived;
            return common.record_facts(at, node, p, &facts, hop.kind, &hop);
        }
        let facts = common.facts(p);
        if matches!(hop.kind, HopKind::Send | HopKind::Forward) {
            common.ledger.queued(facts.control, p.bytes());
        }
        common.record_facts(at, node, p, &facts, hop.kind, &hop);
        if let Some(why) = hop.reason {
            common
                .happened(at, node, || Happening::Drop(why, facts.source, facts.destination, p.len() as u32));
            let own = p.meta.flow.is_some_and(|tag| common.flows.is_own(tag.flow));
            if let Some(external) = common.external.as_mut().filter(|_| !own && facts.control.is_none()) {
                external.programs.dropped[why as usize] += 1;
            }
            if let Some(tag) = p.meta.flow {
                common.dropped(tag, why);
            }
        }
    }
    fn note(&mut self, at: Time, note: TraceNote) {
        self.common.happened(at, self.node, || Happening::Note(note));
        self.common.note(NoteEvent { time: at, node: NodeId(self.node), note });
    }
    fn state(&mut self, at: Time, state: SendState) {
        self.common.sent(SendEvent { time: at, node: NodeId(self.node), state });
    }
    fn logs_inputs(&self) -> bool {
        self.common.inputs.as_ref().is_some_and(|logs| logs.wants(self.node))
    }
    fn log_input(&mut self, at: Time, engine: u8, seen: &InputContext<'_>, input: &Input<'_>) {
        if let Some(logs) = &mut self.common.inputs {
            logs.input(at, self.node, engine, seen, input);
        }
    }
    fn log_effects(&mut self, effects: &[Effect]) {
        if let Some(logs) = &mut self.common.inputs {
            logs.effects(effects);
        }
    }
    fn route_installed(&mut self, at: Time, row: &InstalledRoute) {
        let r = row.route;
        self.common.happened(at, self.node, || Happening::Route(r.destination, Some((r.next_hop, r.metric))));
    }
    fn route_removed(&mut self, at: Time, destination: Prefix) {
        self.common.happened(at, self.node, || Happening::Route(destination, None));
    }
}
