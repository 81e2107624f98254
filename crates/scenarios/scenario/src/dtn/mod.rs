//! Bundles above the network layer.

mod resolve;
mod schema;

pub(crate) use resolve::resolve;
pub use resolve::{BundleFlowPlan, DtnPlan};
pub use schema::{BundleFlow, Dtn, DtnRoute};
