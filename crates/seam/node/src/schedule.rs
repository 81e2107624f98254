//! Pending events, for worlds without an event queue of their own.

use std::collections::BTreeMap;

use wayhop_core::{Frame, IfaceId, Time, TimerKey};

use crate::world::Stage;

/// Something that a node asked to be called for.
#[derive(Debug)]
pub enum Due {
    /// [`crate::Node::timer`].
    Timer(u8, TimerKey),
    /// [`crate::Node::frame_due`].
    Frame(Stage, Frame),
    /// [`crate::Node::resolve_due`].
    Resolution(IfaceId),
}

/// A queue in order of time; what is due at the same time comes in the order in which it was put in.
#[derive(Debug, Default)]
pub struct Schedule {
    /// By time, and by the number under which each was added.
    pending: BTreeMap<(Time, u64), Due>,
    number: u64,
    frames: usize,
}

impl Schedule {
    /// Adds something.
    pub fn push(&mut self, at: Time, due: Due) {
        self.number += 1;
        self.frames += usize::from(matches!(due, Due::Frame(..)));
        self.pending.insert((at, self.number), due);
    }
    /// When to look next.
    pub fn next(&self) -> Option<Time> {
        self.pending.first_key_value().map(|((at, _), _)| *at)
    }
    /// Takes the first thing that is due, with its time.
    pub fn pop(&mut self, now: Time) -> Option<(Time, Due)> {
        if self.next()? > now {
            return None;
        }
        let ((at, _), due) = self.pending.pop_first()?;
        self.frames -= usize::from(matches!(due, Due::Frame(..)));
        Some((at, due))
    }
    /// Frames in it.
    pub fn frames(&self) -> usize {
        self.frames
    }
    /// The frames in it.
    pub fn held(&self) -> impl Iterator<Item = &Frame> {
        self.pending.values().filter_map(|due| if let Due::Frame(_, f) = due { Some(f) } else { None })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_comes_by_time_and_then_in_order() {
        let mut s = Schedule::default();
        let ms = |n: u64| Time::from_nanos(n * 1_000_000);
        for (at, key) in [(5, 1), (3, 2), (5, 3)] {
            s.push(ms(at), Due::Timer(0, TimerKey(key)));
        }
        let keys: Vec<u64> = std::iter::from_fn(|| s.pop(ms(5)))
            .map(|(_, d)| if let Due::Timer(_, k) = d { k.0 } else { 0 })
            .collect();
        assert_eq!((keys, s.next()), (vec![2, 1, 3], None));
    }
}
