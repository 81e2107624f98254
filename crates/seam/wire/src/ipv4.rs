//! IPv4 (RFC 791).
//!
//! [`Packet`] is a checked view, [`Repr`] a header without options. The free functions change a header in place and keep
//! its checksum right.

use std::net::Ipv4Addr;

use crate::bytes::{addr_at, put, u8_at, u16_at};
use crate::{Error, checksum, refuse_if};

/// Length of a header without options, in octets.
pub const HEADER_LEN: usize = 20;

/// Whether an address can be a host's: no group, no broadcast, not this host by another name.
pub fn is_host(a: Ipv4Addr) -> bool {
    !(a.is_broadcast() || a.is_multicast() || a.is_unspecified() || a.is_loopback())
}

/// Source and destination of a packet.
pub fn ends(packet: &[u8]) -> Option<(Ipv4Addr, Ipv4Addr)> {
    Packet::new_checked(packet).ok().map(|ip| (ip.src(), ip.dst()))
}

/// IP protocol numbers that Wayhop knows.
pub mod protocol {
    /// Internet Control Message Protocol.
    pub const ICMP: u8 = 1;
    /// An IP packet inside an IP packet (RFC 2003).
    pub const IP_IN_IP: u8 = 4;
    /// Transmission Control Protocol.
    pub const TCP: u8 = 6;
    /// User Datagram Protocol.
    pub const UDP: u8 = 17;
    /// Dynamic Source Routing.
    pub const DSR: u8 = 48;
    /// Nothing follows (the value of DSR's Next Header in a packet without payload).
    pub const NO_NEXT_HEADER: u8 = 59;
}

/// A packet with a complete header and consistent lengths.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    bytes: &'a [u8],
    /// The first 20 octets as an array, so that no field needs a check of bounds.
    head: &'a [u8; HEADER_LEN],
    header_len: usize,
    total_len: usize,
}

impl<'a> Packet<'a> {
    /// Checks version and lengths, not the checksum (see [`Packet::checksum_is_valid`]). Octets after the total length,
    /// such as a link's padding, are ignored.
    #[inline]
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, Error> {
        let p = Self::new_snapped(bytes)?;
        refuse_if(p.total_len > bytes.len(), Error::Truncated)?;
        Ok(p)
    }

    /// As [`Packet::new_checked`], but the payload may be cut short, as captures do; the header may not.
    #[inline]
    pub fn new_snapped(bytes: &'a [u8]) -> Result<Self, Error> {
        let head = bytes.first_chunk::<HEADER_LEN>().ok_or(Error::Truncated)?;
        refuse_if(head[0] >> 4 != 4, Error::Value("version"))?;
        let header_len = usize::from(head[0] & 0xf) * 4;
        let total_len = usize::from(u16_at(head, 2));
        refuse_if(header_len < HEADER_LEN || total_len < header_len, Error::Length)?;
        refuse_if(header_len > bytes.len(), Error::Truncated)?;
        Ok(Self { bytes, head, header_len, total_len })
    }

    /// Length of the header with its options, in octets.
    #[inline]
    pub fn header_len(&self) -> usize {
        self.header_len
    }
    /// Length of header and payload, in octets, as the header states it.
    #[inline]
    pub fn total_len(&self) -> usize {
        self.total_len
    }
    /// The Type of Service octet: six bits DSCP, two bits ECN.
    pub fn tos(&self) -> u8 {
        u8_at(self.head, 1)
    }
    /// The identification that all fragments of one datagram share.
    #[inline]
    pub fn id(&self) -> u16 {
        u16_at(self.head, 4)
    }
    /// The Don't Fragment flag.
    pub fn dont_fragment(&self) -> bool {
        u8_at(self.head, 6) & 0x40 != 0
    }
    /// The More Fragments flag.
    #[inline]
    pub fn more_fragments(&self) -> bool {
        u8_at(self.head, 6) & 0x20 != 0
    }
    /// Where this fragment's payload starts in the datagram, in units of 8 octets.
    #[inline]
    pub fn fragment_offset(&self) -> u16 {
        u16_at(self.head, 6) & 0x1fff
    }
    /// Time to live, in hops.
    #[inline]
    pub fn ttl(&self) -> u8 {
        u8_at(self.head, 8)
    }
    /// What the payload is; see [`protocol`].
    #[inline]
    pub fn protocol(&self) -> u8 {
        u8_at(self.head, 9)
    }
    /// The header checksum field.
    pub fn checksum(&self) -> u16 {
        u16_at(self.head, 10)
    }
    /// Whether the header checksum is right.
    #[inline]
    pub fn checksum_is_valid(&self) -> bool {
        checksum::sum(0, self.header()) == 0xffff
    }
    /// Source address.
    #[inline]
    pub fn src(&self) -> Ipv4Addr {
        addr_at(self.head, 12)
    }
    /// Destination address.
    #[inline]
    pub fn dst(&self) -> Ipv4Addr {
        addr_at(self.head, 16)
    }
    /// The header with its options.
    #[inline]
    pub fn header(&self) -> &'a [u8] {
        &self.bytes[..self.header_len]
    }
    /// The header's options.
    pub fn options(&self) -> &'a [u8] {
        &self.bytes[HEADER_LEN..self.header_len]
    }
    /// The header and up to `n` octets of what it carries: what an ICMP error returns of a packet (RFC 792).
    pub fn start(&self, n: usize) -> &'a [u8] {
        &self.bytes[..self.header_len + self.payload().len().min(n)]
    }
    /// What the packet carries, as far as it is there.
    #[inline]
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[self.header_len..self.total_len.min(self.bytes.len())]
    }
}

/// A header without options.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Source address.
    pub src: Ipv4Addr,
    /// Destination address.
    pub dst: Ipv4Addr,
    /// What the payload is; see [`protocol`].
    pub protocol: u8,
    /// Time to live, in hops.
    pub ttl: u8,
    /// The Type of Service octet.
    pub tos: u8,
    /// Identification.
    pub id: u16,
    /// The Don't Fragment flag.
    pub dont_fragment: bool,
    /// The More Fragments flag.
    pub more_fragments: bool,
    /// Fragment offset in units of 8 octets; 13 bits.
    pub fragment_offset: u16,
    /// Length of the payload, in octets; header and payload together at most 65535.
    pub payload_len: u16,
}

impl Repr {
    /// An unfragmented packet with TTL 64, TOS 0, DF clear and id 0.
    pub const fn new(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, payload_len: u16) -> Self {
        Self {
            src,
            dst,
            protocol,
            ttl: 64,
            tos: 0,
            id: 0,
            dont_fragment: false,
            more_fragments: false,
            fragment_offset: 0,
            payload_len,
        }
    }

    /// Reads a header and checks its checksum; options are skipped.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let p = Packet::new_checked(bytes)?;
        refuse_if(!p.checksum_is_valid(), Error::Checksum)?;
        Ok(Self {
            src: p.src(),
            dst: p.dst(),
            protocol: p.protocol(),
            ttl: p.ttl(),
            tos: p.tos(),
            id: p.id(),
            dont_fragment: p.dont_fragment(),
            more_fragments: p.more_fragments(),
            fragment_offset: p.fragment_offset(),
            payload_len: (p.total_len - p.header_len) as u16,
        })
    }

    /// Length of the emitted header, in octets.
    pub const fn buffer_len(&self) -> usize {
        HEADER_LEN
    }

    /// Writes the header with its checksum into the first 20 octets. Panics if `buf` is shorter.
    pub fn emit(&self, buf: &mut [u8]) {
        let buf = &mut buf[..HEADER_LEN];
        let total_len = (HEADER_LEN as u16).saturating_add(self.payload_len);
        let flags = u16::from(self.dont_fragment) << 14 | u16::from(self.more_fragments) << 13;
        put(buf, 0, [0x45, self.tos]);
        put(buf, 2, total_len.to_be_bytes());
        put(buf, 4, self.id.to_be_bytes());
        put(buf, 6, (flags | self.fragment_offset & 0x1fff).to_be_bytes());
        put(buf, 8, [self.ttl, self.protocol]);
        put(buf, 10, [0, 0]);
        put(buf, 12, self.src.octets());
        put(buf, 16, self.dst.octets());
        let c = !checksum::sum(0, buf);
        put(buf, 10, c.to_be_bytes());
    }
}

/// Lowers the TTL by one, corrects the checksum (RFC 1624) and returns the new TTL. A TTL of 0 stays 0.
pub fn decrement_ttl(packet: &mut [u8]) -> Result<u8, Error> {
    let ttl = Packet::new_snapped(packet)?.ttl().saturating_sub(1);
    set_ttl(packet, ttl)?;
    Ok(ttl)
}

/// Sets the TTL and corrects the checksum (RFC 1624).
pub fn set_ttl(packet: &mut [u8], ttl: u8) -> Result<(), Error> {
    let p = Packet::new_snapped(packet)?;
    set_word(packet, 8, u16::from_be_bytes([ttl, p.protocol()]));
    Ok(())
}

/// Sets the TOS octet and corrects the checksum.
pub fn set_tos(packet: &mut [u8], tos: u8) -> Result<(), Error> {
    let first = *Packet::new_snapped(packet)?.header().first().unwrap_or(&0x45);
    set_word(packet, 0, u16::from_be_bytes([first, tos]));
    Ok(())
}

/// Sets the destination address and corrects the checksum.
pub fn set_dst(packet: &mut [u8], dst: Ipv4Addr) -> Result<(), Error> {
    Packet::new_snapped(packet)?;
    let [a, b, c, d] = dst.octets();
    set_word(packet, 16, u16::from_be_bytes([a, b]));
    set_word(packet, 18, u16::from_be_bytes([c, d]));
    Ok(())
}

/// Says what the payload is now, and how long (a header was put in front of it, or taken away), and corrects the
/// checksum. The octets themselves are the caller's: call this after moving them, or before.
pub fn set_payload(packet: &mut [u8], protocol: u8, payload_len: usize) -> Result<(), Error> {
    let p = Packet::new_snapped(packet)?;
    let total_len = u16::try_from(p.header_len + payload_len).map_err(|_| Error::Full)?;
    let ttl = p.ttl();
    set_word(packet, 2, total_len);
    set_word(packet, 8, u16::from_be_bytes([ttl, protocol]));
    Ok(())
}

/// Replaces an aligned word of a header whose length was checked.
fn set_word(packet: &mut [u8], at: usize, new: u16) {
    let c = checksum::update(u16_at(packet, 10), u16_at(packet, at), new);
    put(packet, at, new.to_be_bytes());
    put(packet, 10, c.to_be_bytes());
}
