//! `wayhop mobile-ip`: home agent, foreign agent and mobile node on a host.
//!
//! The applications are those of [`wayhop_mobile_ip`], and [`wayhop_application_host`] runs them; here they get sockets, and a TUN
//! interface as the end of their tunnels.
//! * `config`: the three configurations. `setup`: from a configuration to an application and its
//!   network layer. `run`: from the beginning to the end.
//! * `network`: the host's network layer. `ports`: its links. `routes`: the kernel routes that
//!   follow the application. `memory`: what a home agent keeps over restarts.

mod config;
mod memory;
mod network;
mod ports;
mod reference;
mod routes;
mod run;
mod setup;
#[cfg(test)]
mod tests;

pub use config::{ForeignAgentConfig, HomeAgentConfig, MobileNodeConfig};
pub use reference::reference_markdown;
pub use run::run;
pub use setup::{Role, check, complete};
