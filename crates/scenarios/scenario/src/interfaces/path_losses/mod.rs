//! Links whose path loss follows a table.

mod resolve;
mod schema;

pub use resolve::LossTable;
pub(crate) use resolve::resolve;
pub use schema::PathLosses;
