//! What the node knows of routes, behind one trait (RFC 4728 section 4.1).

mod path_cache;

pub use path_cache::PathCache;

use wayhop_core::{Addr, Inspect, Time};

use crate::Path;

/// How a route became known; the more a node wanted it, the longer it should be kept.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Learned {
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
}

/// A Route Cache. Every route in it begins at this node and visits no node twice.
pub trait RouteCache: Send {
    /// Adds a route of at least two nodes, the first of which is this node. True when it taught the cache something.
    fn add(&mut self, route: &Path, how: Learned, now: Time) -> bool;
    /// The best route to `to`, written to `out`. False when there is none.
    fn find(&mut self, to: Addr, what_for: Purpose, now: Time, out: &mut Path) -> bool;
    /// Forgets the link, and what was known beyond it. True when it was known.
    fn remove_link(&mut self, from: Addr, to: Addr) -> bool;
    /// Shows its rows in the table `route_cache`.
    fn inspect(&self, now: Time, out: &mut dyn Inspect);
}
