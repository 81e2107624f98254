//! Known faults, added around the shipping engine's handlers.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Packet, Protocol as _, RxMeta, TimerKey, TxReport};
use wayhop_testkit::explore::{Faulty, Mistake};
use wayhop_wire::aodv::{Message, Unreachable};
use wayhop_wire::{ipv4, udp};

use super::bounds::SMALL;
use crate::engine::state::Engine;
use crate::routing_table::{RouteEntry, RouteState};

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

pub(super) fn faulty(engine: Engine, fault: Fault) -> Faulty<Engine, Fault> {
    Faulty { engine, mistake: fault }
}

impl Fault {
    /// After each handler but the one that an own packet begins with.
    fn tidy(self, engine: &mut Engine) {
        if self == Self::CountsBack {
            engine.seq = SMALL;
        }
        if self == Self::DeletesEarly {
            let gone = |e: &&RouteEntry| e.state == RouteState::Invalid && !e.search().is_on();
            let all: Vec<Ipv4Addr> = engine.table.iter().filter(gone).map(|e| e.destination).collect();
            for a in all {
                engine.table.remove(a);
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

impl Mistake<Engine> for Fault {
    fn outbound(&mut self, engine: &mut Engine, cx: &mut Cx<'_>, p: Packet) {
        engine.on_outbound(cx, p);
        if *self != Self::CountsBack {
            self.tidy(engine);
        }
    }
    fn frame(&mut self, engine: &mut Engine, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        let lost = lost(&p).unwrap_or_default();
        let mut before = Vec::new();
        for u in &lost {
            let Some(e) =
                engine.table.get_mut(u.destination).filter(|e| e.is_valid() && e.next_hop == rx.from)
            else {
                continue;
            };
            match self {
                // One less than what is told, so that it is news.
                Self::CopiesBlindly if e.seq.is_some() => e.seq = Some(u.seq.wrapping_sub(1)),
                Self::NeverUpdates => before.push((u.destination, e.seq)),
                _ => {}
            }
        }
        engine.on_frame(cx, p, rx);
        for (destination, seq) in before {
            if let Some(e) = engine.table.get_mut(destination) {
                e.seq = seq;
            }
        }
        self.tidy(engine);
    }
    fn tx_status(&mut self, engine: &mut Engine, cx: &mut Cx<'_>, report: TxReport) {
        engine.on_tx_status(cx, report);
        self.tidy(engine);
    }
    fn timer(&mut self, engine: &mut Engine, cx: &mut Cx<'_>, key: TimerKey) {
        engine.on_timer(cx, key);
        self.tidy(engine);
    }
}
