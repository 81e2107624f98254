//! Presets, overrides of single values, and the resulting values with their origins.

mod forms;
mod in_force;
pub(crate) mod names;
pub(crate) mod overrides;
mod sets;
mod units;

pub use forms::{forms, scenario_schema};
pub use in_force::InForce;
pub use sets::{Preset, presets};
pub use units::unit;
