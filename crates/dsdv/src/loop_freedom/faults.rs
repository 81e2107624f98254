//! The shipping engine with a known mistake each, made by code around its handlers.

use std::hash::Hasher;
use std::net::Ipv4Addr;

use wayhop_core::{
    Cx, DataPlane, Inspect, Interests, Packet, Protocol, RouteUse, RxMeta, Time, TimerKey, TxReport,
};
use wayhop_testkit::explore::{Checked, Names};

use crate::state::Engine;

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

#[derive(Clone)]
pub(super) struct Faulty {
    engine: Engine,
    fault: Fault,
    first_number: u32,
}

impl Faulty {
    pub(super) fn new(engine: Engine, fault: Fault) -> Self {
        let first_number = engine.seq;
        Self { engine, fault, first_number }
    }

    /// After each handler.
    fn tidy(&mut self) {
        let lost: Vec<Ipv4Addr> =
            self.engine.table.iter().filter(|(_, e)| !e.is_valid()).map(|(a, _)| a).collect();
        for a in lost {
            match self.fault {
                Fault::ForgetsAtOnce => self.engine.table.remove(a),
                Fault::KeepsNumber => {
                    if let Some(e) = self.engine.table.get_mut(a) {
                        e.seq &= !1;
                    }
                }
                Fault::CountsBack => {}
            }
        }
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
        self.tidy();
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        self.engine.on_frame(cx, p, rx);
        self.tidy();
    }
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        self.engine.on_tx_status(cx, report);
        self.tidy();
    }
    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        if self.fault == Fault::CountsBack {
            self.engine.seq = self.first_number;
        }
        self.engine.on_timer(cx, key);
        if self.fault == Fault::CountsBack && self.engine.last_update.is_some_and(|at| at > Time::ZERO) {
            self.engine.seq = self.first_number;
        }
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
        match before.fault {
            // The loop that follows is what is looked for.
            Fault::KeepsNumber | Fault::ForgetsAtOnce => None,
            Fault::CountsBack => Engine::wrong_step(&before.engine, &after.engine),
        }
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
