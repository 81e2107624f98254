//! Dynamic Source Routing, RFC 4728.
//!
//! [`Engine`] is one node's protocol behind [`wayhop_core::Protocol`]; [`Params`] holds every constant and choice.

mod blacklist;
mod buffer;
pub mod cache;
mod discovery;
mod engine;
mod flow;
mod flow_table;
mod icmp;
mod learning;
mod maintenance;
mod output;
mod params;
mod path;
mod reply;
mod request_table;
mod route_error;
mod shortening;
mod view;

pub use engine::Engine;
pub use params::Params;
pub use path::{MAX_HOPS, MAX_NODES, Path};
