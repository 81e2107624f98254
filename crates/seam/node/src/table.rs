//! The forwarding table.

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, IfaceId, Prefix, Route};

/// A row: a route and the engine that installed it.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct InstalledRoute {
    /// The route.
    pub route: Route,
    /// The index of the engine among the node's, or [`InstalledRoute::STATIC`].
    pub owner: u8,
}

impl InstalledRoute {
    /// The owner of routes from the node's configuration.
    pub const STATIC: u8 = u8::MAX;
}

/// What the packet path needs of a row.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) next_hop: Addr,
    pub(crate) iface: IfaceId,
    pub(crate) owner: u8,
}

/// Routes to prefixes. The longest prefix wins, then the least metric, then the engine that comes first.
#[derive(Clone, Debug, Default)]
pub struct PrefixTable {
    /// The best row for each single address.
    hosts: FxHashMap<Addr, InstalledRoute>,
    /// Rows for prefixes of more addresses, longest first, and rows for single addresses that are not the best.
    others: Vec<InstalledRoute>,
}

impl PrefixTable {
    /// The way to a destination.
    #[inline]
    pub(crate) fn look_up(&self, destination: Addr) -> Option<Hit> {
        let row = match self.hosts.get(&destination) {
            Some(row) => row,
            None if self.others.is_empty() => return None,
            None => self.others.iter().find(|r| r.route.destination.contains(destination))?,
        };
        Some(Hit { next_hop: row.route.next_hop, iface: row.route.iface, owner: row.owner })
    }

    /// Adds a row, or replaces its owner's row for the same prefix.
    pub(crate) fn install(&mut self, row: InstalledRoute) {
        let destination = row.route.destination;
        let Some(host) = destination.as_host() else {
            self.others.retain(|r| (r.route.destination, r.owner) != (destination, row.owner));
            return self.put_aside(row);
        };
        match self.hosts.get_mut(&host) {
            None => drop(self.hosts.insert(host, row)),
            Some(best) if best.owner == row.owner && self.others.is_empty() => *best = row,
            Some(_) => {
                self.remove(destination, row.owner);
                self.add_host(host, row);
            }
        }
    }

    /// Adds a row for an address for which this owner has none.
    fn add_host(&mut self, host: Addr, row: InstalledRoute) {
        match self.hosts.get_mut(&host) {
            None => drop(self.hosts.insert(host, row)),
            Some(best) if rank(&row) < rank(best) => {
                let old = std::mem::replace(best, row);
                self.put_aside(old);
            }
            Some(_) => self.put_aside(row),
        }
    }

    fn put_aside(&mut self, row: InstalledRoute) {
        let at = self.others.partition_point(|r| rank(r) <= rank(&row));
        self.others.insert(at, row);
    }

    /// Removes an owner's row for a prefix. Returns whether there was one.
    pub(crate) fn remove(&mut self, destination: Prefix, owner: u8) -> bool {
        if let Some(host) = destination.as_host()
            && self.hosts.get(&host).is_some_and(|r| r.owner == owner)
        {
            self.hosts.remove(&host);
            if let Some(at) = self.others.iter().position(|r| r.route.destination == destination) {
                self.hosts.insert(host, self.others.remove(at));
            }
            return true;
        }
        let before = self.others.len();
        self.others.retain(|r| (r.route.destination, r.owner) != (destination, owner));
        self.others.len() < before
    }

    /// The best row for a prefix.
    pub fn get(&self, destination: Prefix) -> Option<&InstalledRoute> {
        let host = destination.as_host().and_then(|host| self.hosts.get(&host));
        host.or_else(|| self.others.iter().find(|r| r.route.destination == destination))
    }

    /// All rows, best first among those of one prefix.
    pub fn rows(&self) -> impl Iterator<Item = &InstalledRoute> {
        self.hosts.values().chain(&self.others)
    }
    /// The prefixes of an owner's rows.
    pub(crate) fn owned(&self, owner: u8) -> Vec<Prefix> {
        let mut all: Vec<Prefix> =
            self.rows().filter(|r| r.owner == owner).map(|r| r.route.destination).collect();
        all.sort_unstable();
        all
    }
    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.others.is_empty()
    }
    pub(crate) fn clear(&mut self) {
        self.hosts.clear();
        self.others.clear();
    }
}

/// Rows with less come first.
fn rank(r: &InstalledRoute) -> (u8, Prefix, u32, u8) {
    let p = r.route.destination;
    (p.free_bits(), p, r.route.metric, r.owner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn a(last: u8) -> Addr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }
    fn row(destination: Prefix, next_hop: u8, metric: u32, owner: u8) -> InstalledRoute {
        InstalledRoute {
            route: Route { destination, next_hop: a(next_hop), iface: IfaceId(0), metric },
            owner,
        }
    }
    fn next(t: &PrefixTable, to: u8) -> Option<Addr> {
        t.look_up(a(to)).map(|h| h.next_hop)
    }

    #[test]
    fn the_longest_prefix_wins_and_then_the_least_metric() {
        let mut t = PrefixTable::default();
        t.install(row(Prefix::around(a(0), 24), 1, 1, 0));
        t.install(row(Prefix::around(a(0), 16), 2, 1, 0));
        assert_eq!(next(&t, 9), Some(a(1)));
        t.install(row(Prefix::host(a(9)), 3, 5, 0));
        t.install(row(Prefix::host(a(9)), 4, 2, 1));
        assert_eq!(next(&t, 9), Some(a(4)));
        assert!(t.remove(Prefix::host(a(9)), 1));
        assert_eq!(next(&t, 9), Some(a(3)));
        assert!(t.remove(Prefix::host(a(9)), 0) && !t.remove(Prefix::host(a(9)), 0));
        assert_eq!(next(&t, 9), Some(a(1)));
        assert_eq!(t.owned(0).len(), 2);
    }

    #[test]
    fn an_owner_has_one_row_a_prefix() {
        let mut t = PrefixTable::default();
        for (hop, metric, owner) in [(1, 1, 0), (2, 3, 1), (3, 9, 0)] {
            t.install(row(Prefix::host(a(9)), hop, metric, owner));
        }
        // The first engine's route has become the longer one.
        assert_eq!((next(&t, 9), t.rows().count()), (Some(a(2)), 2));
        t.clear();
        assert!(t.is_empty());
    }
}
