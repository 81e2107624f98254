//! TCPCLv4 (RFC 9174), without TLS (docs/deviations.md).
//!
//! * `message`: what goes over the connection. `session`: the session. `incoming`, `outgoing`: bundles on their way.

mod incoming;
mod message;
mod outgoing;
mod session;

pub use message::PORT;
pub use session::{Tcpcl, TcpclConfig};
