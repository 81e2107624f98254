//! What an interface knows of its neighbours: how much each sent within this second, and its link address.
//!
//! A node of a large network has a row for each of some twenty neighbours, and reads it with every packet from one. So a row is
//! small, and there is one for both.

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, AddrMap, Limits, Mac, Time};

use crate::neighbour::{Link, Neighbour};
use crate::rates::{Counted, Rates};

/// The most link addresses that are remembered: addresses can be forged.
const MAX_LINKS: u16 = 4_096;

/// One interface's neighbours.
#[derive(Clone, Debug)]
pub(crate) struct Neighbours {
    rows: AddrMap<Neighbour>,
    rates: Rates,
    /// The number of the medium, which is part of derived link addresses.
    segment: u16,
    /// How many link addresses are known.
    known: u16,
    /// Link addresses that do not follow from network addresses; `None` until there is one.
    others: Option<Box<FxHashMap<Addr, Mac>>>,
    /// Those of neighbours that were verified with a key; `None` until one was.
    pinned: Option<Box<FxHashMap<Addr, Mac>>>,
}

impl Neighbours {
    pub(crate) fn new(segment: u16) -> Self {
        let (rows, rates) = (AddrMap::default(), Rates::default());
        Self { rows, rates, segment, known: 0, others: None, pinned: None }
    }

    /// Reads what [`Neighbours::look_ahead`] and counting begin with.
    #[inline]
    pub(crate) fn touch(&self) -> u8 {
        self.rows.len() as u8 ^ self.rates.touch()
    }

    /// Reads what a packet from a neighbour will need: see [`crate::Node::look_ahead`].
    #[inline]
    pub(crate) fn look_ahead(&self, from: Addr) -> u8 {
        self.rows.look_ahead(from)
    }

    /// Counts a neighbour's packet, and says whether it is within the limits.
    pub(crate) fn admits(&mut self, limits: Limits, at: Time, from: Addr, what: Counted) -> bool {
        self.rates.admits(&mut self.rows, limits, at, from, what)
    }

    /// A neighbour's link address.
    #[inline]
    pub(crate) fn mac(&self, neighbour: Addr) -> Option<Mac> {
        match self.rows.get(neighbour)?.link {
            Link::Unknown => None,
            Link::Derived => self.derived(neighbour),
            Link::Other => self.others.as_ref()?.get(&neighbour).copied(),
        }
    }

    /// Whether that is known.
    #[inline]
    pub(crate) fn has_link(&self, neighbour: Addr) -> bool {
        self.rows.get(neighbour).is_some_and(Neighbour::has_link)
    }

    /// Who has which link address.
    pub(crate) fn links(&self) -> impl Iterator<Item = (Addr, Mac)> + '_ {
        self.rows.iter().filter_map(|(addr, _)| Some((addr, self.mac(addr)?)))
    }

    fn derived(&self, neighbour: Addr) -> Option<Mac> {
        Some(Mac::at_medium(neighbour.v4()?, self.segment))
    }

    /// A neighbour's link address was heard. Returns whether it counts: one that is verified has no other, and a crowd of forged
    /// addresses does not push out those that are known, except for one that packets wait for.
    pub(crate) fn learn(&mut self, neighbour: Addr, mac: Mac, is_awaited: bool) -> bool {
        if self.pinned(neighbour).is_some_and(|known| known != mac) {
            return false;
        }
        let known = self.mac(neighbour);
        if known == Some(mac) {
            return true;
        }
        if !neighbour.is_usable() || mac.is_group() || mac.0 == [0; 6] {
            return false;
        }
        if known.is_none() {
            if self.known >= MAX_LINKS {
                if !is_awaited {
                    return false;
                }
                self.forget_any();
            }
            self.known += 1;
        }
        self.enter(neighbour, mac);
        true
    }

    fn enter(&mut self, neighbour: Addr, mac: Mac) {
        let is_derived = self.derived(neighbour) == Some(mac);
        let link = if is_derived { Link::Derived } else { Link::Other };
        match self.rows.get_mut(neighbour) {
            Some(row) => row.link = link,
            None => self.rows.insert(neighbour, Neighbour { link, ..Neighbour::default() }),
        }
        if is_derived {
            self.others.as_mut().map(|others| others.remove(&neighbour));
        } else {
            self.others.get_or_insert_default().insert(neighbour, mac);
        }
    }

    /// Forgets any one link address.
    fn forget_any(&mut self) {
        let Some((any, _)) = self.rows.iter().find(|(_, row)| row.has_link()) else { return };
        if let Some(row) = self.rows.get_mut(any) {
            row.link = Link::Unknown;
        }
        self.rows.retain(|row| row.has_link() || row.is_counted());
        self.others.as_mut().map(|others| others.remove(&any));
        self.known -= 1;
    }

    /// Forgets all link addresses.
    pub(crate) fn forget_links(&mut self) {
        self.rows.retain(|row| {
            row.link = Link::Unknown;
            row.is_counted()
        });
        (self.known, self.others, self.pinned) = (0, None, None);
    }

    /// A neighbour that was verified with a key has this link address: no other one is learned.
    pub(crate) fn pin(&mut self, neighbour: Addr, mac: Mac) {
        let pinned = self.pinned.get_or_insert_default();
        if pinned.len() >= usize::from(MAX_LINKS) && !pinned.contains_key(&neighbour) {
            // Neighbours that still send are pinned again at once.
            pinned.clear();
        }
        pinned.insert(neighbour, mac);
    }

    /// The link address from which a neighbour was verified.
    pub(crate) fn pinned(&self, neighbour: Addr) -> Option<Mac> {
        self.pinned.as_ref()?.get(&neighbour).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_core::NodeId;

    fn addr(n: u32) -> Addr {
        NodeId(n).default_addr().into()
    }
    fn mac(n: u32) -> Mac {
        Mac::from_addr(NodeId(n).default_addr())
    }

    #[test]
    fn a_link_address_is_what_was_heard_last_derived_or_not() {
        for segment in [0, 3] {
            let mut n = Neighbours::new(segment);
            let derived = Mac::at_medium(NodeId(1).default_addr(), segment);
            for heard in [derived, mac(7), mac(8), derived, mac(7)] {
                assert!(n.learn(addr(1), heard, false));
                assert_eq!(n.mac(addr(1)), Some(heard));
                assert_eq!(n.links().collect::<Vec<_>>(), [(addr(1), heard)]);
            }
            n.forget_links();
            assert_eq!((n.mac(addr(1)), n.links().count()), (None, 0));
            assert!(!n.learn(addr(1), Mac::BROADCAST, true) && !n.learn(Addr::BROADCAST, mac(1), true));
            let v6: Addr = "fd00::1".parse().expect("an address");
            assert!(n.learn(v6, mac(1), false));
            assert_eq!((n.mac(v6), n.mac(addr(1))), (Some(mac(1)), None));
        }
    }

    #[test]
    fn a_verified_neighbour_keeps_its_link_address() {
        let mut n = Neighbours::new(0);
        n.pin(addr(1), mac(7));
        assert!(!n.learn(addr(1), mac(1), true) && n.learn(addr(1), mac(7), false));
        assert_eq!(n.mac(addr(1)), Some(mac(7)));
    }

    #[test]
    fn forged_addresses_do_not_grow_the_table_without_bound() {
        let mut n = Neighbours::new(0);
        let learned = (0..3 * u32::from(MAX_LINKS)).filter(|&k| n.learn(addr(k), mac(k), false)).count();
        assert_eq!((learned, n.links().count()), (usize::from(MAX_LINKS), usize::from(MAX_LINKS)));
        assert_eq!(n.mac(addr(0)), Some(mac(0)), "the first is still there");
        // Those that packets wait for are learned all the same.
        for awaited in 5 * u32::from(MAX_LINKS)..6 * u32::from(MAX_LINKS) {
            assert!(n.learn(addr(awaited), mac(awaited), true));
            assert_eq!(n.mac(addr(awaited)), Some(mac(awaited)));
            assert_eq!(n.rows.len(), usize::from(MAX_LINKS));
        }
        assert_eq!(n.links().count(), usize::from(MAX_LINKS));
    }
}
