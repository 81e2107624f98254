//! The numbers of what this host has one of.

use wayhop_core::IfaceId;

/// The number of the only node.
pub(crate) const NODE: u32 = 0;

/// The only interface of the node.
pub(crate) const IFACE: IfaceId = IfaceId(0);
