//! Static routes.

mod resolve;
mod schema;

pub(crate) use resolve::resolve;
pub use schema::StaticRoute;
