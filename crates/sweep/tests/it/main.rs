//! Plans, stores and results of sweeps.

mod interruption;
mod plans;
mod results;
mod store;
