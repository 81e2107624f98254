//! Nodes that lead out of the mesh, and what is outside.

mod resolve;
mod schema;

pub(crate) use resolve::resolve;
pub use resolve::{EdgePlan, GatewayPlan, OutsidePlan};
pub use schema::Gateway;
