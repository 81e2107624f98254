//! The numbers of what this host has one of.

/// The number of the only node.
pub(crate) const NODE: u32 = 0;
