//! Route maintenance (RFC 3561 sections 6.10 to 6.12): broken links, Route Errors, local repair.

mod broken_link;
mod expiry;
mod host_unreachable;
mod local_repair;
pub(crate) mod repairs;
pub(crate) mod route_error;
