//! The shipping engine with a known mistake each, made by code around its handlers.

use std::hash::Hasher;
use std::net::Ipv4Addr;

use wayhop_core::{
    Cx, DataPlane, Inspect, Interests, Packet, Protocol, RouteUse, RxMeta, Time, TimerKey, TxReport,
};
use wayhop_testkit::explore::{Checked, Names};
use wayhop_wire::aodv::{Message, Unreachable};
use wayhop_wire::{ipv4, udp};

use super::bounds::SMALL;
use crate::state::Engine;
use crate::table::State;

/// What is done wrong.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A Route Error from the next hop counts whatever its number, and its number replaces the route's, also a lower one.
    CopiesBlindly,
    /// A Route Error invalidates the route, whose number stays.
    NeverUpdates,
    /// Invalid entries are deleted at once, and their numbers with them.
    DeletesEarly,
    /// An own number that a request raised is back where it was before the next one.
    CountsBack,
}

#[derive(Clone)]
pub(super) struct Faulty {
    engine: Engine,
    fault: Fault,
}

impl Faulty {
    pub(super) fn new(engine: Engine, fault: Fault) -> Self {
        Self { engine, fault }
    }

    /// After each handler but the one that an own packet begins with.
    fn tidy(&mut self) {
        if self.fault == Fault::CountsBack {
            self.engine.seq = SMALL;
        }
        if self.fault == Fault::DeletesEarly {
            let gone = |e: &&crate::table::Entry| e.state == State::Invalid && !e.search.is_on();
            let all: Vec<Ipv4Addr> = self.engine.table.iter().filter(gone).map(|e| e.destination).collect();
            for a in all {
                self.engine.table.remove(a);
            }
        }
    }
}

/// The destinations of a Route Error.
fn lost(p: &Packet) -> Option<Vec<Unreachable>> {
    let datagram = udp::Packet::new_checked(ipv4::Packet::new_checked(p.bytes()).ok()?.payload()).ok()?;
    match Message::parse(datagram.payload()) {
        Ok(Message::Rerr(m)) => Some(m.unreachable.iter().collect()),
        _ => None,
    }
}

impl Protocol for Faulty {
    fn data_plane(&self) -> DataPlane {
        self.engine.data_plane()
    }
    fn interests(&self) -> Interests {
        self.engine.interests()
    }
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.engine.start(cx);
    }
    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        self.engine.on_outbound(cx, p);
        if self.fault != Fault::CountsBack {
            self.tidy();
        }
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        let lost = lost(&p).unwrap_or_default();
        let mut before = Vec::new();
        for u in &lost {
            let Some(e) =
                self.engine.table.get_mut(u.destination).filter(|e| e.is_valid() && e.next_hop == rx.from)
            else {
                continue;
            };
            match self.fault {
                // One less than what is told, so that it is news.
                Fault::CopiesBlindly if e.seq.is_some() => e.seq = Some(u.seq.wrapping_sub(1)),
                Fault::NeverUpdates => before.push((u.destination, e.seq)),
                _ => {}
            }
        }
        self.engine.on_frame(cx, p, rx);
        for (destination, seq) in before {
            if let Some(e) = self.engine.table.get_mut(destination) {
                e.seq = seq;
            }
        }
        self.tidy();
    }
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        self.engine.on_tx_status(cx, report);
        self.tidy();
    }
    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        self.engine.on_timer(cx, key);
        self.tidy();
    }
    fn on_route_used(&mut self, cx: &mut Cx<'_>, used: &RouteUse) {
        self.engine.on_route_used(cx, used);
    }
    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        self.engine.inspect(now, out);
    }
}

impl Checked for Faulty {
    const HEARS_SUCCESS: bool = Engine::HEARS_SUCCESS;
    fn digest(&self, to: &mut dyn Hasher) {
        self.engine.digest(to);
    }
    fn digest_packet(bytes: &[u8], to: &mut dyn Hasher) {
        Engine::digest_packet(bytes, to);
    }
    fn wrong_step(before: &Self, after: &Self) -> Option<&'static str> {
        Engine::wrong_step(&before.engine, &after.engine)
    }
    fn knowledge(&self, names: Names) -> Vec<(Ipv4Addr, String)> {
        self.engine.knowledge(names)
    }
    fn describe(bytes: &[u8], names: Names) -> String {
        Engine::describe(bytes, names)
    }
    fn timer(key: TimerKey, names: Names) -> String {
        Engine::timer(key, names)
    }
}
