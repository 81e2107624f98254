//! Timers of a protocol on the real clock.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use wayhop_core::{Time, TimerKey};

/// What is due when. A timer that is moved to a later time keeps its place in the heap, which then puts itself off: so
/// one that is moved with every packet costs no heap operation.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    set: FxHashMap<TimerKey, Timer>,
    heap: BinaryHeap<Reverse<(Time, TimerKey)>>,
}

#[derive(Copy, Clone, Debug)]
struct Timer {
    /// `NEVER` when it was cleared.
    due: Time,
    queued: Time,
}

impl Timers {
    /// Sets or moves a timer.
    pub(crate) fn set(&mut self, key: TimerKey, due: Time) {
        match self.set.entry(key) {
            Entry::Occupied(mut o) if o.get().queued <= due => o.get_mut().due = due,
            entry => {
                entry.insert_entry(Timer { due, queued: due });
                self.heap.push(Reverse((due, key)));
            }
        }
    }

    /// Forgets a timer.
    pub(crate) fn clear(&mut self, key: TimerKey) {
        if let Some(t) = self.set.get_mut(&key) {
            t.due = Time::NEVER;
        }
    }

    /// When to look next.
    pub(crate) fn next(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((at, _))| *at)
    }

    /// Takes a timer that is due.
    pub(crate) fn due(&mut self, now: Time) -> Option<TimerKey> {
        while let Some(&Reverse((at, key))) = self.heap.peek().filter(|Reverse((at, _))| *at <= now) {
            self.heap.pop();
            let Entry::Occupied(mut o) = self.set.entry(key) else { continue };
            let Timer { due, queued } = *o.get();
            if queued != at {
                // It was moved to an earlier time, and has another place in the heap.
                continue;
            }
            if due <= now {
                o.remove();
                return Some(key);
            }
            if due == Time::NEVER {
                o.remove();
            } else {
                o.get_mut().queued = due;
                self.heap.push(Reverse((due, key)));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: TimerKey = TimerKey(1);
    const B: TimerKey = TimerKey(2);
    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    #[test]
    fn a_timer_fires_once_at_the_time_it_was_last_set_to() {
        let mut t = Timers::default();
        t.set(A, ms(5));
        t.set(B, ms(3));
        t.set(A, ms(10));
        assert_eq!(t.due(ms(2)), None);
        assert_eq!((t.due(ms(6)), t.due(ms(6))), (Some(B), None));
        assert_eq!(t.next(), Some(ms(10)));
        t.set(A, ms(8));
        assert_eq!((t.due(ms(8)), t.due(ms(20))), (Some(A), None));
    }

    #[test]
    fn a_timer_that_was_cleared_fires_only_if_it_is_set_again() {
        let mut t = Timers::default();
        t.set(A, ms(5));
        t.clear(A);
        assert_eq!(t.due(ms(6)), None);
        t.set(A, ms(7));
        t.clear(A);
        t.set(A, ms(9));
        assert_eq!((t.due(ms(8)), t.due(ms(9)), t.next()), (None, Some(A), None));
    }
}
