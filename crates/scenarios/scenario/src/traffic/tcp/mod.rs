//! TCP connections.

mod flow;
mod in_force;
mod resolve;
mod schema;

pub(crate) use in_force::values;
pub(crate) use resolve::resolve;
pub use schema::{RouteFailure, Tcp, TcpApplication, TcpProfile, TcpVariant};
