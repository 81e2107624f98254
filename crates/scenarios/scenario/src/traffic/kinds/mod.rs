//! The kinds of traffic: a file each, with its keys and what they mean.

mod bursts;
mod cbr;
mod cbr_random;
mod list;
mod ns2;
mod ping;
mod poisson;
mod trace;

pub use bursts::{OnOff, Pareto};
pub use cbr::Cbr;
pub use cbr_random::CbrRandom;
pub use list::Traffic;
pub use ns2::Ns2File;
pub use ping::Ping;
pub use poisson::Poisson;
pub use trace::TrafficTrace;
