//! `wayhop bundle agent`: a bundle agent on a real host, and its protocol for programs.
//!
//! * [`AgentConfig`]: its configuration; [`AgentPlan::open`]: the agent, an application for `wayhop_application_host`, over its store on
//!   disk ([`DiskStore`]).
//! * [`messages`]: the protocol of the socket for programs. [`Client`]: a program's end of it.
//! * [mod@file]: files in bundles, with name and digest.
//!
//! Bundles and neighbours are handled in `wayhop_dtn`: the same code as in simulation.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

mod client;
mod config;
mod disk;
mod error;
pub mod file;
mod open;
mod traffic;

pub use client::{Client, ClientError, Delivery};
pub use config::{AgentConfig, AgentPlan, DEFAULT_SOCKET, Peer, Users, reference_markdown};
pub use disk::DiskStore;
pub use error::Error;
pub use traffic::Source;
pub use wayhop_dtn::node::messages;
