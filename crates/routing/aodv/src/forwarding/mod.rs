//! Messages and packets at a node: headers read, messages sent, routes in use.

pub(crate) mod head;
pub(crate) mod output;
pub(crate) mod route_use;
