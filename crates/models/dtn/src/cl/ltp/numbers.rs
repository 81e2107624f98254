//! Numbers for the sessions that an engine originates.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// Session numbers of one engine, whichever neighbours its blocks go to (RFC 5326, section 3.1: engine and number name a
/// session). Clones draw from one sequence.
///
/// The RFC allows numbers of any size. These have 32 bits: NASA's ION keeps no more of them, and its reports on longer ones
/// match no session of the sender.
#[derive(Clone, Debug)]
pub struct SessionNumbers(Arc<AtomicU32>);

impl SessionNumbers {
    /// Numbers from this one on.
    pub fn starting_at(first: u32) -> Self {
        Self(Arc::new(AtomicU32::new(first)))
    }

    /// Numbers from a place on that looks random and follows from the seed: give another seed after each restart, so that
    /// neighbours do not take new blocks for old ones. The place is between 2^27 and 2^28: wherever it is, a number is four
    /// octets of a segment.
    pub fn seeded(seed: u64) -> Self {
        // SplitMix64's output function: seeds that differ by one give unrelated places.
        let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        Self::starting_at(1 << 27 | ((z ^ z >> 31) >> 37) as u32)
    }

    /// The next number that is not in use; never 0.
    pub(super) fn next(&self, is_used: impl Fn(u64) -> bool) -> u64 {
        loop {
            let number = u64::from(self.0.fetch_add(1, Ordering::Relaxed));
            if number != 0 && !is_used(number) {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn numbers_go_on_at_one_after_32_bits_and_pass_over_those_in_use() {
        let numbers = SessionNumbers::starting_at(u32::MAX);
        let next = || numbers.clone().next(|n| n == 2);
        assert_eq!([next(), next(), next()], [u64::from(u32::MAX), 1, 3]);
    }

    #[test]
    fn neighbouring_seeds_begin_at_places_of_their_own() {
        let first = |seed| SessionNumbers::seeded(seed).next(|_| false);
        let places: BTreeSet<u64> = (0..1_000).map(first).collect();
        assert_eq!(places.len(), 1_000);
        assert!(places.iter().all(|p| (1 << 27..1 << 28).contains(p)));
        // About half of them are in the upper half.
        let upper = places.iter().filter(|p| **p >= 3 << 26).count();
        assert!((400..600).contains(&upper), "{upper}");
    }
}
