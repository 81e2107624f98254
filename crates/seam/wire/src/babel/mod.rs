//! The Babel routing protocol, RFC 8966, with next hops of IPv6 for IPv4 (RFC 9229) and authentication by MAC (RFC 8967): UDP
//! datagrams of port 6696, in practice over IPv6 with link-local addresses.
//!
//! A [`Packet`] (section 4.2) is a body of TLVs, and a trailer. [`Packet::body`] gives the octets of each, [`Tlv::parse`]
//! reads them, [`PacketRepr`] writes a packet. What an Update says depends on the TLVs in front of it: [`ParserState`].

mod packet;
mod parser_state;
mod prefix;
mod sub_tlv;
mod tlv;

pub use packet::{Packet, PacketRepr};
pub use parser_state::{ParserState, Route};
pub use prefix::{Encoding, Prefix};
pub use sub_tlv::{SubTlv, SubTlvs};
pub use tlv::{Body, RouterId, Tlv, Update, tlv_type};

/// The UDP port of Babel (section 4).
pub const PORT: u16 = 6696;
