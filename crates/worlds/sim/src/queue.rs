//! The event queue, in total order of (time, node, sequence): the next events in a sorted list, behind them buckets of some
//! microseconds, behind those buckets of 8 ms, and behind those a tree.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use wayhop_core::Time;

use crate::buckets::{Buckets, QueuedEvent, node_of, time_of};

/// A priority queue of events. Two events never compare equal: those at the same time go by node, then in the order in
/// which they were put in. So a run is the same on every machine.
///
/// Most events are due within microseconds: ends of frames, intervals between them, slots of a backoff. They are put into the
/// short sorted list, or into a bucket that is sorted when it comes up; timers that are seconds away are written and read twice.
pub(crate) struct EventQueue<E> {
    /// The events before `horizon`, the next one last.
    front: Vec<QueuedEvent<E>>,
    horizon: u128,
    /// What else is due before `window_end`, the end of a bucket of `far`.
    near: Buckets<E>,
    window_end: Time,
    /// What is due after it.
    far: Buckets<E>,
    /// What fits into no bucket: due too late, or before the first bucket of `near` but not before `horizon`.
    unfit: BTreeMap<u128, E>,
    sequence: u64,
    /// Events that were taken from `near` since its buckets were given their length.
    taken: usize,
    /// The front has events that waited, and nobody has looked at them yet.
    is_new_in_front: bool,
}

/// The memory of what so few events touch is in the caches.
const FEW: usize = 4_096;

/// Nodes that fit the key.
pub(crate) const MAX_NODES: usize = 1 << 24;
/// Events that a bucket of `near` should have.
const IN_BUCKET: usize = 8;
/// Events of a front that is too long: its later half is taken out.
const MOST_IN_FRONT: usize = 64;
/// The memory of a longer front is given back.
const MOST_KEPT_IN_FRONT: usize = 16_384;
/// A bucket of `far` is 2^23 ns long, about 8 ms, and 17 s are divided into them.
const FAR_SHIFT: u32 = 23;
const FAR: usize = 2_048;
/// `near` has at most this many buckets, of 128 ns.
const MOST_NEAR: usize = 1 << 16;

impl<E: Copy> EventQueue<E> {
    pub(crate) fn new() -> Self {
        Self {
            front: Vec::with_capacity(MOST_IN_FRONT),
            horizon: 0,
            near: Buckets::new(FAR_SHIFT, 1),
            window_end: Time::ZERO,
            far: Buckets::new(FAR_SHIFT, FAR),
            unfit: BTreeMap::new(),
            sequence: 0,
            taken: 0,
            is_new_in_front: false,
        }
    }

    /// Adds an event for `node` at `at`.
    #[inline]
    pub(crate) fn push(&mut self, at: Time, node: u32, event: E) {
        // 2^40 events are a month of running at a million a second.
        debug_assert!(self.sequence < 1 << 40 && (node as usize) < MAX_NODES);
        let key = u128::from(at.as_nanos()) << 64 | u128::from(node) << 40 | u128::from(self.sequence);
        self.sequence += 1;
        self.put_back(QueuedEvent { key, event });
    }

    /// Adds an event that was taken out, in its old place.
    #[inline]
    pub(crate) fn put_back(&mut self, entry: QueuedEvent<E>) {
        if entry.key < self.horizon {
            self.insert(entry);
        } else {
            self.wait(entry);
        }
    }

    /// When the next event is due.
    pub(crate) fn next_time(&self) -> Option<Time> {
        let in_front = self.front.last().map(|e| time_of(e.key));
        let in_bucket = || self.near.next_time().or_else(|| self.far.next_time());
        in_front.or_else(|| in_bucket().into_iter().chain(self.next_unfit()).min())
    }

    fn next_unfit(&self) -> Option<Time> {
        self.unfit.first_key_value().map(|(key, _)| time_of(*key))
    }

    /// Takes the next event if it is due by `end`: its time, its node and itself.
    #[inline]
    pub(crate) fn pop_until(&mut self, end: Time) -> Option<(Time, u32, E)> {
        let next = self.peek_until(end)?;
        self.front.pop();
        Some((time_of(next.key), node_of(next.key), next.event))
    }

    /// Takes the event that [`EventQueue::peek_until`] gave.
    pub(crate) fn pop(&mut self) -> Option<QueuedEvent<E>> {
        self.front.pop()
    }

    /// The next event if it is due by `end`, which stays.
    #[inline]
    pub(crate) fn peek_until(&mut self, end: Time) -> Option<QueuedEvent<E>> {
        if self.front.is_empty() {
            self.refill(end);
        }
        self.front.last().filter(|next| time_of(next.key) <= end).copied()
    }

    /// The events that have just come near, with their nodes; none where few events wait, whose memory is in the caches. Mostly none.
    #[inline]
    pub(crate) fn come_near(&mut self) -> Option<impl Iterator<Item = (u32, E)> + Clone> {
        let front = &self.front;
        let is_new = std::mem::take(&mut self.is_new_in_front);
        is_new.then(|| front.iter().map(|entry| (node_of(entry.key), entry.event)))
    }

    /// Puts an event into its place in the front.
    fn insert(&mut self, entry: QueuedEvent<E>) {
        if self.front.len() >= MOST_IN_FRONT {
            self.shorten();
            if entry.key >= self.horizon {
                return self.wait(entry);
            }
        }
        self.front.push(entry);
        let mut i = self.front.len() - 1;
        while i > 0 && self.front[i - 1].key < entry.key {
            self.front[i] = self.front[i - 1];
            i -= 1;
        }
        self.front[i] = entry;
    }

    /// Takes the later half out of the front, for which there is no bucket any more.
    #[cold]
    fn shorten(&mut self) {
        let later = self.front.drain(..self.front.len() / 2);
        self.unfit.extend(later.map(|entry| (entry.key, entry.event)));
        self.horizon = self.unfit.first_key_value().map_or(self.horizon, |(key, _)| *key);
    }

    /// Moves the next events to the empty front, unless they are due in a window that begins after `end`: what is put in before that
    /// would not find a bucket any more.
    #[inline(never)]
    fn refill(&mut self, end: Time) {
        // As many nodes begin at once it may be long, which does not come again.
        if self.front.capacity() > MOST_KEPT_IN_FRONT {
            self.front.shrink_to(MOST_IN_FRONT);
        }
        if self.near.is_empty() && self.next_unfit().is_none_or(|at| at >= self.window_end) {
            self.open_window(end);
        }
        let bucket = self.near.first_occupied();
        let begin = bucket.map_or(self.window_end, |b| self.near.begin(b));
        if self.next_unfit().is_some_and(|at| at < begin) {
            // What comes before that does not fit into a bucket any more.
            self.near.skip_to(begin);
            self.refill_from_unfit(begin);
        } else if let Some(bucket) = bucket {
            self.near.take(bucket, |entry| self.front.push(entry));
            self.taken += self.front.len();
            self.front.sort_unstable_by_key(|entry| Reverse(entry.key));
            self.horizon = first_key(self.near.begin(bucket + 1));
        }
        self.is_new_in_front = self.near.len() + self.far.len() + self.unfit.len() >= FEW;
    }

    /// Moves the next events before `end` that are in no bucket to the empty front, but not many.
    #[cold]
    fn refill_from_unfit(&mut self, end: Time) {
        self.horizon = first_key(end);
        while let Some(entry) = self.unfit.first_entry().filter(|entry| *entry.key() < self.horizon) {
            if self.front.len() == IN_BUCKET {
                self.horizon = *entry.key();
                break;
            }
            let (key, event) = entry.remove_entry();
            self.front.push(QueuedEvent { key, event });
        }
        self.front.reverse();
    }

    /// Moves what is due next to the empty `near`: all events of a bucket of `far`. Divides its time into as many buckets as it needs,
    /// or the last one would have needed.
    fn open_window(&mut self, end: Time) {
        let unfit = self.next_unfit().map(|at| self.far.bucket(at));
        let Some(window) = self.far.first_occupied().into_iter().chain(unfit).min() else { return };
        if self.far.begin(window) > end {
            return;
        }
        let events = self.taken.max(self.far.count(window));
        let buckets = (events / IN_BUCKET).next_power_of_two().min(MOST_NEAR);
        self.taken = 0;
        self.window_end = self.far.begin(window + 1);
        self.near.restart(FAR_SHIFT - buckets.trailing_zeros(), buckets, self.far.begin(window));
        self.far.take(window, |entry| _ = self.near.put(entry));
        while self.next_unfit().is_some_and(|at| at < self.window_end)
            && let Some((key, event)) = self.unfit.pop_first()
        {
            self.near.put(QueuedEvent { key, event });
        }
    }

    /// Puts an event into a bucket, if it fits into one. Apart, so that what puts events into the queue stays small.
    #[inline(never)]
    fn wait(&mut self, entry: QueuedEvent<E>) {
        let is_near = time_of(entry.key) < self.window_end;
        let buckets = if is_near { &mut self.near } else { &mut self.far };
        if !buckets.put(entry) {
            self.unfit.insert(entry.key, entry.event);
        }
    }
}

/// What is due at `at` or later has this key or one that is greater.
fn first_key(at: Time) -> u128 {
    u128::from(at.as_nanos()) << 64
}

#[cfg(test)]
mod tests {
    use std::collections::BinaryHeap;

    use super::*;

    fn pop(q: &mut EventQueue<u64>) -> Option<(u64, u32, u64)> {
        q.pop_until(Time::NEVER).map(|(at, node, event)| (at.as_nanos(), node, event))
    }

    #[test]
    fn events_leave_by_time_then_node_then_order_of_arrival() {
        let mut q = EventQueue::new();
        for (at, node, name) in [(5, 1, 4), (3, 9, 2), (5, 0, 3), (5, 1, 5), (1, 7, 1)] {
            q.push(Time::from_nanos(at), node, name);
        }
        let order: Vec<u64> = std::iter::from_fn(|| pop(&mut q)).map(|(_, _, name)| name).collect();
        assert_eq!(order, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn events_that_come_near_are_shown_once_where_there_are_many() {
        for (events, shown) in [(100, 0), (2 * FEW as u64, IN_BUCKET as u32 - 1)] {
            let mut q = EventQueue::new();
            // A bucket gets IN_BUCKET of these: 8 in 2^13 ns.
            (0..events).for_each(|i| q.push(Time::from_nanos(1_000 + (i << 10)), i as u32, i));
            assert!(q.come_near().is_none());
            assert_eq!(pop(&mut q), Some((1_000, 0, 0)));
            let near: Vec<_> = q.come_near().into_iter().flatten().collect();
            // The next one is last.
            let expect: Vec<_> = (1..=shown).rev().map(|i| (i, u64::from(i))).collect();
            assert_eq!(near, expect);
            assert!(q.come_near().is_none());
        }
    }

    /// All nodes begin at once, and what each does leads to something soon: the front gets too long.
    #[test]
    fn many_events_at_the_same_time_are_sorted_too() {
        let (mut q, mut oracle) = (EventQueue::new(), BinaryHeap::new());
        let push = |q: &mut EventQueue<u64>, oracle: &mut BinaryHeap<_>, at, node: u32, name| {
            q.push(Time::from_nanos(at), node, name);
            oracle.push(Reverse((at, node, name)));
        };
        (0..3_000).for_each(|i| push(&mut q, &mut oracle, 50, i, u64::from(i)));
        let mut name = 3_000;
        while let Some(Reverse((at, node, expect))) = oracle.pop() {
            assert_eq!(q.next_time(), Some(Time::from_nanos(at)));
            assert_eq!(pop(&mut q), Some((at, node, expect)));
            if name < 9_000 {
                push(&mut q, &mut oracle, at + name % 2 * (1 + name % 977), node, name);
                name += 1;
            }
        }
        assert_eq!((pop(&mut q), q.next_time()), (None, None));
    }

    /// With few and with many events, near each other and up to a minute apart, before and after the last of the buckets.
    #[test]
    fn it_sorts_like_the_standard_heap_under_mixed_use() {
        let mut r = wayhop_core::stream(1, wayhop_core::Purpose::Host, 0);
        for spread_ns in [50, 100_000, 3_000_000, 2_000_000_000, 20_000_000_000, 60_000_000_000] {
            for most in [100, 3 * FEW] {
                let (mut q, mut oracle) = (EventQueue::new(), BinaryHeap::new());
                let (mut now, mut name) = (0, 0);
                for i in 0..50_000 {
                    // Grows to that length, then shrinks.
                    let growth = if i < 40_000 && oracle.len() < most { 4 } else { 1 };
                    if r.below(5) < growth {
                        // Now and then a crowd, which is due soon: it does not fit into the front.
                        let crowd = r.below(100) == 0;
                        let spread_ns = if crowd { 1 << (10 + r.below(14)) } else { spread_ns };
                        for _ in 0..if crowd { 150 } else { 1 } {
                            let (at, node) = (now + r.below(spread_ns), r.below(4) as u32);
                            q.push(Time::from_nanos(at), node, name);
                            oracle.push(Reverse((at, node, name)));
                            name += 1;
                        }
                    } else if r.below(50) == 0 {
                        // Nothing is taken before its time, and looking changes nothing.
                        let next = oracle.peek().map(|Reverse(e)| e.0);
                        assert_eq!(q.next_time().map(Time::as_nanos), next);
                        if let Some(next) = next.filter(|at| *at > 0) {
                            assert_eq!(q.pop_until(Time::from_nanos(next - 1)), None);
                        }
                    } else {
                        let expect = oracle.pop().map(|Reverse(e)| e);
                        assert_eq!(pop(&mut q), expect);
                        now = expect.map_or(now, |e| e.0);
                    }
                }
                while let Some(Reverse(expect)) = oracle.pop() {
                    assert_eq!(pop(&mut q), Some(expect));
                }
                assert_eq!(pop(&mut q), None);
            }
        }
    }
}
