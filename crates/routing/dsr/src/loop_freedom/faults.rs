//! Known faults, added around the shipping engine's handlers.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, DropReason, Packet, Protocol as _, RxMeta, Span, TxReport};
use wayhop_testkit::explore::{Explorable, Faulty, Mistake};

use crate::cache::Purpose;
use crate::cache::path::Path;
use crate::engine::state::Engine;
use crate::forwarding::view::View;

/// What is checked: the engine, or something around it.
pub(super) trait Dsr: Explorable {
    fn engine(&self) -> &Engine;
}

impl Dsr for Engine {
    fn engine(&self) -> &Engine {
        self
    }
}

impl Dsr for Faulty<Engine, Fault> {
    fn engine(&self) -> &Engine {
        &self.engine
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

pub(super) fn faulty(engine: Engine, fault: Fault) -> Faulty<Engine, Fault> {
    Faulty { engine, mistake: fault }
}

impl Fault {
    /// Whether a request that should end here is sent on.
    fn sends_on(self, engine: &Engine, me: Ipv4Addr, p: &Packet) -> bool {
        let Ok(v) = View::new(p.bytes()) else { return false };
        let Some(r) = v.request.filter(|r| r.target != me && v.ip.src() != me) else { return false };
        let listed = r.addresses.contains(me);
        match self {
            Self::IgnoresItselfInRequests => listed,
            Self::IgnoresSeenRequests => !listed && engine.requests.seen(v.ip.src(), r.id, r.target),
            Self::SalvagesWithoutCount => false,
        }
    }
}

fn salvage_without_count(engine: &mut Engine, cx: &mut Cx<'_>, p: Packet, next_hop: Ipv4Addr) {
    engine.cache.remove_link(cx.addr(), next_hop);
    let to = View::new(p.bytes()).map_or(Ipv4Addr::UNSPECIFIED, |v| v.ip.dst());
    let mut route = Path::EMPTY;
    if engine.route_to(cx, to, Purpose::Salvage, &mut route) {
        engine.send_by(cx, p, &route, 0, Span::ZERO);
    } else {
        cx.drop(p, DropReason::NoOtherRoute);
    }
}

impl Mistake<Engine> for Fault {
    fn frame(&mut self, engine: &mut Engine, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        if self.sends_on(engine, cx.addr(), &p) {
            return engine.propagate(cx, p);
        }
        engine.on_frame(cx, p, rx);
    }
    fn tx_status(&mut self, engine: &mut Engine, cx: &mut Cx<'_>, report: TxReport) {
        let is_data =
            |p: &Packet| View::new(p.bytes()).is_ok_and(|v| !v.is_control() && v.ip.src() != cx.addr());
        match report {
            TxReport { packet: Some(p), next_hop, .. }
                if *self == Self::SalvagesWithoutCount && is_data(&p) =>
            {
                let next_hop = next_hop.v4().expect("the explored nodes have IPv4 addresses");
                salvage_without_count(engine, cx, p, next_hop);
            }
            report => engine.on_tx_status(cx, report),
        }
    }
}
