//! Which numbers of a sequence have arrived.

use std::collections::VecDeque;

/// How many words of 64 numbers are remembered at most: 512 KiB. A packet that waited for its next hop's link address may
/// arrive half an hour and 100,000 numbers late.
const MAX_WORDS: usize = 65_536;

/// The numbers seen. Exact as long as none comes more than about four million numbers behind the highest; then it counts as seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seen {
    /// The number of the first word. All numbers before it count as seen.
    first_word: u64,
    words: VecDeque<u64>,
}

impl Seen {
    /// Notes a number; whether it is new.
    pub(crate) fn insert(&mut self, seq: u32) -> bool {
        let word = u64::from(seq / 64);
        let Some(mut at) = word.checked_sub(self.first_word) else { return false };
        if let Some(excess) = (at + 1).checked_sub(MAX_WORDS as u64) {
            // Forget the oldest; bounded by what is there, whatever the number.
            self.words.drain(..self.words.len().min(excess as usize));
            self.first_word += excess;
            at -= excess;
        }
        let at = at as usize;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        let bit = 1 << (seq % 64);
        let is_new = self.words[at] & bit == 0;
        self.words[at] |= bit;
        while self.words.front() == Some(&u64::MAX) {
            self.words.pop_front();
            self.first_word += 1;
        }
        is_new
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_number_far_ahead_takes_no_more_memory() {
        let mut s = Seen::default();
        assert!(s.insert(0));
        assert!(s.insert(u32::MAX));
        assert!(!s.insert(u32::MAX));
        assert!(s.words.len() <= MAX_WORDS);
        assert!(!s.insert(1), "too old to tell: counts as seen");
        assert!(s.insert(u32::MAX - 60_000));
    }

    #[test]
    fn a_number_that_comes_very_late_is_new_although_every_second_one_is_missing() {
        let mut s = Seen::default();
        assert!((0..200_000).step_by(2).all(|n| s.insert(n)));
        assert!(s.insert(13_239));
        assert!(!s.insert(13_239) && !s.insert(13_240));
    }

    #[test]
    fn an_unbroken_sequence_takes_one_word() {
        let mut s = Seen::default();
        assert!((0..100_000).all(|n| s.insert(n)));
        assert!(s.words.len() <= 1);
        assert!(!s.insert(5) && !s.insert(99_999));
    }

    proptest! {
        #[test]
        fn it_is_a_set_within_its_window(numbers in proptest::collection::vec(0u32..60_000, 0..300)) {
            let (mut s, mut set) = (Seen::default(), BTreeSet::new());
            for n in numbers {
                prop_assert_eq!(s.insert(n), set.insert(n));
            }
        }
    }
}
