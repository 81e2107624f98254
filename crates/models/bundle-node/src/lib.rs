//! A node of a delay-tolerant network without I/O: a bundle agent, its neighbours, the sessions with them, beacons, and what
//! each contact carried.
//!
//! [`wayhop_dtn`] has the agent and the protocols; this is what a host of it does in every world, simulated or real. The host
//! owns clock and sockets: it tells a [`Node`] what comes ([`Node::beacon`], [`Node::datagram`], [`Node::octets`],
//! [`Node::request`], [`Node::timer`], ...), calls [`Node::settle`] after as many of them as it likes, and does what
//! [`Node::act`] says.

mod account;
mod act;
mod neighbours;
mod node;
mod pace;
mod record;
mod settings;

pub use act::{Act, Connection, Layer};
pub use node::Node;
pub use record::{ContactRow, Line, Record, flow_of, flow_service};
pub use settings::{DtnRouting, Ports, RoutingPlan, Settings};
