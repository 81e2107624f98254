//! Gateways, and networks outside the mesh.

mod resolve;
mod schema;

pub(crate) use resolve::resolve;
pub use resolve::{EdgePlan, GatewayPlan, OutsidePlan};
pub use schema::Gateway;
