//! Route Discovery (RFC 4728 sections 3.1, 3.3 and 8.2): requests, replies, and packets that wait for a route.

pub(crate) mod blacklist;
pub(crate) mod held_replies;
pub(crate) mod origin;
pub(crate) mod request_table;
mod route_reply;
mod route_request;
pub(crate) mod search;
mod unidirectional;
mod waiting;
