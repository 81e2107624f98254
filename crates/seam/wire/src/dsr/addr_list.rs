//! Lists of addresses.

use std::net::Ipv4Addr;

use crate::list::{List, ListItem};

/// The addresses of a Route Request, Route Reply or Source Route.
pub type AddrList<'a> = List<'a, Ipv4Addr>;

impl ListItem for Ipv4Addr {
    type Octets = [u8; 4];
    fn read(octets: &[u8; 4]) -> Self {
        Self::from(*octets)
    }
}

impl<'a> List<'a, Ipv4Addr> {
    /// The addresses in these octets; up to three octets that do not make one are left out.
    pub(crate) fn of_octets(octets: &'a [u8]) -> Self {
        Self::from_wire(octets.as_chunks().0)
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
