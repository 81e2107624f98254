//! A node's routes, behind one trait (RFC 4728 section 4.1).

mod choice;
mod judge;
mod learning;
mod link_cache;
pub(crate) mod overheard;
pub(crate) mod path;
mod path_cache;
mod stored_path;

pub use judge::{Impartial, Judge, MOST_PENALTY};
pub use link_cache::{
    INIT_STABILITY, LinkCache, MIN_LIFETIME, STABILITY_DIVISOR, STABILITY_INCREASE, USE_EXTENDS,
};
pub use path_cache::PathCache;

use core::any::Any;
use std::net::Ipv4Addr;

use wayhop_core::{Inspect, Time};
use wayhop_link_quality::etx::Cost;

use crate::Path;

/// How a route became known; the more a node wanted it, the longer it should be kept.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// From a Route Reply to this node, or by answering a Route Request along it.
    Asked,
    /// From a packet that this node forwarded or overheard.
    Overheard,
}

/// What a route is looked up for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To send packets of this node by it: it shall be kept.
    Send,
    /// To salvage somebody else's packet.
    Salvage,
    /// To answer a Route Request: no hop may be External.
    Answer,
    /// To see whether there is one; it is not used.
    Check,
}

impl Clone for Box<dyn RouteCache> {
    fn clone(&self) -> Self {
        self.as_ref().boxed()
    }
}

/// A Route Cache. Every route in it begins at this node and visits no node twice.
pub trait RouteCache: Any + Send + Sync {
    /// A copy of it.
    fn boxed(&self) -> Box<dyn RouteCache>;
    /// Adds a route of at least two nodes, the first of which is this node. True when it taught the cache something.
    fn add(&mut self, route: &Path, how: Provenance, now: Time) -> bool;
    /// The best route to `to`, written to `out`. False when there is none.
    fn find(&mut self, to: Ipv4Addr, what_for: Purpose, now: Time, out: &mut Path) -> bool {
        self.find_by(to, what_for, now, &Impartial, out)
    }
    /// The best route to `to` over links that `judge` allows, written to `out`. False when there is none.
    fn find_by(
        &mut self,
        to: Ipv4Addr,
        what_for: Purpose,
        now: Time,
        judge: &dyn Judge,
        out: &mut Path,
    ) -> bool;
    /// Forgets the link, and what was known beyond it. True when it was known.
    fn remove_link(&mut self, from: Ipv4Addr, to: Ipv4Addr) -> bool;
    /// Forgets all that leads to this node, or (`None`) everything.
    fn purge(&mut self, to: Option<Ipv4Addr>);
    /// Notes what somebody says that a known link costs. A cache that compares hops does not care.
    fn set_cost(&mut self, from: Ipv4Addr, to: Ipv4Addr, cost: Cost) {
        let _ = (from, to, cost);
    }
    /// What [`RouteCache::set_cost`] noted.
    fn cost(&self, from: Ipv4Addr, to: Ipv4Addr) -> Option<Cost> {
        let _ = (from, to);
        None
    }
    /// Shows its rows in the table `route_cache` (whole paths) or `link_cache`.
    fn inspect(&self, now: Time, out: &mut dyn Inspect);
}
