//! The media of the nodes' interfaces.

use wayhop_core::{IfaceId, NodeContext};
use wayhop_scenario::{Attachment, Resolved};

/// The nodes' interfaces.
pub(crate) struct Ports {
    /// By node, in the order of its interfaces; `None` where every node has the first radio and nothing else.
    by_node: Option<Vec<Vec<Attachment>>>,
    /// How many radios there are: media are numbered radios first, then wires.
    radios: u16,
    /// How many nodes there are, and the length of the prefix of their addresses.
    nodes: u32,
    prefix_len: u8,
}

/// The one interface of a node with one radio.
const FIRST_RADIO: &[Attachment] = &[Attachment::Radio(0)];

impl Ports {
    pub(crate) fn new(scenario: &Resolved) -> Self {
        let (interfaces, nodes) = (&scenario.interfaces, scenario.tracks.len());
        Self {
            by_node: (!interfaces.is_single()).then(|| interfaces.by_node(nodes)),
            radios: interfaces.radios.len() as u16,
            nodes: nodes as u32,
            prefix_len: scenario.prefix_len().unwrap_or(NodeContext::default().prefix_len),
        }
    }

    /// Where a node's engine is, in a run of this seed.
    pub(crate) fn context(&self, node: u32, seed: u64) -> NodeContext {
        let interfaces = self.of(node).len().max(1) as u8;
        NodeContext { seed, nodes: self.nodes, node, interfaces, prefix_len: self.prefix_len }
    }

    /// Whether every node has the first radio and nothing else.
    #[inline]
    pub(crate) fn is_single(&self) -> bool {
        self.by_node.is_none()
    }

    /// What a node's interfaces are at, in their order.
    pub(crate) fn of(&self, node: u32) -> &[Attachment] {
        self.by_node.as_ref().map_or(FIRST_RADIO, |all| &all[node as usize])
    }

    /// A node's interface at a medium, if it has one.
    #[inline]
    pub(crate) fn iface(&self, node: u32, at: Attachment) -> Option<IfaceId> {
        match &self.by_node {
            None => Some(IfaceId(0)),
            Some(all) => all[node as usize].iter().position(|a| *a == at).map(|i| IfaceId(i as u8)),
        }
    }

    /// The medium's number, which link addresses bear.
    pub(crate) fn segment(&self, at: Attachment) -> u16 {
        match at {
            Attachment::Radio(k) => u16::from(k),
            Attachment::Wire(k) => self.radios + k,
        }
    }
}
