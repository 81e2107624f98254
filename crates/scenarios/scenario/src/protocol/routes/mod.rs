//! Routes that nodes have from the start.

mod resolve;
mod schema;

pub(crate) use resolve::resolve;
pub use schema::StaticRoute;
