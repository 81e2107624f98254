//! IPv6 (RFC 8200), and the addresses that follow from link addresses (RFC 4291, RFC 2464).
//!
//! [`Packet`] is a checked view, [`Repr`] a header without extension headers. [`Packet::upper`] walks over extension
//! headers.

use std::net::Ipv6Addr;

use wayhop_core::Mac;

use crate::bytes::{array_at, put, u8_at, u16_at};
use crate::{Error, refuse_if};

/// Length of the header, in octets.
pub const HEADER_LEN: usize = 40;
/// The longest packet that every link carries (RFC 8200, section 5).
pub const MIN_MTU: usize = 1_280;

/// Values of Next Header that IPv4 does not have.
pub mod next_header {
    /// Options that every node on the way looks at.
    pub const HOP_BY_HOP: u8 = 0;
    /// A list of nodes to visit.
    pub const ROUTING: u8 = 43;
    /// A piece of a packet.
    pub const FRAGMENT: u8 = 44;
    /// Authentication (RFC 4302).
    pub const AUTHENTICATION: u8 = 51;
    /// Internet Control Message Protocol for IPv6.
    pub const ICMPV6: u8 = 58;
    /// Options for the destination.
    pub const DESTINATION: u8 = 60;
}

/// A packet with a complete header and a consistent length.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    bytes: &'a [u8],
    total_len: usize,
}

/// What a packet carries behind its extension headers.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Upper<'a> {
    /// The upper-layer protocol; [`next_header::FRAGMENT`] for a fragment that is not the first.
    pub protocol: u8,
    /// What follows the extension headers, as far as it is there.
    pub payload: &'a [u8],
    /// Length of header and extension headers, in octets.
    pub header_len: usize,
    /// Whether it is only a piece of a packet.
    pub is_fragment: bool,
}

impl<'a> Packet<'a> {
    /// Checks version and length. Octets after the stated length are ignored. Jumbograms (RFC 2675) have a length of 0 and are
    /// empty packets here.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, Error> {
        let p = Self::new_snapped(bytes)?;
        refuse_if(p.total_len > bytes.len(), Error::Truncated)?;
        Ok(p)
    }

    /// As [`Packet::new_checked`], but the payload may be cut short, as captures do; the header may not.
    pub fn new_snapped(bytes: &'a [u8]) -> Result<Self, Error> {
        refuse_if(bytes.len() < HEADER_LEN, Error::Truncated)?;
        refuse_if(bytes[0] >> 4 != 6, Error::Value("version"))?;
        Ok(Self { bytes, total_len: HEADER_LEN + usize::from(u16_at(bytes, 4)) })
    }

    /// Length of header and payload, in octets, as the header states it.
    pub fn total_len(&self) -> usize {
        self.total_len
    }
    /// The Traffic Class octet: six bits DSCP, two bits ECN.
    pub fn traffic_class(&self) -> u8 {
        (u16_at(self.bytes, 0) >> 4) as u8
    }
    /// The Flow Label, 20 bits.
    pub fn flow_label(&self) -> u32 {
        u32::from_be_bytes(array_at(self.bytes, 0)) & 0xf_ffff
    }
    /// What follows the header: an extension header or the upper layer; see [`Packet::upper`].
    pub fn next_header(&self) -> u8 {
        u8_at(self.bytes, 6)
    }
    /// How many more hops it may make.
    pub fn hop_limit(&self) -> u8 {
        u8_at(self.bytes, 7)
    }
    /// Source address.
    pub fn src(&self) -> Ipv6Addr {
        Ipv6Addr::from(array_at::<16>(self.bytes, 8))
    }
    /// Destination address.
    pub fn dst(&self) -> Ipv6Addr {
        Ipv6Addr::from(array_at::<16>(self.bytes, 24))
    }
    /// What follows the header, extension headers included, as far as it is there.
    pub fn payload(&self) -> &'a [u8] {
        &self.bytes[HEADER_LEN..self.total_len.min(self.bytes.len())]
    }
    /// Header and payload, up to `n` octets: what an ICMPv6 error returns of a packet.
    pub fn start(&self, n: usize) -> &'a [u8] {
        &self.bytes[..self.total_len.min(self.bytes.len()).min(n)]
    }

    /// Walks over the extension headers. Each is at least 8 octets long, so a packet ends the walk.
    ///
    /// # Errors
    /// If an extension header is longer than the packet.
    pub fn upper(&self) -> Result<Upper<'a>, Error> {
        let (mut protocol, mut rest, mut is_fragment) = (self.next_header(), self.payload(), false);
        loop {
            let len = match protocol {
                next_header::HOP_BY_HOP | next_header::ROUTING | next_header::DESTINATION => {
                    (usize::from(u8_at(rest, 1)) + 1) * 8
                }
                next_header::AUTHENTICATION => (usize::from(u8_at(rest, 1)) + 2) * 4,
                next_header::FRAGMENT => 8,
                _ => break,
            };
            let (header, behind) = rest.split_at_checked(len).ok_or(Error::Truncated)?;
            if protocol == next_header::FRAGMENT {
                is_fragment |= u16_at(header, 2) & 0xfff9 != 0;
                if u16_at(header, 2) >> 3 != 0 {
                    break;
                }
            }
            protocol = u8_at(header, 0);
            rest = behind;
        }
        let header_len = HEADER_LEN + self.payload().len() - rest.len();
        Ok(Upper { protocol, payload: rest, header_len, is_fragment })
    }
}

/// A header.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Source address.
    pub src: Ipv6Addr,
    /// Destination address.
    pub dst: Ipv6Addr,
    /// What the payload is.
    pub next_header: u8,
    /// How many hops it may make.
    pub hop_limit: u8,
    /// The Traffic Class octet.
    pub traffic_class: u8,
    /// The Flow Label; 20 bits.
    pub flow_label: u32,
    /// Length of the payload, in octets.
    pub payload_len: u16,
}

impl Repr {
    /// A packet with hop limit 64, traffic class 0 and no flow label.
    pub const fn new(src: Ipv6Addr, dst: Ipv6Addr, next_header: u8, payload_len: u16) -> Self {
        Self { src, dst, next_header, hop_limit: 64, traffic_class: 0, flow_label: 0, payload_len }
    }

    /// Reads a header.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let p = Packet::new_checked(bytes)?;
        Ok(Self {
            src: p.src(),
            dst: p.dst(),
            next_header: p.next_header(),
            hop_limit: p.hop_limit(),
            traffic_class: p.traffic_class(),
            flow_label: p.flow_label(),
            payload_len: (p.total_len - HEADER_LEN) as u16,
        })
    }

    /// Length of the emitted header, in octets.
    pub const fn buffer_len(&self) -> usize {
        HEADER_LEN
    }

    /// Writes the header into the first 40 octets. Panics if `buf` is shorter.
    pub fn emit(&self, buf: &mut [u8]) {
        let first = 6 << 28 | u32::from(self.traffic_class) << 20 | self.flow_label & 0xf_ffff;
        put(buf, 0, first.to_be_bytes());
        put(buf, 4, self.payload_len.to_be_bytes());
        put(buf, 6, [self.next_header, self.hop_limit]);
        put(buf, 8, self.src.octets());
        put(buf, 24, self.dst.octets());
    }
}

/// Lowers the hop limit by one and returns the new one. A hop limit of 0 stays 0.
pub fn decrement_hop_limit(packet: &mut [u8]) -> Result<u8, Error> {
    let limit = Packet::new_snapped(packet)?.hop_limit().saturating_sub(1);
    put(packet, 7, [limit]);
    Ok(limit)
}

/// The link-local address that follows from a link address by EUI-64 (RFC 4291, appendix A).
pub const fn link_local(mac: Mac) -> Ipv6Addr {
    let [a, b, c, d, e, f] = mac.0;
    let id = u64::from_be_bytes([a ^ 2, b, c, 0xff, 0xfe, d, e, f]);
    Ipv6Addr::from_bits(0xfe80 << 112 | id as u128)
}

/// The link address in an interface identifier that was made by EUI-64.
pub const fn eui64_mac(a: Ipv6Addr) -> Option<Mac> {
    match (a.to_bits() as u64).to_be_bytes() {
        [a, b, c, 0xff, 0xfe, d, e, f] => Some(Mac([a ^ 2, b, c, d, e, f])),
        _ => None,
    }
}

/// Whether an address is link-local: no router passes on packets from or to it.
pub const fn is_link_local(a: Ipv6Addr) -> bool {
    a.is_unicast_link_local()
}

/// All nodes on a link, ff02::1.
pub const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// The solicited-node group of an address, to which solicitations for it go (RFC 4291, section
/// 2.7.1).
pub const fn solicited_node(a: Ipv6Addr) -> Ipv6Addr {
    Ipv6Addr::from_bits(0xff02_0000_0000_0000_0000_0001_ff00_0000 | a.to_bits() & 0xff_ffff)
}

/// The link address to which packets for a multicast group go (RFC 2464, section 7).
pub const fn group_mac(group: Ipv6Addr) -> Mac {
    let [a, b, c, d] = (group.to_bits() as u32).to_be_bytes();
    Mac([0x33, 0x33, a, b, c, d])
}
