//! A small map from network addresses.

use core::net::Ipv4Addr;

use rustc_hash::FxHashMap;

use crate::{Addr, AddressList};

/// Values by network address of either family.
///
/// It is compact for IPv4 addresses, for tables that a million nodes have; those of IPv6 are in a hash table of their own,
/// which a node without any does not have.
#[derive(Clone, Debug)]
pub struct AddrMap<V> {
    v4: AddressList<(Ipv4Addr, V)>,
    v6: Option<Box<FxHashMap<Addr, V>>>,
}

impl<V> Default for AddrMap<V> {
    fn default() -> Self {
        Self { v4: AddressList::default(), v6: None }
    }
}

impl<V: Copy> AddrMap<V> {
    /// The value of an address.
    #[inline]
    pub fn get(&self, address: Addr) -> Option<V> {
        match address.v4() {
            Some(a) => self.v4.get(a).map(|row| row.1),
            None => self.v6.as_ref()?.get(&address).copied(),
        }
    }
    /// Reads memory that a search for an address most likely needs: see [`AddressList::look_ahead`].
    #[inline]
    #[must_use]
    pub fn look_ahead(&self, address: Addr) -> u8 {
        address.v4().map_or(0, |a| self.v4.look_ahead(a))
    }
    /// The value of an address, to change it.
    #[inline]
    pub fn get_mut(&mut self, address: Addr) -> Option<&mut V> {
        match address.v4() {
            Some(a) => self.v4.get_mut(a).map(|row| &mut row.1),
            None => self.v6.as_mut()?.get_mut(&address),
        }
    }
    /// Whether an address has a value.
    pub fn contains(&self, address: Addr) -> bool {
        self.get(address).is_some()
    }
    /// Gives an address a value, in place of the one that it has.
    pub fn insert(&mut self, address: Addr, value: V) {
        match (address.v4(), self.get_mut(address)) {
            (_, Some(known)) => *known = value,
            (Some(a), None) => self.v4.push((a, value)),
            (None, None) => drop(self.v6.get_or_insert_default().insert(address, value)),
        }
    }
    /// Keeps the values for which `keeps` holds.
    pub fn retain(&mut self, mut keeps: impl FnMut(&mut V) -> bool) {
        self.v4.retain(|row| keeps(&mut row.1));
        if let Some(v6) = &mut self.v6 {
            v6.retain(|_, value| keeps(value));
        }
    }
    /// How many addresses have a value.
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.as_ref().map_or(0, |v6| v6.len())
    }
    /// Whether none has.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Whether one more address takes more memory.
    pub fn is_at_capacity(&self) -> bool {
        self.len() >= self.capacity()
    }
    /// Addresses that it has memory for.
    pub fn capacity(&self) -> usize {
        self.v4.capacity() + self.v6.as_ref().map_or(0, |v6| v6.capacity())
    }
    /// The addresses and their values: those of IPv4 first, in the order in which they came unless some were removed.
    pub fn iter(&self) -> impl Iterator<Item = (Addr, V)> + '_ {
        let v4 = self.v4.rows().iter().map(|&(a, value)| (a.into(), value));
        v4.chain(self.v6.iter().flat_map(|v6| v6.iter().map(|(a, value)| (*a, *value))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_both_families_are_kept_apart_and_found() {
        let mut map = AddrMap::default();
        let v4: Vec<Addr> = (0..40).map(|n| Ipv4Addr::new(10, 0, 0, n).into()).collect();
        let v6: Addr = "fd00::1".parse().expect("an address");
        v4.iter().chain([&v6]).zip(0..).for_each(|(&a, n)| map.insert(a, n));
        map.insert(v6, 99);
        map.insert(v4[3], 98);
        assert_eq!(
            (map.len(), map.get(v6), map.get(v4[3]), map.get(v4[39])),
            (41, Some(99), Some(98), Some(39))
        );
        map.retain(|n| *n >= 39);
        let all: Vec<_> = map.iter().collect();
        assert_eq!(all, [(v4[3], 98), (v4[39], 39), (v6, 99)]);
        map.retain(|_| false);
        assert!(map.is_empty() && !map.contains(v6));
    }
}
