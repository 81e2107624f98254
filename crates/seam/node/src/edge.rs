//! The edge of the mesh, as a node knows it.

use wayhop_core::{Outside, Route};

/// What a node of a mesh with gateways knows of the outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Which addresses are the mesh's, and what this node leads to.
    pub outside: Outside,
    /// The ways out, by interfaces that lead out. Without any, packets for the outside are delivered like the node's own: its host's
    /// network stack sends them on.
    pub routes: Vec<Route>,
}
