//! The shipping engine with a known mistake each, made by code around its handlers.

use std::hash::Hasher;
use std::net::Ipv4Addr;

use wayhop_core::{
    Addr, Cx, DataPlane, DropReason, Inspect, Interests, Packet, Protocol, RxMeta, Span, Time, TimerKey,
    TxReport,
};
use wayhop_testkit::explore::{Checked, Names};

use crate::cache::Purpose;
use crate::path::Path;
use crate::state::Engine;
use crate::view::View;

/// What is checked: the engine, or something around it.
pub(super) trait Dsr: Checked {
    fn engine(&self) -> &Engine;
}

impl Dsr for Engine {
    fn engine(&self) -> &Engine {
        self
    }
}

/// What is done wrong.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A Route Request that lists this node already is sent on once more, with it listed again.
    IgnoresItselfInRequests,
    /// A Route Request that was seen before is sent on again.
    IgnoresSeenRequests,
    /// A packet that is salvaged does not count it.
    SalvagesWithoutCount,
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

    fn salvage_without_count(&mut self, cx: &mut Cx<'_>, p: Packet, next_hop: Ipv4Addr) {
        self.engine.cache.remove_link(cx.addr(), next_hop);
        let to = View::new(p.bytes()).map_or(Ipv4Addr::UNSPECIFIED, |v| v.ip.dst());
        let mut route = Path::EMPTY;
        if self.engine.route_to(cx, to, Purpose::Salvage, &mut route) {
            self.engine.send_by(cx, p, &route, 0, Span::ZERO);
        } else {
            cx.drop(p, DropReason::NoSalvage);
        }
    }

    /// Whether a request that should end here is sent on.
    fn sends_on(&self, me: Ipv4Addr, p: &Packet) -> bool {
        let Ok(v) = View::new(p.bytes()) else { return false };
        let Some(r) = v.request.filter(|r| r.target != me && v.ip.src() != me) else { return false };
        let listed = r.addresses.contains(me);
        match self.fault {
            Fault::IgnoresItselfInRequests => listed,
            Fault::IgnoresSeenRequests => !listed && self.engine.requests.seen(v.ip.src(), r.id, r.target),
            Fault::SalvagesWithoutCount => false,
        }
    }
}

impl Dsr for Faulty {
    fn engine(&self) -> &Engine {
        &self.engine
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
    }
    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        if self.sends_on(cx.addr(), &p) {
            return self.engine.propagate(cx, p);
        }
        self.engine.on_frame(cx, p, rx);
    }
    fn on_overheard(&mut self, cx: &mut Cx<'_>, p: &[u8], next_hop: Addr, rx: &RxMeta) {
        self.engine.on_overheard(cx, p, next_hop, rx);
    }
    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        let is_data =
            |p: &Packet| View::new(p.bytes()).is_ok_and(|v| !v.is_control() && v.ip.src() != cx.addr());
        match report {
            TxReport { packet: Some(p), next_hop, .. }
                if self.fault == Fault::SalvagesWithoutCount && is_data(&p) =>
            {
                self.salvage_without_count(cx, p, next_hop.v4_or_unspecified());
            }
            report => self.engine.on_tx_status(cx, report),
        }
    }
    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        self.engine.on_timer(cx, key);
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
    fn name(bytes: &[u8]) -> Option<u64> {
        Engine::name(bytes)
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
