//! TCPCLv4 (RFC 9174), without TLS (docs/deviations.md).
//!
//! * `message`: the messages. `session`: the session. `incoming`, `outgoing`: transfers of bundles.

mod incoming;
mod message;
mod outgoing;
mod session;

pub use message::PORT;
pub use session::{Tcpcl, TcpclConfig};
