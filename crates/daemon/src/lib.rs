//! `wayhop node`: a routing protocol on one host and one real interface.
//!
//! The protocol is the simulator's, octet for octet; what is different is its host:
//! * [`Settings`]: the configuration, checked, with the protocol made fit for the interface (`adapt`).
//! * `host`: what happens to a packet between TUN and interface. It does no I/O. Start reading there.
//! * `run`: the event loop over TUN, packet sockets, netlink, signals and timers.
//! * `link`, `tun`, `netlink`, `sys`: the operating system.
//! * [`forwarding`]: what forwarding costs, measured beside the kernel's own.
//! * `undo`: a process that survives this one, and sets back what the host was set to.
//! * `privileges`: what is given up before the first frame is read.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

mod capture;
mod config;
mod control;
mod counters;
mod error;
mod events;
mod exchange;
mod fate;
mod filter;
pub mod forwarding;
mod gate;
mod host;
pub mod lab;
mod link;
mod log;
mod monitor;
mod neighbours;
mod netlink;
mod outbox;
mod prefix;
mod privileges;
mod reference;
mod reload;
mod remade;
mod ring;
mod rules;
mod run;
mod run_dir;
mod setup;
mod station;
mod sys;
mod system;
mod timers;
mod timing;
mod tun;
mod undo;
pub mod wifi;

pub use config::{Capture, NodeConfig, Overrides, Settings};
pub use counters::Counters;
pub use error::Error;
pub use log::Level;
pub use monitor::Monitor;
pub use reference::reference_markdown;
pub use run::{Outcome, run};
pub use undo::{UNDO_COMMAND, undo};
