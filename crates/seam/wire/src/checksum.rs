//! The Internet checksum (RFC 1071) and its incremental update (RFC 1624).

use std::net::{Ipv4Addr, Ipv6Addr};

use wayhop_core::Addr;

/// The ones' complement sum of the 16-bit words of `data`, an odd last octet padded with zero, added to `start`.
///
/// The result is folded to 16 bits and not complemented, so that sums can be chained. Every part but the last must have
/// an even length.
pub fn sum(start: u16, data: &[u8]) -> u16 {
    // In the machine's own order, four octets at a time: the sum only has its octets swapped by that (RFC 1071, section 2,
    // points B and C).
    let mut acc = u64::from(start.to_be());
    let (words, rest) = data.as_chunks::<4>();
    for w in words {
        acc += u64::from(u32::from_ne_bytes(*w));
    }
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    acc += u64::from(u32::from_ne_bytes(last));
    // No slice is long enough for more than 2^32 words.
    while acc > 0xffff {
        acc = (acc & 0xffff) + (acc >> 16);
    }
    u16::from_be(acc as u16)
}

/// The sum of the IPv4 pseudo-header (RFC 768): addresses, protocol and the length of the transport packet.
pub fn pseudo_header(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, len: u16) -> u16 {
    let s = sum(sum(0, &src.octets()), &dst.octets());
    sum(sum(s, &[0, protocol]), &len.to_be_bytes())
}

/// The sum of the IPv6 pseudo-header (RFC 8200, section 8.1).
pub fn pseudo_header6(src: Ipv6Addr, dst: Ipv6Addr, protocol: u8, len: u32) -> u16 {
    let s = sum(sum(0, &src.octets()), &dst.octets());
    sum(sum(s, &len.to_be_bytes()), &[0, 0, 0, protocol])
}

/// The sum of the pseudo-header between addresses of either family.
#[inline]
pub(crate) fn pseudo(src: Addr, dst: Addr, protocol: u8, len: u16) -> u16 {
    if let (Some(src), Some(dst)) = (src.v4(), dst.v4()) {
        return pseudo_header(src, dst, protocol, len);
    }
    let [src, dst] = [src, dst].map(|a| Ipv6Addr::from_bits(a.to_bits()));
    pseudo_header6(src, dst, protocol, len.into())
}

/// The checksum field after one 16-bit word under it changed from `old` to `new`: equation 3 of RFC 1624, which has no
/// trouble with the two zeros of ones' complement.
pub fn update(checksum: u16, old: u16, new: u16) -> u16 {
    let s = sum(!checksum, &(!old).to_be_bytes());
    !sum(s, &new.to_be_bytes())
}
