//! Plans, stores and results of sweeps.

mod arguments;
mod interruption;
mod plans;
mod results;
mod store;
