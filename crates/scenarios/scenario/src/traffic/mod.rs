//! Traffic, and the length of the run that follows from it.

mod duration;
pub(crate) mod ip;
mod ip_version;
mod kind;
mod kinds;
pub(crate) mod programs;
mod resolve;
pub(crate) mod tcp;

pub(crate) use duration::{cut_off, default_duration};
pub use ip_version::IpVersion;
pub(crate) use kind::{MAX_FLOWS, RunContext};
pub use kinds::{Cbr, CbrRandom, Ns2File, OnOff, Pareto, Ping, Poisson, Traffic, TrafficTrace};
pub(crate) use resolve::{flows, twins};
