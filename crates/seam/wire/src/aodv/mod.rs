//! Ad hoc On-Demand Distance Vector routing, RFC 3561 section 5: messages in UDP datagrams of port 654.
//!
//! [`Message::parse`] reads one message from the start of a datagram's payload; behind its [`Message::buffer_len`] octets,
//! [`extensions`] follow (section 9). Destinations of a Route Error are borrowed ([`Unreachables`]).
//!
//! Lengths: RREQ 24 octets, RREP 20, RERR 4 + 8n, RREP-ACK 2.

mod extension;
mod message;

pub use extension::{Extension, Extensions, extensions};
pub use message::{MAX_UNREACHABLE, Message, Rerr, Rrep, Rreq, Unreachable, Unreachables};

use wayhop_core::Authentication;

/// How AODV's messages are authenticated: by an extension behind the message (section 9), of a type for experiments that others
/// may skip.
pub static AUTHENTICATION: Authentication = Authentication::behind_message(1, 101, &[]);

/// The UDP port of AODV.
pub const PORT: u16 = 654;
