//! Who sends what to whom, and how long the run lasts for it.

mod duration;
pub(crate) mod ip;
mod ip_version;
pub(crate) mod programs;
mod resolve;
mod schema;
pub(crate) mod tcp;

pub(crate) use duration::{cut_off, default_duration};
pub use ip_version::IpVersion;
pub(crate) use resolve::{MAX_FLOWS, flows, twins};
pub use schema::{Cbr, CbrRandom, Ns2File, OnOff, Pareto, Ping, Poisson, Traffic, TrafficTrace};
