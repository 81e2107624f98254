//! One node with its transmitter.

use wayhop_core::{Frame, Protocol};
use wayhop_node::Node;

pub(crate) struct Host {
    pub(crate) node: Node<Box<dyn Protocol>>,
    /// Grows with every stop: the end of an earlier life's transmission is stale.
    pub(crate) life: u32,
    pub(crate) on_air: Option<Frame>,
    /// Numbers this node's test packets (IP identification).
    pub(crate) next_ident: u16,
}

impl Host {
    pub(crate) fn new(node: Node<Box<dyn Protocol>>) -> Self {
        Self { node, life: 0, on_air: None, next_ident: 1 }
    }
}
