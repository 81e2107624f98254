//! Addresses, and lists of them.

use core::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};

use crate::Error;
use crate::bytes::put;
use crate::list::{List, ListItem};

/// An address in messages: of the family of the packets that carry them. Messages in IPv6 packets are those of IPv4 with longer
/// addresses (section 17).
pub trait Address: ListItem + fmt::Display {
    /// Its length in octets.
    const LEN: usize;
    /// Octets as addresses; `None` if some are left over.
    fn split(octets: &[u8]) -> Option<&[Self::Octets]>;
    /// Writes it from the octet `at` on.
    fn put(self, b: &mut [u8], at: usize);
}

impl ListItem for Ipv6Addr {
    type Octets = [u8; 16];
    fn read(octets: &[u8; 16]) -> Self {
        Self::from(*octets)
    }
}

impl Address for Ipv4Addr {
    const LEN: usize = 4;
    fn split(octets: &[u8]) -> Option<&[[u8; 4]]> {
        whole(octets.as_chunks())
    }
    fn put(self, b: &mut [u8], at: usize) {
        put(b, at, self.octets());
    }
}

impl Address for Ipv6Addr {
    const LEN: usize = 16;
    fn split(octets: &[u8]) -> Option<&[[u8; 16]]> {
        whole(octets.as_chunks())
    }
    fn put(self, b: &mut [u8], at: usize) {
        put(b, at, self.octets());
    }
}

/// Chunks without a remainder.
const fn whole<'a, T>((chunks, rest): (&'a [T], &[u8])) -> Option<&'a [T]> {
    if rest.is_empty() { Some(chunks) } else { None }
}

/// The first address of these octets, which are enough.
pub(super) fn address_at<A: Address>(b: &[u8], at: usize) -> Option<A> {
    A::split(b.get(at..at + A::LEN)?)?.first().map(A::read)
}

/// The addresses that fill these octets.
pub(super) fn items<A: Address>(octets: &[u8]) -> Result<List<'_, A>, Error> {
    A::split(octets).map(List::from_wire).ok_or(Error::Length)
}

/// Writes addresses one behind the other.
pub(super) fn put_items<A: Address>(b: &mut [u8], addresses: List<'_, A>) {
    for (i, a) in addresses.iter().enumerate() {
        a.put(b, A::LEN * i);
    }
}
