//! A packet at a node: read, built, sent, forwarded (RFC 4728 section 8.1).

pub(crate) mod hop;
pub(crate) mod icmp;
mod location;
pub(crate) mod multicast;
mod output;
pub(crate) mod priority;
mod receive;
mod source_route;
pub(crate) mod tunnel;
pub(crate) mod view;
