//! Authentication of routing messages with shared keys, in the way of RFC 8967: without I/O, and
//! without synchronised clocks.
//!
//! Each node signs each transmission, hop by hop, so that fields that change on the way are covered.
//! [`Auth::seal`] adds a block ([`wayhop_wire::auth`]) to a packet, and [`Auth::open`] checks and removes it.
//! A neighbour's packet is accepted if its tag is right, its counter is new, and the neighbour has answered a
//! challenge since its start. docs/concepts/authentication.md describes the protocol.

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
