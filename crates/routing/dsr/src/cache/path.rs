//! A route as a sequence of nodes, both ends included.

use core::fmt;
use core::hash::{Hash, Hasher};
use std::net::Ipv4Addr;

/// The most nodes that a [`Path`] holds. The format allows 65 (RFC 4728 section 6.7); a path of fixed size needs no
/// allocation.
pub const MAX_NODES: usize = 32;
/// The most hops that a [`Path`] holds.
pub const MAX_HOPS: usize = MAX_NODES - 1;

/// A sequence of nodes from a first to a last, without repetition when it comes out of a cache.
///
/// Its first and its last hop may be flagged External (RFC 4728 section 4.1): not a link but some way through another
/// network.
#[derive(Copy, Clone)]
pub struct Path {
    len: u8,
    external: u8,
    nodes: [Ipv4Addr; MAX_NODES],
}

/// A node's place in a set of 64: neighbouring addresses have different ones.
pub(super) fn bit(a: Ipv4Addr) -> u64 {
    1 << (a.to_bits() & 63)
}

/// Whether a node occurs twice.
pub(crate) fn repeats(nodes: impl Iterator<Item = Ipv4Addr> + Clone) -> bool {
    // In most short routes each node has a place of its own in the set: none needs to be compared.
    let (set, len) = nodes.clone().fold((0, 0), |(set, len), a| (set | bit(a), len + 1));
    if set.count_ones() == len {
        return false;
    }
    // In longer ones a node is compared with those before it if one of them has the same last octet, which is rare.
    let all = nodes.clone();
    let mut octets = [0u64; 4];
    nodes.enumerate().any(|(i, a)| {
        let octets = &mut octets[usize::from(a.octets()[3] / 64)];
        let is_taken = *octets & bit(a) != 0;
        *octets |= bit(a);
        is_taken && all.clone().take(i).any(|before| before == a)
    })
}

const FIRST: u8 = 1;
const LAST: u8 = 2;

impl Path {
    /// The path without nodes.
    pub const EMPTY: Self = Self { len: 0, external: 0, nodes: [Ipv4Addr::UNSPECIFIED; MAX_NODES] };

    /// The path over these nodes; what does not fit is cut off.
    #[inline]
    pub fn from_nodes(nodes: impl IntoIterator<Item = Ipv4Addr>) -> Self {
        let mut p = Self::EMPTY;
        for a in nodes {
            if !p.push(a) {
                break;
            }
        }
        p
    }

    /// The path from a node over these; what does not fit is cut off.
    pub fn starting_at(first: Ipv4Addr, rest: &[Ipv4Addr]) -> Self {
        let mut p = Self::EMPTY;
        let len = rest.len().min(MAX_HOPS);
        p.nodes[0] = first;
        p.nodes[1..=len].copy_from_slice(&rest[..len]);
        p.len = len as u8 + 1;
        p
    }

    /// Appends a node; false when there is no room.
    #[inline]
    pub fn push(&mut self, a: Ipv4Addr) -> bool {
        let Some(slot) = self.nodes.get_mut(usize::from(self.len)) else { return false };
        *slot = a;
        self.len += 1;
        true
    }
    /// Its nodes.
    #[inline]
    pub fn nodes(&self) -> &[Ipv4Addr] {
        &self.nodes[..usize::from(self.len)]
    }
    /// How many nodes.
    #[inline]
    pub fn len(&self) -> usize {
        usize::from(self.len)
    }
    /// Whether it has no nodes.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    /// How many hops.
    #[inline]
    pub fn hops(&self) -> usize {
        self.len().saturating_sub(1)
    }
    /// The first node.
    pub fn first(&self) -> Option<Ipv4Addr> {
        self.nodes().first().copied()
    }
    /// The last node.
    pub fn last(&self) -> Option<Ipv4Addr> {
        self.nodes().last().copied()
    }
    /// The node after the first.
    pub fn next_hop(&self) -> Option<Ipv4Addr> {
        self.nodes().get(1).copied()
    }
    /// The nodes between the first and the last: what a Source Route option lists.
    pub fn between(&self) -> &[Ipv4Addr] {
        self.nodes().get(1..self.hops()).unwrap_or(&[])
    }
    /// Whether a node is on it.
    pub fn contains(&self, a: Ipv4Addr) -> bool {
        self.nodes().contains(&a)
    }
    /// Where a node is on it.
    #[inline]
    pub fn position(&self, a: Ipv4Addr) -> Option<usize> {
        self.nodes().iter().position(|&n| n == a)
    }
    /// Whether the two nodes follow each other on it, in this order.
    pub fn has_link(&self, from: Ipv4Addr, to: Ipv4Addr) -> bool {
        self.link(from, to).is_some()
    }
    /// Where the two nodes follow each other on it, in this order: the first one's place.
    pub fn link(&self, from: Ipv4Addr, to: Ipv4Addr) -> Option<usize> {
        self.nodes().windows(2).position(|w| w[0] == from && w[1] == to)
    }
    /// Whether a node occurs twice.
    pub fn repeats(&self) -> bool {
        repeats(self.nodes().iter().copied())
    }
    /// Cuts it to its first `len` nodes.
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        if len < self.len() {
            self.len = len as u8;
            self.external &= !LAST;
            if len < 2 {
                self.external = 0;
            }
        }
    }
    /// The same nodes in the opposite order.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let mut p = *self;
        p.nodes[..self.len()].reverse();
        p.external = (self.external & FIRST) << 1 | (self.external & LAST) >> 1;
        p
    }
    /// Flags the first hop as External.
    pub fn set_first_external(&mut self, on: bool) {
        self.external = self.external & !FIRST | u8::from(on);
    }
    /// Flags the last hop as External.
    pub fn set_last_external(&mut self, on: bool) {
        self.external = self.external & !LAST | u8::from(on) << 1;
    }
    /// Whether the first hop is External.
    pub fn first_external(&self) -> bool {
        Self::external_ends(self.external)[0]
    }
    /// Whether the last hop is External.
    pub fn last_external(&self) -> bool {
        Self::external_ends(self.external)[1]
    }
    /// Which hops are External, for [`Path::from_parts`].
    pub(super) fn flags(&self) -> u8 {
        self.external
    }
    /// Whether, by these flags, the first hop is External, and the last.
    pub(super) fn external_ends(flags: u8) -> [bool; 2] {
        [flags & FIRST != 0, flags & LAST != 0]
    }
    /// The path over these nodes, with the flags of another one.
    pub(super) fn from_parts(nodes: &[Ipv4Addr], flags: u8) -> Self {
        let mut p = Self { len: nodes.len() as u8, external: flags, ..Self::EMPTY };
        p.nodes[..nodes.len()].copy_from_slice(nodes);
        p
    }
    /// Whether any hop is External.
    pub fn any_external(&self) -> bool {
        self.external != 0
    }
}

impl PartialEq for Path {
    fn eq(&self, o: &Self) -> bool {
        self.external == o.external && self.nodes() == o.nodes()
    }
}
impl Eq for Path {}

impl Hash for Path {
    fn hash<H: Hasher>(&self, to: &mut H) {
        (self.external, self.nodes()).hash(to);
    }
}

impl fmt::Display for Path {
    /// The addresses, separated by spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, a) in self.nodes().iter().enumerate() {
            if i > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{a}")?;
        }
        Ok(())
    }
}
impl fmt::Debug for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{self}]")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_that_occurs_twice_is_told_from_one_with_the_same_last_octet() {
        for (nodes, expect) in [
            (&[1, 2, 3, 64][..], false),
            (&[1, 65, 129], false),
            (&[1, 257, 513], false),
            (&[1, 257, 2, 257], true),
            (&[1, 65, 1], true),
            (&[7, 7], true),
            (&[], false),
        ] {
            let nodes = nodes.iter().map(|n| Ipv4Addr::from_bits(0x0a00_0000 + n));
            assert_eq!(repeats(nodes.clone()), expect, "{nodes:?}");
        }
    }
}
