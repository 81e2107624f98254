//! `wayhop mobile-ip`: home agent, foreign agent and mobile node on a host.
//!
//! The applications are those of [`wayhop_mobile_ip`]; here they get sockets, a TUN interface as
//! the end of their tunnels, and the clock.
//! * `config`: the three configurations. `setup`: from a configuration to an application and its
//!   host.
//! * `memory`: what a home agent keeps over restarts. `ports`: the host's links. `routes`: the
//!   kernel routes that follow the application. `run`: the loop.

mod config;
mod memory;
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
