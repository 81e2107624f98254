//! Route discovery (RFC 3561 sections 6.3 to 6.7): requests, replies, and packets that wait for a route.

pub(crate) mod rate_limit;
pub(crate) mod request_table;
mod route_reply;
mod route_request;
mod search;
mod waiting;
