//! Counters for Prometheus: the text format 0.0.4 over HTTP, read-only, at `/metrics`.
//!
//! The server is as small as the task: one thread, the first line of a request and nothing else of
//! it, and an answer that ends the connection. A client has two seconds for everything, and when
//! there are too many, the address with the most loses its oldest.

mod connection;
mod endpoint;
mod snapshot;

pub use endpoint::{Endpoint, MAX_CLIENTS};
pub use snapshot::Snapshot;
