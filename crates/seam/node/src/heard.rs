//! On which interfaces neighbours were heard: how a node with several chooses one for a neighbour.

use core::cmp::Reverse;

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, IfaceId, Span, Time};

/// The most neighbours that are remembered: addresses can be forged.
const MAX_NEIGHBOURS: usize = 4_096;
/// A neighbour that is heard on several interfaces is heard on all of them within this: by a broadcast, which leaves by
/// each. One on which it was not heard for longer than that, though it spoke elsewhere, may have failed.
const WINDOW: Span = Span::from_secs(1);

/// How long an interface does not count for a neighbour that did not acknowledge there; twice as long each time it happens again before
/// the neighbour has acknowledged. At the edge of a fast radio's range short broadcasts arrive now and then, and long packets never.
const HOLD: Span = Span::from_secs(1);
const MAX_HOLD: Span = Span::from_secs(64);

/// The interfaces of each neighbour, in the order in which it was last heard on them.
type ByNeighbour = FxHashMap<Addr, Vec<On>>;

/// A neighbour on an interface.
#[derive(Copy, Clone, Debug)]
struct On {
    iface: IfaceId,
    /// When it was heard there last.
    at: Time,
    state: State,
    /// How long the interface does not count when the neighbour does not acknowledge.
    hold: Span,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum State {
    Counts,
    /// It did not acknowledge. Heard after this, it counts again; `is_heard` since then, it serves where nothing else does.
    Held {
        until: Time,
        is_heard: bool,
    },
}

impl On {
    fn is_there(&self) -> bool {
        !matches!(self.state, State::Held { is_heard: false, .. })
    }
}

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
            // Neighbours that still send are learned again at once.
            all.clear();
            table.exceptions.clear();
        }
        let on = all.entry(neighbour).or_default();
        let known = on.iter().position(|o| o.iface == iface).map(|place| on.remove(place));
        let mut one = known.unwrap_or(On { iface, at, state: State::Counts, hold: HOLD });
        one.at = at;
        one.state = match one.state {
            State::Held { until, .. } if at < until => State::Held { until, is_heard: true },
            _ => State::Counts,
        };
        on.push(one);
    }

    /// A frame for the neighbour was not acknowledged on an interface.
    pub(crate) fn failed(&mut self, at: Time, neighbour: Addr, iface: IfaceId) {
        if let Some(on) = self.on(neighbour, iface) {
            on.state = State::Held { until: at + on.hold, is_heard: false };
            on.hold = (on.hold * 2).min(MAX_HOLD);
        }
    }

    /// The neighbour acknowledged a frame on an interface.
    pub(crate) fn acknowledged(&mut self, neighbour: Addr, iface: IfaceId) {
        if let Some(on) = self.on(neighbour, iface) {
            on.hold = HOLD;
        }
    }

    fn on(&mut self, neighbour: Addr, iface: IfaceId) -> Option<&mut On> {
        self.table.as_mut()?.on.get_mut(&neighbour)?.iter_mut().find(|o| o.iface == iface)
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

    /// The interface for a neighbour. Of those that are up and on which it was heard about when it was last heard at all: one on which it
    /// acknowledges before one that is held; the one of the lowest metric; of equals, the one on which it was heard last. `metric` has
    /// none for an interface that is down.
    pub(crate) fn choose(&self, neighbour: Addr, metric: impl Fn(IfaceId) -> Option<u8>) -> Option<IfaceId> {
        self.best(neighbour, metric).map(|(_, iface)| iface)
    }

    /// The same, if it is not held.
    pub(crate) fn choose_sure(
        &self,
        neighbour: Addr,
        metric: impl Fn(IfaceId) -> Option<u8>,
    ) -> Option<IfaceId> {
        self.best(neighbour, metric).filter(|(is_held, _)| !is_held).map(|(_, iface)| iface)
    }

    fn best(&self, neighbour: Addr, metric: impl Fn(IfaceId) -> Option<u8>) -> Option<(bool, IfaceId)> {
        let on = self.table.as_ref()?.on.get(&neighbour)?;
        let there = || on.iter().enumerate().filter(|(_, o)| o.is_there());
        let up =
            || there().filter_map(|(k, o)| Some((o.state != State::Counts, metric(o.iface)?, Reverse(k), o)));
        let (.., last) = up().last()?;
        let best =
            up().filter(|(.., o)| o.at + WINDOW >= last.at).min_by_key(|(held, m, k, _)| (*held, *m, *k));
        best.map(|(is_held, .., o)| (is_held, o.iface))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_core::NodeId;

    const RADIO: IfaceId = IfaceId(0);
    const OTHER: IfaceId = IfaceId(1);
    const WIRE: IfaceId = IfaceId(2);

    /// A working wire is better than a radio.
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
        h.failed(ms(5_001), n, OTHER);
        assert_eq!(h.choose(n, without_wire), Some(RADIO));
        // Nothing else is there to choose: the other radio has been silent for long.
        h.note(ms(5_002), n, OTHER);
        assert_eq!(h.choose(n, without_wire), Some(OTHER));
        assert_eq!(h.choose_sure(n, without_wire), None);
        h.failed(ms(5_003), n, RADIO);
        h.failed(ms(5_003), n, OTHER);
        assert_eq!(h.choose(n, without_wire), None);
    }

    /// A fast radio at the edge of its range, on which nothing long arrives; a slow one hears as well.
    #[test]
    fn an_interface_that_fails_again_and_again_is_held_for_longer_each_time() {
        let (mut h, n) = (Heard::default(), Addr::from(NodeId(7).default_addr()));
        let fast_first = |i: IfaceId| Some(u8::from(i == OTHER));
        let both = |h: &mut Heard, t: u64| {
            h.note(ms(t), n, RADIO);
            h.note(ms(t), n, OTHER);
            h.choose_sure(n, fast_first)
        };
        assert_eq!(both(&mut h, 0), Some(RADIO));
        let mut t = 0;
        for hold_s in [1, 2, 4, 8, 16, 32, 64, 64] {
            h.failed(ms(t), n, RADIO);
            assert_eq!(both(&mut h, t + hold_s * 1_000 - 1), Some(OTHER), "{hold_s} s");
            t += hold_s * 1_000;
            assert_eq!(both(&mut h, t), Some(RADIO), "{hold_s} s");
        }
        // It has come nearer.
        h.acknowledged(n, RADIO);
        h.failed(ms(t), n, RADIO);
        assert_eq!(both(&mut h, t + 1_000), Some(RADIO));
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
