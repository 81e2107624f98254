//! What a run writes, and a scenario in other programs' words.

mod daemon;
mod export;
mod resolve;
mod schema;

pub use daemon::daemon_settings;
pub use export::{export_ns2, export_ns2_movement, export_ns2_traffic};
pub use resolve::{CapturePlan, ReceptionPlan};
pub(crate) use resolve::{capture_plan, reception_plan};
pub(crate) use schema::Receptions;
pub use schema::{Captures, Output};
