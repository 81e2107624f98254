//! Plans, stores and results of sweeps.

mod arguments;
mod chart;
mod interruption;
mod plans;
mod results;
mod store;
