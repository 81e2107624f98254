//! Authentication of routing messages with keys that the nodes of a network share, in the way of RFC 8967: without I/O and without
//! clocks that agree.
//!
//! Each node signs what it transmits, hop by hop, so that fields that change on the way are covered. [`Auth::seal`] adds a block
//! ([`wayhop_wire::auth`]) to a packet, and [`Auth::open`] looks at one and takes it off. A neighbour's packets count when
//! their tag is right, when the neighbour has answered a challenge since it began, and when their counter is new.
//! docs/concepts/authentication.md has the whole of it.

mod auth;
mod key;
mod neighbours;
mod nonces;
mod outbox;
mod window;

pub use auth::{Auth, BlockCounts, OpenedPacket, Verdict};
pub use key::{Key, Keys, MAX_KEY, MAX_KEYS, MIN_KEY};

#[cfg(test)]
mod tests;
