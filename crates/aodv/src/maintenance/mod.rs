//! Route maintenance (RFC 3561 sections 6.10 to 6.12): broken links, Route Errors, local repair.

pub(crate) mod audience;
mod broken_link;
mod host_unreachable;
pub(crate) mod repairs;
mod route_error;
