//! Runs, from a scenario to a summary and a run directory. The command, sweeps and papers'
//! experiments all run here.
//!
//! * [`simulate()`], [`to_end`]: in simulated time, as fast as the machine can or, for followers,
//!   at the pace of a [`Clock`].
//! * [`estimate`]: the cost of such a run, judged by its beginning. [`chains`]: the throughput of
//!   static chains.
//! * [`memory`]: whether such a run fits into memory.
//! * [`Emulation`]: the same nodes on the real clock, with real programs in them.
//! * [`Lab`]: a daemon for each node.
//! * [`Outcome`]: how a run ended. [`run_dir`]: where it is recorded. [`InputLogs`]: its engines'
//!   inputs.
//! * [`jobs`]: many independent runs, spread over threads. [`interruption`]: how the user stops them.
// These panic when standard error cannot be written to, as on a full disk.
#![deny(clippy::print_stderr)]

pub mod chains;
#[cfg(feature = "linux")]
mod connections;
#[cfg(feature = "linux")]
mod emulate;
mod error;
pub mod estimate;
#[cfg(feature = "linux")]
mod hosted;
mod inputs;
pub mod interruption;
pub mod jobs;
#[cfg(feature = "linux")]
mod lab;
pub mod memory;
mod outcome;
mod prefix;
#[cfg(feature = "linux")]
mod programs;
pub mod run_dir;
mod simulate;

#[cfg(feature = "linux")]
pub use emulate::{Emulation, Tasks};
pub use error::Error;
pub use inputs::InputLogs;
#[cfg(feature = "linux")]
pub use lab::{Lab, plan, unmodelled, wiring};
pub use outcome::Outcome;
pub use simulate::{Clock, simulate, to_end};
pub use wayhop_sim::why_one_thread;
