//! On which interfaces neighbours were heard: how a node with several chooses one for a neighbour.

use core::cmp::Reverse;

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, IfaceId, Span, Time};

/// The most neighbours that are remembered: addresses can be forged.
const MAX_NEIGHBOURS: usize = 4_096;
/// A neighbour that is heard on several interfaces is heard on all of them within this: by a broadcast, which leaves by
/// each. One on which it was not heard for longer than that, though it spoke elsewhere, may have failed.
const WINDOW: Span = Span::from_secs(1);

/// The interfaces of each neighbour, in the order in which it was last heard on them.
type ByNeighbour = FxHashMap<Addr, Vec<(IfaceId, Time)>>;

/// The interfaces on which each neighbour was heard. Kept only by nodes with several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Heard {
    /// `None` at the many nodes with a single interface.
    table: Option<Box<Table>>,
}

#[derive(Clone, Debug, Default)]
struct Table {
    on: ByNeighbour,
    /// In order: the neighbours for whom the link layer does not do as it does for one of whom nothing was heard, that is
    /// acknowledge or not.
    exceptions: Vec<Addr>,
}

impl Heard {
    /// A neighbour was heard on an interface.
    pub(crate) fn note(&mut self, at: Time, neighbour: Addr, iface: IfaceId) {
        let table = self.table.get_or_insert_default();
        let all = &mut table.on;
        if all.len() >= MAX_NEIGHBOURS && !all.contains_key(&neighbour) {
            // Whoever still speaks is learned again at once.
            all.clear();
            table.exceptions.clear();
        }
        let on = all.entry(neighbour).or_default();
        if let Some(last) = on.last_mut().filter(|(i, _)| *i == iface) {
            last.1 = at;
            return;
        }
        on.retain(|(i, _)| *i != iface);
        on.push((iface, at));
    }

    /// A frame for the neighbour was not acknowledged on an interface: it counts again when the neighbour is heard there.
    pub(crate) fn forget(&mut self, neighbour: Addr, iface: IfaceId) {
        if let Some(on) = self.table.as_mut().and_then(|t| t.on.get_mut(&neighbour)) {
            on.retain(|(i, _)| *i != iface);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.table = None;
    }

    /// The neighbours for whom the link layer does otherwise than for one of whom nothing was heard, in order.
    #[inline]
    pub(crate) fn exceptions(&self) -> &[Addr] {
        self.table.as_ref().map_or(&[], |t| &t.exceptions)
    }

    /// Whether a neighbour is one of them.
    pub(crate) fn set_exception(&mut self, neighbour: Addr, is_one: bool) {
        let Some(table) = &mut self.table else { return };
        let has_entry = table.on.contains_key(&neighbour);
        match (table.exceptions.binary_search(&neighbour), is_one && has_entry) {
            (Err(place), true) => table.exceptions.insert(place, neighbour),
            (Ok(place), false) => drop(table.exceptions.remove(place)),
            _ => {}
        }
    }

    pub(crate) fn clear_exceptions(&mut self) {
        if let Some(table) = &mut self.table {
            table.exceptions.clear();
        }
    }

    /// The neighbours that were heard.
    pub(crate) fn neighbours(&self) -> impl Iterator<Item = Addr> + '_ {
        self.table.iter().flat_map(|t| t.on.keys().copied())
    }

    /// The interface for a neighbour. Of those that are up and on which it was heard about when it was last heard at all:
    /// the one of the lowest metric; of equals, the one on which it was heard last. `metric` has none for an interface
    /// that is down.
    pub(crate) fn choose(&self, neighbour: Addr, metric: impl Fn(IfaceId) -> Option<u8>) -> Option<IfaceId> {
        let on = self.table.as_ref()?.on.get(&neighbour)?;
        let up = || on.iter().enumerate().filter_map(|(k, &(i, at))| Some((metric(i)?, Reverse(k), i, at)));
        let (.., last) = up().next_back()?;
        up().filter(|(.., at)| *at + WINDOW >= last).min().map(|(_, _, iface, _)| iface)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_core::NodeId;

    const RADIO: IfaceId = IfaceId(0);
    const OTHER: IfaceId = IfaceId(1);
    const WIRE: IfaceId = IfaceId(2);

    /// A wire is better than a radio, while it is whole.
    fn metric(is_whole: bool) -> impl Fn(IfaceId) -> Option<u8> + Copy {
        move |i| if i == WIRE { is_whole.then_some(0) } else { Some(1) }
    }
    fn ms(t: u64) -> Time {
        Time::ZERO + Span::from_millis(t)
    }

    #[test]
    fn the_last_radio_wins_and_a_wire_wins_over_radios_while_the_neighbour_speaks_on_it() {
        let (mut h, n) = (Heard::default(), Addr::from(NodeId(7).default_addr()));
        assert_eq!(h.choose(n, metric(true)), None);
        h.note(ms(0), n, RADIO);
        h.note(ms(1), n, OTHER);
        assert_eq!(h.choose(n, metric(true)), Some(OTHER));
        h.note(ms(2), n, WIRE);
        h.note(ms(3), n, RADIO);
        assert_eq!(h.choose(n, metric(true)), Some(WIRE));
        // The wire is silent while the radio is not: it may have failed.
        h.note(ms(1_500), n, RADIO);
        assert_eq!(h.choose(n, metric(true)), Some(RADIO));
    }

    #[test]
    fn one_that_is_down_or_did_not_answer_does_not_count() {
        let (mut h, n) = (Heard::default(), Addr::from(NodeId(7).default_addr()));
        h.note(ms(0), n, RADIO);
        h.note(ms(5_000), n, WIRE);
        let without_wire = metric(false);
        assert_eq!(h.choose(n, without_wire), Some(RADIO));
        h.note(ms(5_001), n, OTHER);
        h.forget(n, OTHER);
        assert_eq!(h.choose(n, without_wire), Some(RADIO));
        h.note(ms(5_002), n, OTHER);
        assert_eq!(h.choose(n, without_wire), Some(OTHER));
        h.forget(n, RADIO);
        h.forget(n, OTHER);
        assert_eq!(h.choose(n, without_wire), None);
    }

    #[test]
    fn forged_neighbours_do_not_fill_the_memory() {
        let mut h = Heard::default();
        for i in 0..3 * MAX_NEIGHBOURS as u32 {
            h.note(ms(0), NodeId(i).default_addr().into(), RADIO);
        }
        assert!(h.neighbours().count() <= MAX_NEIGHBOURS);
    }
}
