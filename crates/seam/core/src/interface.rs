//! The network interfaces of a node.

use core::fmt;

use serde::{Deserialize, Serialize};

/// One network interface of a node, counted from 0 in the order of the node's configuration.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IfaceId(pub u8);

impl IfaceId {
    /// Leaves the choice to the node: for a unicast, an interface on which the neighbour is heard (a wire before a radio,
    /// then the one on which it was heard last); for a broadcast, every interface.
    pub const ANY: Self = Self(u8::MAX);

    /// The interface's index into a table of the node's interfaces.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for IfaceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ANY { f.write_str("any") } else { self.0.fmt(f) }
    }
}

/// What a node's interfaces report. With several, `queued` is the sum over all of them.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interface {
    /// Packets that wait in the interface queues, in all classes; the ones being sent are not counted.
    pub queued: u32,
    /// Whether the link layer acknowledges unicasts, so that [`crate::TxStatus`] reports losses.
    /// With several interfaces: whether the one does that carries frames for neighbours not yet
    /// heard. The neighbours for whom the opposite holds come with [`crate::Cx::with_exceptions`].
    pub acknowledges: bool,
}

/// A change of an interface while the node runs.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LinkChange {
    /// It carries packets again.
    Up,
    /// It carries none: everything sent by it is lost.
    Down,
    /// Its link address, its MTU or what it reports changed.
    Changed,
}
