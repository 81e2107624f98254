//! Names of the nodes.

use std::net::Ipv4Addr;

use crate::packets::addr;

/// The names of this many nodes: A, B, C, ...
#[derive(Copy, Clone, Debug)]
pub struct Names(pub usize);

impl Names {
    /// A node's name.
    pub fn node(self, i: usize) -> char {
        char::from(b'A' + i as u8)
    }
    /// The name of the node with this address; the address itself if nobody has it.
    pub fn of(self, a: Ipv4Addr) -> String {
        (0..self.0).find(|&i| addr(i) == a).map_or_else(|| a.to_string(), |i| self.node(i).to_string())
    }
    /// A way, `A -> B -> C`.
    pub fn way(self, nodes: &[usize]) -> String {
        let names: Vec<String> = nodes.iter().map(|&i| self.node(i).to_string()).collect();
        names.join(" -> ")
    }
}
