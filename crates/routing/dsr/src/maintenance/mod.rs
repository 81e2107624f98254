//! Route Maintenance (RFC 4728 sections 3.2, 3.4 and 8.3): whether a next hop received a packet,
//! and what follows if it did not.

mod ack_requests;
pub(crate) mod acks;
pub(crate) mod broken;
mod broken_link;
pub(crate) mod duplicates;
pub(crate) mod gratuitous_reply_table;
mod host_unreachable;
pub(crate) mod maintenance_buffer;
mod route_error;
mod salvage;
mod shortening;
