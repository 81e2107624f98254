//! Positions from and for GPS programs, in the JSON protocol of gpsd (gpsd_json(5), version 3).
//!
//! [`Client`] reads positions of a running gpsd. [`Server`] acts as a gpsd with one receiver, so
//! that `cgps`, `gpspipe -w` and anything on libgps see where an emulated node is.

mod client;
mod messages;
mod reader;
mod server;
mod utc;

pub use client::Client;
pub use messages::{Deviations, Report, Watch, parse_commands, parse_report};
pub use reader::{GpsReport, Reader};
pub use server::Server;
pub use utc::iso8601;

/// gpsd's port.
pub const PORT: u16 = 2947;
