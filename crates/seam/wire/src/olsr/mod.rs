//! Optimized Link State Routing, RFC 3626: packets of messages in UDP datagrams of port 698, over IPv4 or IPv6.
//!
//! A [`Packet`] (section 3.3) lists messages, each with an originator of its own: a router puts its messages and those that
//! it forwards into one packet. [`Packet::messages`] gives the octets of each, [`Message::parse`] reads them,
//! [`PacketRepr`] writes a packet. Lists are borrowed.
//!
//! Lengths over IPv4: packet header 4 octets, message header 12, HELLO 4 + (4 + 4n) for each link message, TC 4 + 4n, MID 4n, HNA 8n.
//! Over IPv6 each address has 16 octets (section 17): message header 24, HELLO 4 + (4 + 16n), and so on.

mod hello;
mod items;
mod message;
mod packet;
mod time;

pub use hello::{Hello, LinkCode, LinkMessage, LinkMessages, LinkType, NeighbourType};
pub use items::Address;
pub use message::{Body, Message, Network, message_type};
pub use packet::{Packet, PacketRepr};
pub use time::TimeCode;

/// The UDP port of OLSR (section 3.1).
pub const PORT: u16 = 698;
