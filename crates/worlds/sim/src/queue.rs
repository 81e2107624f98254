//! The event queue, in total order of (time, node, sequence): the next events in a sorted list, behind them a 4-ary heap, and behind that
//! buckets.

use wayhop_core::Time;

use crate::later::{Later, QueuedEvent, node_of, time_of};

/// A priority queue of events. Two events never compare equal: those at the same time go by node, then in the order in
/// which they were put in. So a run is the same on every machine.
///
/// Most events are due within microseconds: ends of frames, intervals between them, slots of a backoff. They are put into the
/// short sorted list and taken from it, and never see the heap, where timers wait that are seconds away; of many nodes, in buckets.
pub(crate) struct EventQueue<E> {
    /// The events before `horizon`, the next one last.
    front: Vec<QueuedEvent<E>>,
    /// Those from `horizon` on, and in `later`. Nothing of `later` is due before the first of the heap when that is taken.
    heap: Vec<QueuedEvent<E>>,
    later: Later<E>,
    horizon: u128,
    sequence: u64,
    /// When the last event that was taken was due.
    now: Time,
    /// The front has events that waited, and nobody has looked at them yet.
    is_new_in_front: bool,
}

/// A heap of so few events, 128 KiB, is in the caches: all go into it.
const FEW: usize = 4_096;

/// Nodes that fit the key.
pub(crate) const MAX_NODES: usize = 1 << 24;
/// Events that move from the heap to an empty front.
const REFILL: usize = 16;
/// Events of a front that is too long: its later half goes to the heap.
const MOST_IN_FRONT: usize = 64;

impl<E: Copy> EventQueue<E> {
    pub(crate) fn new() -> Self {
        let front = Vec::with_capacity(MOST_IN_FRONT);
        Self {
            front,
            heap: Vec::new(),
            later: Later::new(),
            horizon: 0,
            sequence: 0,
            now: Time::ZERO,
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
        let entry = QueuedEvent { key, event };
        if key < self.horizon {
            self.insert(entry);
        } else {
            self.wait(entry);
        }
    }

    /// When the next event is due.
    pub(crate) fn next_time(&self) -> Option<Time> {
        if let Some(next) = self.front.last().map(|e| time_of(e.key)) {
            return Some(next);
        }
        let near = self.heap.first().map(|e| time_of(e.key));
        if self.is_first_far() { self.later.next_time().into_iter().chain(near).min() } else { near }
    }

    /// Takes the next event if it is due by `end`: its time, its node and itself.
    #[inline]
    pub(crate) fn pop_until(&mut self, end: Time) -> Option<(Time, u32, E)> {
        if self.front.is_empty() {
            self.refill();
        }
        let next = *self.front.last()?;
        let at = time_of(next.key);
        if at > end {
            return None;
        }
        self.front.pop();
        self.now = at;
        Some((at, node_of(next.key), next.event))
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
        if self.front.len() == MOST_IN_FRONT {
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

    /// Puts the later half of the front into the heap.
    #[cold]
    fn shorten(&mut self) {
        for i in 0..MOST_IN_FRONT / 2 {
            self.wait(self.front[i]);
        }
        self.front.drain(..MOST_IN_FRONT / 2).for_each(|e| self.horizon = e.key);
    }

    /// Moves the next events to the empty front.
    #[inline(never)]
    fn refill(&mut self) {
        while self.front.len() < REFILL
            && let Some(e) = self.pop_waiting()
        {
            self.front.push(e);
        }
        self.front.reverse();
        self.is_new_in_front = self.heap.len() + self.later.len() >= FEW;
        self.bring_near();
        self.horizon = self.heap.first().map_or(u128::MAX, |e| e.key);
    }

    /// Puts an event into the heap or a bucket.
    fn wait(&mut self, entry: QueuedEvent<E>) {
        if self.heap.len() < FEW || !self.later.put(self.now, entry) {
            Self::add(&mut self.heap, entry);
        }
    }

    /// Whether the first of all events that wait may not be in the heap.
    #[inline]
    fn is_first_far(&self) -> bool {
        self.heap.first().map_or(!self.later.is_empty(), |e| self.later.may_have(time_of(e.key)))
    }

    /// Moves what is due later into the heap until the first there is the first of all that wait.
    #[inline]
    fn bring_near(&mut self) {
        while self.is_first_far() {
            self.later.take_first(|entry| Self::add(&mut self.heap, entry));
        }
    }

    /// Takes the first event that waits.
    fn pop_waiting(&mut self) -> Option<QueuedEvent<E>> {
        self.bring_near();
        let last = self.heap.pop()?;
        let Some(&first) = self.heap.first() else { return Some(last) };
        self.down(last);
        Some(first)
    }

    /// Adds an entry to a heap: moves a hole from its end towards the root until the entry fits into it.
    #[inline]
    fn add(heap: &mut Vec<QueuedEvent<E>>, entry: QueuedEvent<E>) {
        let mut i = heap.len();
        heap.push(entry);
        while i > 0 {
            let parent = (i - 1) / 4;
            if heap[parent].key < entry.key {
                break;
            }
            heap[i] = heap[parent];
            i = parent;
        }
        heap[i] = entry;
    }

    /// Moves the hole at the root towards the leaves until `entry` fits into it.
    #[inline]
    fn down(&mut self, entry: QueuedEvent<E>) {
        let mut i = 0;
        loop {
            let first = 4 * i + 1;
            let Some(least) = least_child(&self.heap, first) else { break };
            if entry.key < self.heap[least].key {
                break;
            }
            self.heap[i] = self.heap[least];
            i = least;
        }
        self.heap[i] = entry;
    }
}

/// The place of the least of the up to four entries from `first` on. A tournament without branches: which child wins is
/// as good as random, and the two first rounds do not wait for each other.
#[inline]
fn least_child<E>(heap: &[QueuedEvent<E>], first: usize) -> Option<usize> {
    if let Some([a, b, c, d]) = heap.get(first..first + 4) {
        let (left, right) = (usize::from(b.key < a.key), 2 + usize::from(d.key < c.key));
        let (left_key, right_key) = (a.key.min(b.key), c.key.min(d.key));
        return Some(first + if right_key < left_key { right } else { left });
    }
    (first..heap.len()).min_by_key(|&i| heap[i].key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

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
        for (events, shown) in [(100, 0), (2 * FEW as u64, REFILL as u32 - 1)] {
            let mut q = EventQueue::new();
            (0..events).for_each(|i| q.push(Time::from_nanos(1_000 + i), i as u32, i));
            assert!(q.come_near().is_none());
            assert_eq!(pop(&mut q), Some((1_000, 0, 0)));
            let near: Vec<_> = q.come_near().into_iter().flatten().collect();
            // The next one is last.
            let expect: Vec<_> = (1..=shown).rev().map(|i| (i, u64::from(i))).collect();
            assert_eq!(near, expect);
            assert!(q.come_near().is_none());
        }
    }

    /// With few and with many events, near each other and up to a minute apart, the buckets before and after their last one.
    #[test]
    fn it_sorts_like_the_standard_heap_under_mixed_use() {
        let mut r = wayhop_core::stream(1, wayhop_core::Purpose::Host, 0);
        for spread_ns in [50, 100_000, 3_000_000, 2_000_000_000, 5_000_000_000, 60_000_000_000] {
            for most in [100, 3 * FEW] {
                let (mut q, mut oracle, mut now) = (EventQueue::new(), BinaryHeap::new(), 0);
                for i in 0..50_000u64 {
                    // Grows to that length, then shrinks.
                    let growth = if i < 40_000 && oracle.len() < most { 4 } else { 2 };
                    if r.below(5) < growth {
                        let (at, node) = (now + r.below(spread_ns), r.below(4) as u32);
                        q.push(Time::from_nanos(at), node, i);
                        oracle.push(Reverse((at, node, i)));
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
