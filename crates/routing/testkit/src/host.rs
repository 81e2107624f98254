//! One node and its counters.

use wayhop_core::Protocol;
use wayhop_node::Node;

pub(crate) struct Host {
    pub(crate) node: Node<Box<dyn Protocol>>,
    /// Numbers this node's test packets (IP identification).
    pub(crate) next_ident: u16,
}

impl Host {
    pub(crate) fn new(node: Node<Box<dyn Protocol>>) -> Self {
        Self { node, next_ident: 1 }
    }
}
