//! Lists of addresses, borrowed from a packet or from a caller's slice.

use core::fmt;
use core::ops::Range;
use std::net::Ipv4Addr;

/// The addresses of a Route Request, Route Reply or Source Route, without copying them.
#[derive(Copy, Clone)]
pub struct AddrList<'a>(Inner<'a>);

#[derive(Copy, Clone)]
enum Inner<'a> {
    Wire(&'a [[u8; 4]]),
    Slice(&'a [Ipv4Addr]),
}

impl<'a> AddrList<'a> {
    /// No addresses.
    pub const EMPTY: AddrList<'static> = AddrList(Inner::Slice(&[]));

    /// The addresses in these octets; up to three octets that do not make one are left out.
    pub(crate) fn from_wire(bytes: &'a [u8]) -> Self {
        Self(Inner::Wire(bytes.as_chunks::<4>().0))
    }
    /// How many there are.
    pub fn len(&self) -> usize {
        match self.0 {
            Inner::Wire(w) => w.len(),
            Inner::Slice(s) => s.len(),
        }
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The address at index `i`, counted from 0. (The RFC counts from 1: its first address is `at(0)`.)
    pub fn at(&self, i: usize) -> Option<Ipv4Addr> {
        match self.0 {
            Inner::Wire(w) => w.get(i).map(|a| Ipv4Addr::from(*a)),
            Inner::Slice(s) => s.get(i).copied(),
        }
    }
    /// The first address.
    pub fn first(&self) -> Option<Ipv4Addr> {
        self.at(0)
    }
    /// The last address.
    pub fn last(&self) -> Option<Ipv4Addr> {
        self.at(self.len().wrapping_sub(1))
    }
    /// The addresses in order, from either end.
    pub fn iter(&self) -> AddrIter<'a> {
        AddrIter { list: *self, range: 0..self.len() }
    }
    /// Whether `a` is among them.
    pub fn contains(&self, a: Ipv4Addr) -> bool {
        self.position(a).is_some()
    }
    /// The index of the first occurrence of `a`.
    pub fn position(&self, a: Ipv4Addr) -> Option<usize> {
        self.iter().position(|x| x == a)
    }
    /// Whether an address occurs twice. Quadratic, in at most 63 addresses.
    pub fn has_duplicates(&self) -> bool {
        (1..self.len()).any(|i| self.at(i).is_some_and(|a| self.position(a) != Some(i)))
    }
}

impl<'a> From<&'a [Ipv4Addr]> for AddrList<'a> {
    fn from(s: &'a [Ipv4Addr]) -> Self {
        Self(Inner::Slice(s))
    }
}
impl<'a> From<&'a Vec<Ipv4Addr>> for AddrList<'a> {
    fn from(s: &'a Vec<Ipv4Addr>) -> Self {
        Self(Inner::Slice(s))
    }
}
impl PartialEq for AddrList<'_> {
    fn eq(&self, o: &Self) -> bool {
        self.iter().eq(o.iter())
    }
}
impl Eq for AddrList<'_> {}
impl fmt::Debug for AddrList<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
impl<'a> IntoIterator for AddrList<'a> {
    type Item = Ipv4Addr;
    type IntoIter = AddrIter<'a>;
    fn into_iter(self) -> AddrIter<'a> {
        self.iter()
    }
}
impl<'a> IntoIterator for &AddrList<'a> {
    type Item = Ipv4Addr;
    type IntoIter = AddrIter<'a>;
    fn into_iter(self) -> AddrIter<'a> {
        self.iter()
    }
}

/// Iterates over an [`AddrList`], from either end.
#[derive(Clone, Debug)]
pub struct AddrIter<'a> {
    list: AddrList<'a>,
    range: Range<usize>,
}

impl Iterator for AddrIter<'_> {
    type Item = Ipv4Addr;
    fn next(&mut self) -> Option<Ipv4Addr> {
        self.range.next().and_then(|i| self.list.at(i))
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.range.size_hint()
    }
}
impl DoubleEndedIterator for AddrIter<'_> {
    fn next_back(&mut self) -> Option<Ipv4Addr> {
        self.range.next_back().and_then(|i| self.list.at(i))
    }
}
impl ExactSizeIterator for AddrIter<'_> {}
