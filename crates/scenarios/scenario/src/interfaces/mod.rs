//! The nodes' radios and wires, with batteries, losses of single links, stalled drivers and filters.

pub(crate) mod energy;
mod macfilter;
pub(crate) mod path_losses;
mod resolve;
mod schema;
pub(crate) mod stalls;

pub use resolve::{Attachment, Interfaces, RadioPlan, WirePlan};
pub(crate) use resolve::{find, resolve};
pub use schema::{Absence, Cut, Radio, Wire};
