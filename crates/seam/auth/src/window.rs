//! Which counters of a neighbour were received: packets may overtake each other in queues, but none
//! counts twice (RFC 9467).

/// Counters behind the highest one that still count, 64 a word. A radio's queues reorder by less: each of its classes holds some
/// tens of packets.
const WORDS: usize = 4;
/// The same, in counters.
pub(crate) const WIDTH: u32 = 64 * WORDS as u32;

/// The counters received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    highest: u32,
    /// Bit i: the counter `highest - i` was received.
    seen: [u64; WORDS],
}

impl Window {
    /// One counter was received; those before it count as received, too.
    pub(crate) fn beginning(counter: u32) -> Self {
        Self { highest: counter, seen: [u64::MAX; WORDS] }
    }

    /// Whether a counter has not been received.
    pub(crate) fn is_new(&self, counter: u32) -> bool {
        match self.highest.checked_sub(counter) {
            None => true,
            Some(back) if back < WIDTH => self.seen[(back / 64) as usize] >> (back % 64) & 1 == 0,
            Some(_) => false,
        }
    }

    /// A counter was received.
    pub(crate) fn note(&mut self, counter: u32) {
        if let Some(ahead) = counter.checked_sub(self.highest).filter(|&n| n > 0) {
            self.shift(ahead);
            self.highest = counter;
        }
        let back = self.highest - counter;
        if back < WIDTH {
            self.seen[(back / 64) as usize] |= 1 << (back % 64);
        }
    }

    fn shift(&mut self, by: u32) {
        let (words, bits) = ((by / 64) as usize, by % 64);
        let old = self.seen;
        for i in 0..WORDS {
            let word = |back: usize| i.checked_sub(words + back).map_or(0, |k| old[k]);
            self.seen[i] = word(0) << bits | if bits == 0 { 0 } else { word(1) >> (64 - bits) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// The oracle is a set of all counters received.
        #[test]
        fn a_window_takes_each_counter_once_and_none_that_is_too_old(
            start in 0u32..10, steps in proptest::collection::vec((any::<bool>(), 0u32..400), 1..200),
        ) {
            let (mut w, mut set, mut highest) = (Window::beginning(start), BTreeSet::from([start]), start);
            for (is_ahead, by) in steps {
                let counter = if is_ahead { highest + by } else { highest.saturating_sub(by) };
                let expected = counter > start && !set.contains(&counter) && counter + WIDTH > highest;
                prop_assert_eq!(w.is_new(counter), expected, "{} of {}", counter, highest);
                if expected {
                    w.note(counter);
                    set.insert(counter);
                    highest = highest.max(counter);
                }
            }
        }
    }

    #[test]
    fn the_last_counter_is_one() {
        let mut w = Window::beginning(u32::MAX - 1);
        assert!(w.is_new(u32::MAX));
        w.note(u32::MAX);
        assert!(!w.is_new(u32::MAX) && !w.is_new(0));
    }
}
