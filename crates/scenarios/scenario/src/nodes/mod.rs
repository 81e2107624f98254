//! The nodes: how many, where, by what name and address, and how a scenario refers to them.

pub(crate) mod ipv6;
mod references;
mod resolve;
mod schema;

pub use references::{NodeRef, Place};
pub(crate) use resolve::Placement;
pub use schema::{Area, Node, Nodes, NodesIpv6};
