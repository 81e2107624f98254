//! Choosing a route by the state of links.

use std::net::Ipv4Addr;

use wayhop_core::{Cx, Span, Time};
use wayhop_link_quality::bad_links::{BadLinkMemory, DirectedLink, Evidence};
use wayhop_link_quality::etx::{Cost, Etx};

use crate::cache::path::Path;
use crate::cache::{Judge, MOST_PENALTY, Purpose};
use crate::engine::state::Engine;
use crate::engine::timers::Timer;
use crate::neighbours::pathrater::Ratings;

/// The links of a node, judged at one moment.
struct LinkJudgement<'a> {
    memory: Option<&'a dyn BadLinkMemory>,
    known: Evidence<'a>,
    etx: Option<&'a Etx>,
    ratings: Option<&'a Ratings>,
    /// Packets go there, whatever their final destination.
    destination: Ipv4Addr,
    last_resort: bool,
}

impl Judge for LinkJudgement<'_> {
    fn penalty(&self, from: Ipv4Addr, to: Ipv4Addr) -> Option<u16> {
        let rated = match self.ratings.filter(|_| to != self.destination).map(|r| r.penalty(to)) {
            None => 0,
            Some(Some(p)) => p,
            Some(None) if self.last_resort => MOST_PENALTY,
            Some(None) => return None,
        };
        let Some(memory) = self.memory.filter(|m| !m.is_empty()) else { return Some(rated) };
        let link = DirectedLink { from, to };
        match (memory.refuses(link, &self.known), self.last_resort) {
            (false, _) => Some(rated),
            (true, false) => None,
            (true, true) => {
                let doubt = memory.doubt(link, &self.known).clamp(0.0, 1.0);
                Some((doubt * f64::from(MOST_PENALTY)) as u16)
            }
        }
    }
    fn by_cost(&self) -> bool {
        self.etx.is_some()
    }
    fn measured(&self, neighbour: Ipv4Addr) -> Option<Cost> {
        self.etx?.cost(neighbour, self.known.now)
    }
}

impl Engine {
    /// The best usable route to a node, written to `out`; false when there is none.
    pub(crate) fn route_to(&mut self, cx: &Cx<'_>, to: Ipv4Addr, what_for: Purpose, out: &mut Path) -> bool {
        if self.judges_nothing() && self.links.etx.is_none() {
            return self.cache.find(to, what_for, cx.now(), out);
        }
        self.find_judged(cx, to, what_for, false, out)
            || what_for == Purpose::Send
                && self.is_last_resort(to, cx.now())
                && self.find_judged(cx, to, what_for, true, out)
    }

    /// Whether no link and no node is remembered as bad.
    fn judges_nothing(&self) -> bool {
        self.links.memory.is_none() && self.ratings.is_none()
    }

    fn find_judged(
        &mut self,
        cx: &Cx<'_>,
        to: Ipv4Addr,
        what_for: Purpose,
        last_resort: bool,
        out: &mut Path,
    ) -> bool {
        let links = &self.links;
        let judge = LinkJudgement {
            memory: links.memory.as_deref(),
            known: links.known(cx.now()),
            etx: links.etx.as_ref(),
            ratings: self.ratings.as_deref(),
            destination: to,
            last_resort,
        };
        self.cache.find_by(to, what_for, cx.now(), &judge, out)
    }

    /// Whether a discovery of this target may end: a Route Reply over links remembered as bad ends none.
    pub(crate) fn answers(&mut self, cx: &Cx<'_>, target: Ipv4Addr) -> bool {
        let mut route = Path::EMPTY;
        self.judges_nothing() || self.find_judged(cx, target, Purpose::Check, false, &mut route)
    }

    /// When routes over links remembered as bad are used after all: some time after a propagating request, if nothing
    /// better was found. `None` while that cannot be said.
    pub(crate) fn last_resort_at(&self, target: Ipv4Addr) -> Option<Time> {
        let wait = self.params.bad_link_last_resort_ms;
        if self.judges_nothing() || wait == 0 {
            return None;
        }
        let asked = self.requests.propagated_at(target)?;
        Some(asked + Span::from_millis(wait.into()))
    }

    fn is_last_resort(&self, target: Ipv4Addr, now: Time) -> bool {
        self.last_resort_at(target).is_some_and(|at| at <= now)
    }

    /// Sets the timer for the last resort, when a discovery has come to its propagating request.
    pub(crate) fn schedule_last_resort(&self, cx: &mut Cx<'_>, target: Ipv4Addr) {
        if let Some(at) = self.last_resort_at(target).filter(|at| *at > cx.now()) {
            cx.set_timer(Timer::LastResort(target).key(), at);
        }
    }
}
