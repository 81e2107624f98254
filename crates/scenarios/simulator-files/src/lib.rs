//! Files of other simulators, read and written: ns-2's movement and traffic ([`ns2`]), traces of packets
//! ([`TraceFormat`]), BonnMotion's movement ([`BonnMotion`]), and lists of frames that nodes ignore ([`MacFilter`]).
//!
//! They become tracks and flows. Nothing here knows scenarios: `wayhop-scenario` handles scenarios that name such
//! files, or are written as such files.

mod bonnmotion;
mod limits;
mod macfilter;
pub mod ns2;
mod traffic_trace;

pub use bonnmotion::{BonnMotion, Columns};
pub use limits::{MAX_DURATION_S, MAX_NODES, MAX_TRACE_PACKETS};
pub use macfilter::{Ignores, MacFilter, MacFilterError};
pub use traffic_trace::TraceFormat;
