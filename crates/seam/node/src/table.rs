//! The forwarding table.

use core::net::Ipv4Addr;

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, AddressList, Addressed, IfaceId, Prefix, Route};

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

/// A row for a single IPv4 address by an IPv4 neighbour, with a small metric: most rows are such ones, and a node with Hellos
/// has one for each neighbour.
#[derive(Copy, Clone, Debug)]
struct HostRow {
    destination: Ipv4Addr,
    next_hop: Ipv4Addr,
    metric: u16,
    iface: IfaceId,
    owner: u8,
}

impl Addressed for HostRow {
    fn address(&self) -> Ipv4Addr {
        self.destination
    }
}

impl HostRow {
    fn of(host: Addr, row: &InstalledRoute) -> Option<Self> {
        let Route { next_hop, iface, metric, .. } = row.route;
        let metric = u16::try_from(metric).ok()?;
        Some(Self { destination: host.v4()?, next_hop: next_hop.v4()?, metric, iface, owner: row.owner })
    }
    fn installed(&self) -> InstalledRoute {
        let Self { destination, next_hop, metric, iface, owner } = *self;
        InstalledRoute { route: Route::to_host(destination, next_hop, metric.into()).on(iface), owner }
    }
}

/// The best row for each single address.
#[derive(Clone, Debug, Default)]
struct HostRows {
    v4: AddressList<HostRow>,
    /// Rows for IPv6 addresses, by IPv6 neighbours, and with large metrics.
    others: Option<Box<FxHashMap<Addr, InstalledRoute>>>,
}

impl HostRows {
    fn get(&self, host: Addr) -> Option<InstalledRoute> {
        let row = host.v4().and_then(|a| self.v4.get(a)).map(HostRow::installed);
        row.or_else(|| self.others.as_ref()?.get(&host).copied())
    }
    fn hit(&self, host: Addr) -> Option<Hit> {
        if let Some(row) = host.v4().and_then(|a| self.v4.get(a)) {
            return Some(Hit { next_hop: row.next_hop.into(), iface: row.iface, owner: row.owner });
        }
        self.others.as_ref()?.get(&host).map(Hit::of)
    }
    /// Sets the row for an address. Returns the one that was there.
    fn insert(&mut self, host: Addr, row: &InstalledRoute) -> Option<InstalledRoute> {
        let Some(compact) = HostRow::of(host, row) else {
            let before = self.remove(host);
            self.others.get_or_insert_default().insert(host, *row);
            return before;
        };
        if let Some(known) = self.v4.get_mut(compact.destination) {
            return Some(core::mem::replace(known, compact).installed());
        }
        let before = self.others.as_mut().and_then(|others| others.remove(&host));
        self.v4.push(compact);
        before
    }
    fn remove(&mut self, host: Addr) -> Option<InstalledRoute> {
        if let Some(at) = host.v4().and_then(|a| self.v4.find(a)) {
            return Some(self.v4.swap_remove(at).installed());
        }
        self.others.as_mut()?.remove(&host)
    }
    fn iter(&self) -> impl Iterator<Item = InstalledRoute> {
        let others = self.others.iter().flat_map(|others| others.values().copied());
        self.v4.rows().iter().map(HostRow::installed).chain(others)
    }
    fn is_empty(&self) -> bool {
        self.v4.is_empty() && self.others.as_ref().is_none_or(|others| others.is_empty())
    }
}

impl Hit {
    fn of(row: &InstalledRoute) -> Self {
        Self { next_hop: row.route.next_hop, iface: row.route.iface, owner: row.owner }
    }
}

/// Routes to prefixes. The longest prefix wins, then the least metric, then the engine that comes first.
#[derive(Clone, Debug, Default)]
pub struct PrefixTable {
    hosts: HostRows,
    /// Rows for prefixes of more addresses, longest first, and rows for single addresses that are not the best.
    others: Vec<InstalledRoute>,
}

impl PrefixTable {
    /// The way to a destination.
    #[inline]
    pub(crate) fn look_up(&self, destination: Addr) -> Option<Hit> {
        match self.hosts.hit(destination) {
            None if self.others.is_empty() => None,
            None => self.others.iter().find(|r| r.route.destination.contains(destination)).map(Hit::of),
            hit => hit,
        }
    }

    /// Reads what looking up a neighbour will need.
    #[inline]
    pub(crate) fn look_ahead(&self, neighbour: Addr) -> u8 {
        neighbour.v4().map_or(0, |a| self.hosts.v4.look_ahead(a))
    }

    /// Adds a row, or replaces its owner's row for the same prefix.
    pub(crate) fn install(&mut self, row: InstalledRoute) {
        let destination = row.route.destination;
        let Some(host) = destination.as_host() else {
            self.others.retain(|r| (r.route.destination, r.owner) != (destination, row.owner));
            return self.put_aside(row);
        };
        let best = self.hosts.get(host);
        if best.is_some_and(|best| best.owner != row.owner || !self.others.is_empty()) {
            self.remove(destination, row.owner);
            self.add_host(host, row);
        } else {
            self.hosts.insert(host, &row);
        }
    }

    /// Adds a row for an address for which this owner has none.
    fn add_host(&mut self, host: Addr, row: InstalledRoute) {
        if self.hosts.get(host).is_some_and(|best| rank(&best) <= rank(&row)) {
            return self.put_aside(row);
        }
        if let Some(old) = self.hosts.insert(host, &row) {
            self.put_aside(old);
        }
    }

    fn put_aside(&mut self, row: InstalledRoute) {
        let at = self.others.partition_point(|r| rank(r) <= rank(&row));
        self.others.insert(at, row);
    }

    /// Removes an owner's row for a prefix. Returns whether there was one.
    pub(crate) fn remove(&mut self, destination: Prefix, owner: u8) -> bool {
        if let Some(host) = destination.as_host()
            && self.hosts.get(host).is_some_and(|r| r.owner == owner)
        {
            self.hosts.remove(host);
            if let Some(at) = self.others.iter().position(|r| r.route.destination == destination) {
                let next_best = self.others.remove(at);
                self.hosts.insert(host, &next_best);
            }
            return true;
        }
        let before = self.others.len();
        self.others.retain(|r| (r.route.destination, r.owner) != (destination, owner));
        self.others.len() < before
    }

    /// The best row for a prefix.
    pub fn get(&self, destination: Prefix) -> Option<InstalledRoute> {
        let host = destination.as_host().and_then(|host| self.hosts.get(host));
        host.or_else(|| self.others.iter().find(|r| r.route.destination == destination).copied())
    }

    /// All rows, best first among those of one prefix.
    pub fn rows(&self) -> impl Iterator<Item = InstalledRoute> {
        self.hosts.iter().chain(self.others.iter().copied())
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
        *self = Self::default();
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
    fn a_row_by_a_neighbour_of_the_other_family_replaces_one_and_is_replaced() {
        let mut t = PrefixTable::default();
        let by = |next_hop: Addr, owner| {
            let route = Route::to_host(a(9), next_hop, 1).on(IfaceId(2));
            InstalledRoute { route, owner }
        };
        let link_local: Addr = "fe80::7".parse().expect("an address");
        for next_hop in [a(1), link_local, a(2)] {
            t.install(by(next_hop, 0));
            assert_eq!(t.rows().collect::<Vec<_>>(), [by(next_hop, 0)]);
            let hit = t.look_up(a(9)).expect("a route");
            assert_eq!((hit.next_hop, hit.iface, hit.owner), (next_hop, IfaceId(2), 0));
        }
        // Another owner's equal row waits until the first is gone.
        t.install(by(link_local, 1));
        assert!(t.remove(Prefix::host(a(9)), 0));
        assert_eq!(t.get(Prefix::host(a(9))), Some(by(link_local, 1)));
        assert!(t.remove(Prefix::host(a(9)), 1) && t.is_empty());
    }

    #[test]
    fn a_large_metric_is_kept_as_it_is() {
        let mut t = PrefixTable::default();
        for metric in [1, 70_000, u32::MAX, 65_535] {
            let row = row(Prefix::host(a(9)), 1, metric, 0);
            t.install(row);
            assert_eq!(t.rows().collect::<Vec<_>>(), [row]);
        }
    }

    #[test]
    fn a_row_for_a_neighbour_stays_small() {
        assert_eq!(size_of::<HostRow>(), 12);
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
