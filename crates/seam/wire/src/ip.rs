//! IP of either family, for code that treats both alike.

use wayhop_core::Addr;

use crate::{Error, ipv4, ipv6, refuse_if};

/// A packet of either family, with what both have.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Source address.
    pub src: Addr,
    /// Destination address.
    pub dst: Addr,
    /// What the payload is: the IP protocol, or what follows the last extension header.
    pub protocol: u8,
    /// How many more hops it may make.
    pub ttl: u8,
    /// The Type of Service or Traffic Class octet.
    pub tos: u8,
    /// What follows the IP headers, as far as it is there; nothing of a fragment that is not the first.
    pub payload: &'a [u8],
    /// Length of headers and payload, in octets, as stated.
    pub total_len: usize,
}

impl<'a> Packet<'a> {
    /// Checks version and lengths, as [`ipv4::Packet::new_checked`] and [`ipv6::Packet::new_checked`] do. An IPv6 packet
    /// from or to an IPv4-mapped address is refused: such addresses are none on a link (RFC 4038, section 4.2).
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, Error> {
        if bytes.first().is_some_and(|b| b >> 4 == 6) {
            return Self::of_v6(&ipv6::Packet::new_checked(bytes)?);
        }
        let p = ipv4::Packet::new_checked(bytes)?;
        Ok(Self {
            src: p.src().into(),
            dst: p.dst().into(),
            protocol: p.protocol(),
            ttl: p.ttl(),
            tos: p.tos(),
            payload: if p.fragment_offset() == 0 { p.payload() } else { &[] },
            total_len: p.total_len(),
        })
    }

    /// An IPv6 packet in this form.
    fn of_v6(p: &ipv6::Packet<'a>) -> Result<Self, Error> {
        let (src, dst) = (Addr::from(p.src()), Addr::from(p.dst()));
        refuse_if(src.is_v4() || dst.is_v4(), Error::Value("address"))?;
        let upper = p.upper()?;
        let later = upper.protocol == ipv6::next_header::FRAGMENT;
        Ok(Self {
            src,
            dst,
            protocol: upper.protocol,
            ttl: p.hop_limit(),
            tos: p.traffic_class(),
            payload: if later { &[] } else { upper.payload },
            total_len: p.total_len(),
        })
    }
}

/// A header without options or extension headers. Source and destination are of the same family.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Source address.
    pub src: Addr,
    /// Destination address.
    pub dst: Addr,
    /// What the payload is.
    pub protocol: u8,
    /// How many hops it may make.
    pub ttl: u8,
    /// The Type of Service or Traffic Class octet.
    pub tos: u8,
    /// The identification of IPv4; IPv6 has none.
    pub id: u16,
    /// Length of the payload, in octets.
    pub payload_len: u16,
}

impl Repr {
    /// Length of the header of a packet to this address, in octets.
    #[inline]
    pub const fn header_len(dst: Addr) -> usize {
        if dst.is_v4() { ipv4::HEADER_LEN } else { ipv6::HEADER_LEN }
    }

    /// Writes the header. Panics if `buf` is shorter than [`Repr::header_len`].
    pub fn emit(&self, buf: &mut [u8]) {
        let Self { protocol, ttl, tos, id, payload_len, .. } = *self;
        if let (Some(src), Some(dst)) = (self.src.v4(), self.dst.v4()) {
            return ipv4::Repr { ttl, tos, id, ..ipv4::Repr::new(src, dst, protocol, payload_len) }.emit(buf);
        }
        let [src, dst] = [self.src, self.dst].map(|a| std::net::Ipv6Addr::from_bits(a.to_bits()));
        let head = ipv6::Repr::new(src, dst, protocol, payload_len);
        ipv6::Repr { hop_limit: ttl, traffic_class: tos, ..head }.emit(buf);
    }
}

/// The next hop limit of a packet that goes on, written into it: one less.
pub fn decrement_ttl(packet: &mut [u8]) -> Result<u8, Error> {
    match packet.first() {
        Some(b) if b >> 4 == 6 => ipv6::decrement_hop_limit(packet),
        _ => ipv4::decrement_ttl(packet),
    }
}
