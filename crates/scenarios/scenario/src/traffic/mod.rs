//! Traffic, and the length of the run that follows from it.

pub(crate) mod ip;
mod kind;
mod kinds;
pub(crate) mod programs;
mod resolve;
pub(crate) mod tcp;

pub use ip::IpVersion;
pub(crate) use kind::{MAX_FLOWS, RunContext, check_times};
pub use kinds::{Cbr, CbrRandom, Ns2File, OnOff, Pareto, Ping, Poisson, Traffic, TrafficTrace};
pub(crate) use resolve::{cut_off, default_duration, flows, twins};
