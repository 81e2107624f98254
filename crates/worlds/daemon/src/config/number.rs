//! Numbers for things that a host has one of.

/// The number of the only node.
pub(crate) const NODE: u32 = 0;
