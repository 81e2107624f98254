//! The event queue: a 4-ary heap in total order of (time, node, sequence).

use wayhop_core::Time;

/// A priority queue of events. Two events never compare equal: those at the same time go by node, then in the order in
/// which they were put in. So a run is the same on every machine.
pub(crate) struct EventQueue<E> {
    heap: Vec<QueuedEvent<E>>,
    sequence: u64,
}

#[derive(Copy, Clone)]
struct QueuedEvent<E> {
    /// Time (64 bits), node (24), sequence (40).
    key: u128,
    event: E,
}

/// Nodes that fit the key.
pub(crate) const MAX_NODES: usize = 1 << 24;

impl<E: Copy> EventQueue<E> {
    pub(crate) fn new() -> Self {
        Self { heap: Vec::new(), sequence: 0 }
    }

    /// Adds an event for `node` at `at`.
    #[inline]
    pub(crate) fn push(&mut self, at: Time, node: u32, event: E) {
        // 2^40 events are a month of running at a million a second.
        debug_assert!(self.sequence < 1 << 40 && (node as usize) < MAX_NODES);
        let key = u128::from(at.as_nanos()) << 64 | u128::from(node) << 40 | u128::from(self.sequence);
        self.sequence += 1;
        let entry = QueuedEvent { key, event };
        self.heap.push(entry);
        self.up(self.heap.len() - 1, entry);
    }

    /// When the next event is due.
    pub(crate) fn next_time(&self) -> Option<Time> {
        self.heap.first().map(|e| time_of(e.key))
    }

    /// Takes the next event if it is due by `end`.
    #[inline]
    pub(crate) fn pop_until(&mut self, end: Time) -> Option<(Time, u32, E)> {
        if time_of(self.heap.first()?.key) > end { None } else { self.pop() }
    }

    /// Takes the next event: its time, its node and itself.
    #[inline]
    fn pop(&mut self) -> Option<(Time, u32, E)> {
        let last = self.heap.pop()?;
        let first = match self.heap.first() {
            Some(&first) => {
                self.down(last);
                first
            }
            None => last,
        };
        Some((time_of(first.key), (first.key >> 40) as u32 & 0x00ff_ffff, first.event))
    }

    /// Moves the hole at `i` towards the root until `entry` fits into it.
    fn up(&mut self, mut i: usize, entry: QueuedEvent<E>) {
        while i > 0 {
            let parent = (i - 1) / 4;
            if self.heap[parent].key < entry.key {
                break;
            }
            self.heap[i] = self.heap[parent];
            i = parent;
        }
        self.heap[i] = entry;
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

fn time_of(key: u128) -> Time {
    Time::from_nanos((key >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BinaryHeap;

    #[test]
    fn events_leave_by_time_then_node_then_order_of_arrival() {
        let mut q = EventQueue::new();
        for (at, node, name) in [(5, 1, 'd'), (3, 9, 'b'), (5, 0, 'c'), (5, 1, 'e'), (1, 7, 'a')] {
            q.push(Time::from_nanos(at), node, name);
        }
        let order: String = std::iter::from_fn(|| q.pop()).map(|(_, _, c)| c).collect();
        assert_eq!(order, "abcde");
    }

    #[test]
    fn it_sorts_like_the_standard_heap_under_mixed_use() {
        let mut r = wayhop_core::stream(1, wayhop_core::Purpose::Host, 0);
        let (mut q, mut oracle) = (EventQueue::new(), BinaryHeap::new());
        for i in 0..20_000u64 {
            if r.below(5) < 3 {
                let (at, node) = (r.below(50), r.below(4) as u32);
                q.push(Time::from_nanos(at), node, i);
                oracle.push(std::cmp::Reverse((at, node, i)));
            } else {
                let expect =
                    oracle.pop().map(|std::cmp::Reverse((at, node, i))| (Time::from_nanos(at), node, i));
                assert_eq!(q.pop(), expect);
            }
        }
    }
}
