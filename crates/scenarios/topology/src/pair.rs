//! The pairs of nodes between which paths are looked for.

use wayhop_core::Time;

/// Two nodes between which paths are looked for, and when.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// From this node.
    pub src: u32,
    /// To this one.
    pub dst: u32,
    /// When the flow begins.
    pub from: Time,
    /// When it ends.
    pub until: Time,
}
