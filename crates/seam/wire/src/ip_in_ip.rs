//! An IPv4 packet inside an IPv4 packet (RFC 2003).

use std::net::Ipv4Addr;

use crate::ipv4::{self, HEADER_LEN, Packet, protocol};
use crate::{Error, refuse_if};

/// The packet inside a packet of protocol 4, if it is a whole IPv4 packet itself.
///
/// Fragments are rejected: reassembly comes before decapsulation (section 5.1).
pub fn inner<'a>(outer: &Packet<'a>) -> Result<Packet<'a>, Error> {
    refuse_if(outer.protocol() != protocol::IP_IN_IP, Error::Value("protocol"))?;
    refuse_if(outer.more_fragments() || outer.fragment_offset() != 0, Error::Value("fragment offset"))?;
    Packet::new_checked(outer.payload())
}

/// The header that is put in front of a packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Where the tunnel begins.
    pub src: Ipv4Addr,
    /// Where the tunnel ends.
    pub dst: Ipv4Addr,
    /// How far the tunnel may be long, in hops.
    pub ttl: u8,
    /// Identification, for the fragments of a packet that is too long for the tunnel.
    pub id: u16,
}

impl Repr {
    /// Length of both headers and the payload, in octets, with this packet inside.
    pub fn buffer_len(&self, inner: &Packet<'_>) -> usize {
        HEADER_LEN + inner.total_len()
    }

    /// Writes the header with the packet behind it. The outer header has the inner one's Type of Service and Don't Fragment
    /// flag (section 3.1). Panics if `buf` is shorter than [`Repr::buffer_len`].
    ///
    /// # Errors
    /// If both are longer than an IP packet may be, or the inner packet is not whole.
    pub fn emit(&self, inner: &Packet<'_>, buf: &mut [u8]) -> Result<(), Error> {
        let len = inner.header_len() + inner.payload().len();
        let payload_len = u16::try_from(len).ok().filter(|n| *n <= u16::MAX - HEADER_LEN as u16);
        let payload_len = payload_len.ok_or(Error::Full)?;
        refuse_if(len != inner.total_len(), Error::Truncated)?;
        let header = ipv4::Repr {
            ttl: self.ttl,
            tos: inner.tos(),
            id: self.id,
            dont_fragment: inner.dont_fragment(),
            ..ipv4::Repr::new(self.src, self.dst, protocol::IP_IN_IP, payload_len)
        };
        header.emit(buf);
        buf[HEADER_LEN..HEADER_LEN + len].copy_from_slice(inner.start(len));
        Ok(())
    }
}
