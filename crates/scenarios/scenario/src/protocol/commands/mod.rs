//! Commands sent to nodes.

mod resolve;
mod schema;

pub use resolve::Order;
pub(crate) use resolve::resolve;
pub use schema::{Command, PurgeRoutes};
