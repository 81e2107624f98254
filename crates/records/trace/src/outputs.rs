//! The outputs of a run, and their nodes.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

use wayhop_core::NodeId;

use crate::Selection;

/// What a run records besides its summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outputs {
    /// The Parquet tables.
    pub tables: bool,
    /// Which of them, and which of their rows.
    pub selection: Selection,
    /// With them, the table `receptions`.
    pub receptions: bool,
    /// With them, the tables `bundles` and `contacts`.
    pub bundles: bool,
    /// With them, the table `gps`.
    pub gps: bool,
    /// With them, the table `connections`.
    pub connections: bool,
    /// With them, the table `sizes`.
    pub sizes: bool,
    /// With them, the table `identities`.
    pub identities: bool,
    /// One capture per node, each frame cut to this many octets.
    pub captures: Option<u32>,
    /// The nodes that have a capture, if not all.
    pub capture_nodes: Option<Vec<NodeId>>,
    /// A trace in ns-2's old wireless format, in this file.
    pub ns2_trace: Option<PathBuf>,
    /// Whether a power cut may happen: then the disk has what was recorded a few seconds later.
    pub durable: bool,
}

impl Outputs {
    /// Octets of a frame that keep every routing header and the beginning of the data, and cost little.
    pub const DEFAULT_SNAPLEN: u32 = 200;

    /// Whether there is this table, if the run has rows for it.
    pub(crate) fn has(&self, table: &str) -> bool {
        self.tables && self.selection.has(table)
    }
}

impl Default for Outputs {
    fn default() -> Self {
        Self {
            tables: true,
            selection: Selection::default(),
            receptions: false,
            bundles: false,
            gps: false,
            connections: false,
            sizes: false,
            identities: false,
            captures: None,
            capture_nodes: None,
            ns2_trace: None,
            durable: false,
        }
    }
}

/// What outputs need to know of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeInfo {
    /// Its name in the scenario; names its capture file.
    pub name: String,
    /// Its IPv4 address.
    pub addr: Ipv4Addr,
    /// Its IPv6 address, if it has one.
    pub addr6: Option<Ipv6Addr>,
    /// Its interfaces, in their order.
    pub interfaces: Vec<InterfaceInfo>,
}

impl NodeInfo {
    /// A node with one radio, without IPv6.
    pub fn with_radio(name: String, addr: Ipv4Addr) -> Self {
        let radio = InterfaceInfo { name: "radio".to_owned(), kind: LinkKind::Ieee80211 };
        Self { name, addr, addr6: None, interfaces: vec![radio] }
    }
}

/// What outputs need to know of an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceInfo {
    /// Its name.
    pub name: String,
    /// What its frames are.
    pub kind: LinkKind,
}

/// What an interface's frames are.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// IEEE 802.11, in captures behind a radiotap header.
    Ieee80211,
    /// Ethernet.
    Ethernet,
}
