//! `wayhop node`: a routing protocol on one host and one real interface.
//!
//! The protocol is the simulator's, octet for octet; what is different is its host:
//! * [`Settings`]: the configuration, checked, with the protocol made fit for the interface (`adapt`).
//! * [`wayhop_node::Node`]: what happens to a packet between TUN and interface, as in every world.
//! * `host`: how packets, reports and the time reach the node; `world`: what the node asks for. They do no I/O. Start
//!   reading there.
//! * `run`: the event loop over TUN, packet sockets, netlink, signals and timers.
//! * [`wayhop_linux`]: the operating system.
//! * `watch`: what the node stands on, set back when somebody changes it. `interfaces`: interfaces that change.
//! * [`mobile_ip`]: `wayhop mobile-ip`, which shares with the node how a host is set back.
//! * `undo`: what the node changes is written down, and a process that survives this one sets it back.
//! * `privileges`: what is given up before the first frame is read.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

mod attached;
mod capture;
mod captures;
mod config;
mod connections;
mod control;
mod counters;
mod events;
mod fix_time;
mod gateway;
mod gateway_config;
mod host;
mod inputs;
mod interface_name;
mod interface_settings;
mod interfaces;
mod ipv6;
mod ipv6_config;
mod kernel_routes;
mod keyless;
mod links;
mod log;
mod macfilter;
mod macfilter_config;
mod mesh6;
pub mod mobile_ip;
mod monitor;
mod mtu;
mod numbers;
mod outages;
mod overlap;
mod ownership;
mod places;
mod positions;
mod power;
mod privileges;
mod probe;
mod program_flows;
mod reference;
mod reload;
mod remade;
mod repairs;
mod resize;
mod run;
mod run_dir;
mod scenario;
mod setup;
mod signals;
mod sizes;
mod station;
mod switch;
mod timing;
mod transmit;
mod transmitters;
mod tun6;
mod tx_status;
mod undo;
mod watch;
mod whereabouts;
mod world;

pub use config::{Capture, NodeConfig, Overrides, Settings};
pub use counters::Counters;
pub use gateway_config::{Asked, Edge, Gateway};
pub use ipv6_config::StaticRoute;
pub use log::Level;
pub use macfilter_config::MacFilterConfig;
pub use monitor::Monitor;
pub use reference::reference_markdown;
pub use run::{Outcome, run};
pub use undo::{ListError, UNDO_COMMAND, UndoList, left, restore, undo};
pub use wayhop_linux::Error;
