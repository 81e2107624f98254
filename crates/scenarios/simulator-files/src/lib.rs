//! Files of other simulators, read and written: ns-2's movement and traffic ([`ns2`]), traces of packets
//! ([`TraceFormat`]), BonnMotion's movement ([`BonnMotion`]), and lists of frames that nodes ignore ([`MacFilter`]).
//!
//! They become tracks and flows. Nothing here knows scenarios: `wayhop-scenario` handles scenarios that name such
//! files, or are written as such files.

mod bonnmotion;
mod macfilter;
pub mod ns2;
mod traffic_trace;

pub use bonnmotion::{BonnMotion, Columns};
pub use macfilter::{Ignores, MacFilter};
pub use traffic_trace::TraceFormat;

/// The most nodes of a scenario, and of a file.
pub const MAX_NODES: usize = 1_000_000;

/// The longest run, seconds: a year.
pub const MAX_DURATION_S: f64 = 366.0 * 86_400.0;

/// The most packets of all traffic traces of a scenario together: 16 bytes each.
pub const MAX_TRACE_PACKETS: usize = 10_000_000;
