//! Counters for Prometheus: the text format 0.0.4 over HTTP, read-only, at `/metrics`.
//!
//! The server is minimal: one thread, only the first line of a request, and an answer that ends the
//! connection. A client has two seconds for everything, and when there are too many, the address
//! with the most loses its oldest.

mod connection;
mod endpoint;
mod snapshot;

pub use endpoint::{Endpoint, MAX_CLIENTS};
pub use snapshot::Snapshot;
