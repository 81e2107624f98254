//! What the MAC sends.

use wayhop_core::Frame;

/// A frame of a node on its way to the air.
#[derive(Debug)]
pub struct Outgoing {
    /// What the node sends.
    pub frame: Frame,
    /// The station of its receiver: an index, [`crate::EVERYONE`], or [`crate::NOBODY`] for an address that is not there.
    pub to: u32,
}
