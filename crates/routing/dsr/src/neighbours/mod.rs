//! A node's knowledge of its neighbours and links: whether they work, their cost, and whether next
//! hops forward packets.

mod etx;
pub(crate) mod links;
pub(crate) mod pathrater;
pub(crate) mod table;
pub(crate) mod watchdog;
mod watching;
