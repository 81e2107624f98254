//! How much each neighbour sent within the current second, so that a flooding neighbour only spends
//! its own share.
//!
//! Time is divided into seconds; each neighbour has a count for each class of packets, which restarts every
//! second. Neighbours that were heard in this second or the last one share what all of them may send.

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, AddrMap, Limits, Time};

use crate::neighbour::Neighbour;

/// The most neighbours with a count of their own: addresses can be forged. All others share one.
const MAX_NEIGHBOURS: u16 = 1_024;
/// What a neighbour may send however many there are: a forged crowd must not silence it.
const LEAST_SHARE: u16 = 2;
/// Seconds after which the count of a neighbour that was not heard makes room for another.
const IDLE: u32 = 10;
/// Counts of a neighbour: those of the classes of routing packets, of what was overheard, and of ARP requests.
const COUNTS: usize = 8;
/// The last class with a count of its own; later ones share it.
const LAST_CLASS: u8 = 5;

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// A routing packet of this class.
    Routing(u8),
    /// A routing packet for another node.
    Overheard,
    /// An ARP request.
    Arp,
}

impl Counted {
    fn place(self) -> u8 {
        match self {
            Self::Routing(class) => class.min(LAST_CLASS),
            Self::Overheard => LAST_CLASS + 1,
            Self::Arp => LAST_CLASS + 2,
        }
    }
}

/// Packets by second, neighbour and class.
type FurtherCounts = FxHashMap<(u32, Addr, u8), u16>;

/// What the counts of one interface's neighbours have in common.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rates {
    /// A neighbour's row counts the class of which its first packet in a second is: most neighbours send one class, such as Hellos.
    /// These are the counts of other classes; `None` until there is one.
    further: Option<Box<FurtherCounts>>,
    /// Neighbours with a count of their own.
    counted: u16,
    /// That of all neighbours without a count of their own, by class.
    others: [u16; COUNTS],
    others_second: u32,
    second: u32,
    /// Neighbours heard in this second, and in the one before.
    heard: u16,
    heard_before: u16,
    /// The second in which idle neighbours were last looked for.
    looked: u32,
}

impl Rates {
    /// Reads what counting begins with.
    #[inline]
    pub(crate) fn touch(&self) -> u8 {
        self.second as u8
    }

    /// Counts a packet, and says whether it is within the limits.
    pub(crate) fn admits(
        &mut self,
        neighbours: &mut AddrMap<Neighbour>,
        limits: Limits,
        at: Time,
        from: Addr,
        what: Counted,
    ) -> bool {
        let second = (at.as_nanos() / 1_000_000_000) as u32;
        if second != self.second {
            let is_next = second == self.second.wrapping_add(1);
            self.heard_before = if is_next { self.heard } else { 0 };
            (self.second, self.heard) = (second, 0);
            if let Some(further) = &mut self.further {
                further.clear();
            }
        }
        let count = self.count(neighbours, second, from, what.place());
        let is_within = |limit: u16| limit == 0 || count <= limit;
        match what {
            Counted::Routing(_) | Counted::Overheard => {
                is_within(limits.routing_per_neighbour)
                    && (count <= LEAST_SHARE || self.is_within_share(limits, count))
            }
            Counted::Arp => is_within(limits.arp_per_neighbour),
        }
    }

    /// Whether this many packets are at most a neighbour's share of what all may send.
    fn is_within_share(&self, limits: Limits, count: u16) -> bool {
        let neighbours = u32::from(self.heard.max(self.heard_before));
        limits.routing_total == 0 || u32::from(count) * neighbours <= u32::from(limits.routing_total)
    }

    /// Counts a packet of a class: how many of it came from its neighbour in this second, this one included.
    fn count(&mut self, neighbours: &mut AddrMap<Neighbour>, second: u32, from: Addr, place: u8) -> u16 {
        let count = if let Some(neighbour) = neighbours.get_mut(from)
            && neighbour.is_counted()
        {
            if neighbour.second != second {
                self.heard += 1;
                neighbour.begin(second, place);
                return 1;
            }
            if neighbour.place == place {
                &mut neighbour.count
            } else {
                self.further.get_or_insert_default().entry((second, from, place)).or_default()
            }
        } else if self.make_room(neighbours) {
            self.heard += 1;
            self.counted += 1;
            if !neighbours.contains(from) {
                neighbours.insert(from, Neighbour::default());
            }
            if let Some(neighbour) = neighbours.get_mut(from) {
                neighbour.begin(second, place);
            }
            return 1;
        } else {
            if self.others_second != second {
                self.heard += 1;
                (self.others_second, self.others) = (second, [0; COUNTS]);
            }
            &mut self.others[usize::from(place)]
        };
        *count = count.saturating_add(1);
        *count
    }

    /// Before the table grows for another neighbour, or where it may not, forgets the counts of those that were not heard for long; once
    /// a second at most. Returns whether the neighbour may have a count of its own.
    fn make_room(&mut self, neighbours: &mut AddrMap<Neighbour>) -> bool {
        let is_full = neighbours.is_at_capacity() || self.counted >= MAX_NEIGHBOURS;
        if is_full && self.looked != self.second {
            self.looked = self.second;
            let now = self.second;
            neighbours.retain(|neighbour| {
                if neighbour.is_counted() && now.wrapping_sub(neighbour.second) >= IDLE {
                    self.counted -= 1;
                    neighbour.count = 0;
                }
                neighbour.is_counted() || neighbour.has_link()
            });
        }
        self.counted < MAX_NEIGHBOURS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_core::{NodeId, Span};

    const LIMITS: Limits = Limits { routing_per_neighbour: 10, routing_total: 40, arp_per_neighbour: 3 };
    const REQUEST: Counted = Counted::Routing(0);

    fn neighbour(n: u32) -> Addr {
        NodeId(n).default_addr().into()
    }
    fn ms(t: u64) -> Time {
        Time::ZERO + Span::from_millis(t)
    }
    /// The counts and the table.
    #[derive(Default)]
    struct Counts(Rates, AddrMap<Neighbour>);

    impl Counts {
        fn admits(&mut self, limits: Limits, at: Time, from: Addr, what: Counted) -> bool {
            self.0.admits(&mut self.1, limits, at, from, what)
        }
    }

    /// How many of a hundred packets are within the limits.
    fn admitted(r: &mut Counts, at: Time, from: Addr, what: Counted) -> usize {
        (0..100).filter(|_| r.admits(LIMITS, at, from, what)).count()
    }

    #[test]
    fn a_neighbour_spends_its_own_share_of_each_class_in_each_second() {
        let mut r = Counts::default();
        assert_eq!(admitted(&mut r, ms(10), neighbour(1), REQUEST), 10);
        assert_eq!(admitted(&mut r, ms(500), neighbour(1), REQUEST), 0);
        assert_eq!(admitted(&mut r, ms(500), neighbour(1), Counted::Routing(1)), 10);
        assert_eq!(admitted(&mut r, ms(500), neighbour(1), Counted::Overheard), 10);
        assert_eq!(admitted(&mut r, ms(500), neighbour(1), Counted::Arp), 3);
        assert_eq!(admitted(&mut r, ms(999), neighbour(2), REQUEST), 10);
        assert_eq!(admitted(&mut r, ms(1_000), neighbour(1), REQUEST), 10);
    }

    #[test]
    fn neighbours_share_what_all_may_send() {
        let mut r = Counts::default();
        for n in 0..8 {
            r.admits(LIMITS, ms(0), neighbour(n), REQUEST);
        }
        // 40 for eight neighbours.
        for n in 0..8 {
            assert_eq!(admitted(&mut r, ms(1_000), neighbour(n), REQUEST), 5, "neighbour {n}");
        }
    }

    #[test]
    fn a_forged_crowd_neither_silences_a_neighbour_nor_fills_the_memory() {
        let mut r = Counts::default();
        assert!(r.admits(LIMITS, ms(0), neighbour(0), REQUEST));
        for second in 1..20 {
            for n in 0..30_000 {
                r.admits(LIMITS, ms(1_000 * second), neighbour(1 + n), REQUEST);
            }
            assert_eq!(
                admitted(&mut r, ms(1_000 * second + 1), neighbour(0), REQUEST),
                usize::from(LEAST_SHARE)
            );
        }
        assert!(r.1.len() <= usize::from(MAX_NEIGHBOURS));
    }

    #[test]
    fn neighbours_that_left_make_room_for_others() {
        let mut r = Counts::default();
        for n in 0..5_000_u32 {
            // Each is heard for a second, four of them at a time.
            assert!(r.admits(LIMITS, ms(250 * u64::from(n)), neighbour(n), REQUEST));
        }
        assert!(r.1.capacity() < 128, "{}", r.1.capacity());
    }
}
