//! The Internet checksum (RFC 1071) and its incremental update (RFC 1624).

use std::net::{Ipv4Addr, Ipv6Addr};

use wayhop_core::Addr;

/// The ones' complement sum of the 16-bit words of `data`, an odd last octet padded with zero, added to `start`.
///
/// The result is folded to 16 bits and not complemented, so that sums can be chained. Every part but the last must have
/// an even length.
pub fn sum(start: u16, data: &[u8]) -> u16 {
    // In the machine's own order, eight octets at a time: the sum only has its octets swapped by that (RFC 1071, section 2,
    // points B and C). Most packets are short, so there is one addition for each word, and its carry.
    let (words, rest) = data.as_chunks::<8>();
    let (mut acc, mut carries) = (u64::from(start.to_be()), 0);
    for w in words {
        let (sum, carry) = acc.overflowing_add(u64::from_ne_bytes(*w));
        acc = sum;
        carries += u64::from(carry);
    }
    let (halves, rest) = rest.as_chunks::<4>();
    let half = halves.first().map_or(0, |h| u32::from_ne_bytes(*h));
    let last = match *rest {
        [a] => [a, 0, 0, 0],
        [a, b] => [a, b, 0, 0],
        [a, b, c] => [a, b, c, 0],
        _ => [0; 4],
    };
    let rest = u64::from(half) + u64::from(u32::from_ne_bytes(last));
    u16::from_be(fold((acc >> 32) + (acc & 0xffff_ffff) + carries + rest))
}

/// The ones' complement sum of the 16-bit words of `acc`.
#[inline]
const fn fold(acc: u64) -> u16 {
    // At most 2^33, then 2^18, then 2^16 and 2 more.
    let acc = (acc >> 32) + (acc & 0xffff_ffff);
    let acc = (acc >> 16) + (acc & 0xffff);
    let acc = (acc >> 16) + (acc & 0xffff);
    ((acc >> 16) + (acc & 0xffff)) as u16
}

/// The sum of the IPv4 pseudo-header (RFC 768): addresses, protocol and the length of the transport packet.
#[inline]
pub fn pseudo_header(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, len: u16) -> u16 {
    let words = [src.to_bits(), dst.to_bits(), protocol.into(), len.into()];
    fold(words.into_iter().map(u64::from).sum())
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
#[inline]
pub fn update(checksum: u16, old: u16, new: u16) -> u16 {
    !fold(u64::from(!checksum) + u64::from(!old) + u64::from(new))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// By the definition: 16-bit words one after the other, each carry added at once.
    fn plainly(start: u16, octets: &[u8]) -> u16 {
        octets.chunks(2).fold(start, |sum, word| {
            let word = u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)]);
            let (sum, carry) = sum.overflowing_add(word);
            sum + u16::from(carry)
        })
    }

    proptest! {
        #[test]
        fn sums_are_those_of_the_definition(
            start: u16, octets: Vec<u8>, ends: [u32; 2], protocol: u8, len: u16, old: u16, new: u16,
        ) {
            prop_assert_eq!(sum(start, &octets), plainly(start, &octets));
            let mut header = ends.map(u32::to_be_bytes).concat();
            header.extend([0, protocol]);
            header.extend(len.to_be_bytes());
            let [src, dst] = ends.map(Ipv4Addr::from_bits);
            prop_assert_eq!(pseudo_header(src, dst, protocol, len), plainly(0, &header));
            let three = [!start, !old, new].map(u16::to_be_bytes).concat();
            prop_assert_eq!(update(start, old, new), !plainly(0, &three));
        }
    }
}
