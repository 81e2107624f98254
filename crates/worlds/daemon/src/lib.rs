//! `wayhop node`: a routing protocol on one host and one real interface.
//!
//! The protocol is exactly the simulator's; only its host differs:
//! * `config`: [`Settings`], checked, with the protocol adapted to the interface (`adapt`).
//! * `node`: how packets, reports and the time reach the [`wayhop_node::Node`], and its effects. It
//!   does no I/O. Start reading there.
//! * `interfaces`, `kernel`, `gateway`, `ipv6`: the host's settings for the mesh.
//! * `position`, `record`, `control`: what is known, recorded and reported about the node.
//! * `run`: set up, the event loop over TUN, packet sockets, netlink, signals and timers, and the
//!   watch over the host's settings, which are restored when somebody changes them.
//! * `undo`: lists of the node's changes, and a second process that undoes them.
//! * [`wayhop_linux`]: the operating system.
//! * [`mobile_ip`]: `wayhop mobile-ip`, which undoes its changes in the same way.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

mod config;
mod control;
mod gateway;
mod interfaces;
mod ipv6;
mod kernel;
mod log;
pub mod mobile_ip;
mod node;
mod position;
mod record;
mod run;
mod undo;

pub use config::gateway::{EdgePlan, Gateway, ProbeTargets};
pub use config::ipv6::StaticRoute;
pub use config::macfilter::MacFilterConfig;
pub use config::monitor::Monitor;
pub use config::node_config::{Capture, NodeConfig};
pub use config::reference::reference_markdown;
pub use config::settings::{Overrides, Settings};
pub use log::Level;
pub use record::counters::Counters;
pub use run::lifetime::{NodeOutcome, run};
pub use undo::{ListError, UNDO_COMMAND, UndoList, left, restore, undo};
pub use wayhop_linux::Error;
