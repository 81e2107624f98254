//! Monitoring a running mesh: paper 000's Position and Communication Tracking daemon, PCTd (section
//! 6.5.2).
//!
//! Each node's [`Reporter`] writes its counters and position into a local file, and sends them in a datagram
//! over the mesh to a [`Collector`]. When the mesh fails, the local file still has everything.

mod archive;
mod collector;
mod log;
mod report;
mod reporter;

pub use collector::{CollectedReport, Collector, Rejection};
pub use log::LogFile;
pub use report::{LONGEST_DATAGRAM, Report, VERSION};
pub use reporter::Reporter;

/// The UDP port of collectors.
pub const PORT: u16 = 9465;
