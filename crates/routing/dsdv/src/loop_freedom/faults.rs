//! Known faults, added around the shipping engine's handlers.

use std::net::Ipv4Addr;

use wayhop_core::Protocol as _;
use wayhop_core::{Cx, Packet, RxMeta, Time, TimerKey, TxReport};
use wayhop_testkit::explore::{Explorable, Faulty, Mistake};

use crate::engine::state::Engine;

/// What is done wrong.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A node that loses a link keeps the numbers of the routes over it, and tells nobody.
    KeepsNumber,
    /// A lost destination is forgotten at once, and its number with it.
    ForgetsAtOnce,
    /// An own number falls back to where it was.
    CountsBack,
}

/// A fault at a node that began with this number.
#[derive(Copy, Clone, Debug)]
pub(super) struct AtNode {
    fault: Fault,
    first_number: u32,
}

pub(super) fn faulty(engine: Engine, fault: Fault) -> Faulty<Engine, AtNode> {
    let first_number = engine.seq;
    Faulty { engine, mistake: AtNode { fault, first_number } }
}

impl AtNode {
    /// After each handler.
    fn tidy(self, engine: &mut Engine) {
        let lost: Vec<Ipv4Addr> =
            engine.table.iter().filter(|(_, e)| !e.is_valid()).map(|(a, _)| a).collect();
        for a in lost {
            match self.fault {
                Fault::ForgetsAtOnce => engine.table.remove(a),
                Fault::KeepsNumber => {
                    if let Some(e) = engine.table.get_mut(a) {
                        e.seq &= !1;
                    }
                }
                Fault::CountsBack => {}
            }
        }
    }
}

impl Mistake<Engine> for AtNode {
    fn outbound(&mut self, engine: &mut Engine, cx: &mut Cx<'_>, p: Packet) {
        engine.on_outbound(cx, p);
        self.tidy(engine);
    }
    fn frame(&mut self, engine: &mut Engine, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        engine.on_frame(cx, p, rx);
        self.tidy(engine);
    }
    fn tx_status(&mut self, engine: &mut Engine, cx: &mut Cx<'_>, report: TxReport) {
        engine.on_tx_status(cx, report);
        self.tidy(engine);
    }
    fn timer(&mut self, engine: &mut Engine, cx: &mut Cx<'_>, key: TimerKey) {
        if self.fault == Fault::CountsBack {
            engine.seq = self.first_number;
        }
        engine.on_timer(cx, key);
        if self.fault == Fault::CountsBack && engine.last_update.is_some_and(|at| at > Time::ZERO) {
            engine.seq = self.first_number;
        }
        self.tidy(engine);
    }
    fn wrong_step(&self, before: &Engine, after: &Engine) -> Option<&'static str> {
        match self.fault {
            // The loop that follows is what is looked for.
            Fault::KeepsNumber | Fault::ForgetsAtOnce => None,
            Fault::CountsBack => Engine::wrong_step(before, after),
        }
    }
}
