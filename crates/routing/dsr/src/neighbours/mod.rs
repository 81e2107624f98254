//! What a node knows of its neighbours and of links: whether they work, what they cost, and whether next hops pass packets on.

mod etx;
pub(crate) mod links;
pub(crate) mod pathrater;
pub(crate) mod table;
pub(crate) mod watchdog;
mod watching;
