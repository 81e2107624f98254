//! A node's knowledge of links besides its routes.

use std::net::Ipv4Addr;

use wayhop_link_quality::etx::Cost;

/// The units of [`Judge::penalty`] in which the refused link costs most.
pub const MOST_PENALTY: u16 = 1_000;

/// An opinion about links, asked when a route is looked up.
pub trait Judge {
    /// What speaks against a link: `None` forbids it; 0 means nothing. Routes with the smallest sum are taken, and of those
    /// the best. At most [`MOST_PENALTY`].
    fn penalty(&self, from: Ipv4Addr, to: Ipv4Addr) -> Option<u16>;
    /// Whether routes are compared by the cost of their links; if not, by the number of their hops.
    fn by_cost(&self) -> bool {
        false
    }
    /// The cost of the link to a neighbour as this node measures it.
    fn measured(&self, neighbour: Ipv4Addr) -> Option<Cost> {
        let _ = neighbour;
        None
    }
}

/// Has nothing to say: routes are compared by their hops.
#[derive(Copy, Clone, Debug)]
pub struct Impartial;

impl Judge for Impartial {
    fn penalty(&self, _: Ipv4Addr, _: Ipv4Addr) -> Option<u16> {
        Some(0)
    }
}
