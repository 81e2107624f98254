//! The network layer of one node, without I/O: the only one. The simulator holds many of them over a radio model, the
//! daemon one over a packet socket, the test kit and the loop search a few over scripted links.
//!
//! # What happens to a packet
//! * *From an application*: [`Node::originate`] looks it up in the forwarding table, or hands it to the protocol.
//! * *From the medium*: [`Node::receive`] gives it to the protocol whose socket it is for, delivers it, or forwards it.
//! * *On its way down*: after its delay ([`World::schedule_frame`], [`Node::frame_due`]) the next hop's link address is
//!   resolved, and the frame enters the queue of its interface. The medium takes it with [`Node::pull`] and says with
//!   [`Node::finished`] how its transmission ended.
//! * *Its end*: delivered ([`Above::deliver`]), dropped with a [`wayhop_core::DropReason`], or held.
//!
//! # Order
//! The effects of a handler are applied in order after it returned. What they provoke at this node - the status of a
//! packet that found no room, a recalled packet - comes after all of them, first come, first served. What the
//! applications above send in answer comes after that.
//!
//! # The world around it
//! A world implements [`World`]: memory and time, the record, and the two seams [`Below`] (the medium) and [`Above`]
//! (applications). A node calls nothing else.

mod arp;
mod authentic;
mod call;
mod choice;
mod config;
mod down;
mod engine;
mod forward;
mod gateway;
mod heard;
mod host;
mod interface;
mod ipv6;
mod ipv6_state;
mod neighbour;
mod neighbour_discovery;
mod neighbours;
mod node;
mod on_demand;
mod power;
mod queue;
mod rates;
mod resolver;
mod schedule;
mod sealing;
mod socket;
mod table;
mod workspace;
mod world;

pub use config::{IfaceConfig, Resolution};
pub use engine::Engine;
pub use node::{Edge, Node};
pub use on_demand::OnDemand;
pub use queue::InterfaceQueue;
pub use schedule::{Due, Schedule};
pub use table::{InstalledRoute, PrefixTable};
pub use wayhop_core::HopKind;
pub use workspace::Workspace;
pub use world::{Above, Below, Hop, HostTakes, InputContext, Stage, World};

#[cfg(test)]
mod tests;
