//! Watching a mesh while it runs: paper 000's Position and Communication Tracking daemon, PCTd (section 6.5.2).
//!
//! Each node's [`Reporter`] writes what it has counted and where it is into a local file, and makes a datagram of it for the
//! mesh itself to carry to a [`Collector`]. When the mesh fails, the local file has everything.

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
