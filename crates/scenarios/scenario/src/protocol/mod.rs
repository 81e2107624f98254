//! The routing protocol: its parameters, commands to it, static routes, and limits on what nodes accept from their
//! neighbours.

pub(crate) mod commands;
mod limits;
mod resolve;
pub(crate) mod routes;
mod schema;

pub use limits::NeighbourLimits;
pub use resolve::after_reboot;
pub(crate) use resolve::{unnoticed_breaks, with_notices};
pub use schema::Protocol;
