//! When nodes are down.

mod resolve;
mod schema;

pub use resolve::Outage;
pub(crate) use resolve::resolve;
pub use schema::{Outages, Tables};
