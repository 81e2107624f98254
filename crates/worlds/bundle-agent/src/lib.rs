//! `wayhop bundle agent`: a bundle agent on a real host, and what its programs speak with it.
//!
//! * [`AgentConfig`]: its configuration. [`run`]: the agent itself: sockets of the convergence layers, beacons, contacts that the
//!   mesh tells of, a store on disk ([`DiskStore`]).
//! * [`Frames`], [`messages`]: what goes over the socket for programs. [`Client`]: a program's end of it.
//! * [mod@file]: files in bundles, with name and digest.
//!
//! What it does with bundles is in `wayhop_dtn`, and how it meets neighbours in `wayhop_bundle_node`: the same code as in
//! simulation.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

mod beacons;
mod client;
mod clock;
mod config;
mod disk;
mod error;
mod event;
pub mod file;
mod frames;
mod mesh;
pub mod messages;
mod programs;
mod record;
mod run;
mod socket;
mod tcp;
mod traffic;
mod udp;
mod waiting;

pub use client::{Client, ClientError, Delivery};
pub use config::{AgentConfig, AgentPlan, Peer, Users, reference_markdown};
pub use disk::DiskStore;
pub use error::Error;
pub use frames::{Frame, FrameError, Frames};
pub use run::run;
pub use socket::{DEFAULT_SOCKET, SocketName};
pub use traffic::Source;
