//! When the tables of a run are large enough to be thinned, and to which share.

use std::num::NonZeroU32;

use wayhop_core::Time;

use super::SizeLimit;

/// The share of the limit that may be written once it is reached: a 32nd.
const RESERVE: u64 = 32;
/// What a run that has not said when it ends keeps: one packet in 64.
const BLIND: u32 = 6;

/// How often the share of the packets that is kept was halved; `None` if none is kept any more.
pub(crate) type Halvings = Option<NonZeroU32>;

/// Compares the size of the tables with the limit.
///
/// The rule: *nothing is left out before the tables have reached the limit*. So a run that fits never loses a row, whatever its
/// traffic does, which no rule can promise that looks ahead: a run whose first tenth fills half of the limit may be silent
/// afterwards. Once the limit is reached, a reserve of a 32nd of it has to last for the rest of the run. By then all of the run so far
/// tells how many bytes the rest would take, so the share that is kept is the largest power of two by which the rest takes at most half of the
/// reserve; each time that half of what is left of the reserve is used, the share is halved again, and when the reserve is used up, nothing
/// is kept. The tables exceed the limit by a 32nd at most, and by the rows of one row group per table, which are counted when they are
/// written.
///
/// Sizes are compared after each 8,192 records, and count whole row groups: both depend on the records alone, not on how far the
/// writing thread has come, so the same run thins the same rows at the same place on any machine.
pub(crate) struct Budget {
    limit: SizeLimit,
    /// The size at which less is kept from then on; `None` when nothing is.
    next: Option<u64>,
    /// The size that is not exceeded; `None` before the limit was reached.
    most: Option<u64>,
    halvings: u32,
}

impl Budget {
    pub(crate) fn new(limit: SizeLimit) -> Self {
        Self { limit, next: Some(limit.bytes), most: None, halvings: 0 }
    }

    /// The new share, if it changes now that the tables take `written` bytes.
    pub(crate) fn measure(&mut self, written: u64, now: Time) -> Option<Halvings> {
        if self.next.is_none_or(|next| written < next) {
            return None;
        }
        let reserve = self.limit.bytes / RESERVE;
        self.halvings = match self.most {
            None => halvings(self.rest(written, now), reserve / 2),
            Some(_) => self.halvings + 1,
        };
        // Row groups are written whole: the last one may have gone beyond the limit already.
        let most = *self.most.get_or_insert(written + reserve);
        let left = most.saturating_sub(written);
        // Halves of halves come to no end.
        let is_used_up = left <= reserve / 16;
        self.next = (!is_used_up).then(|| written + left / 2);
        Some(NonZeroU32::new(self.halvings).filter(|_| !is_used_up))
    }

    /// The bytes that the rest of the run would take if all of it were written; `None` if nobody knows.
    fn rest(&self, written: u64, now: Time) -> Option<u128> {
        let (now, end) = (u128::from(now.as_nanos()), u128::from(self.limit.end.as_nanos()));
        (self.limit.end != Time::NEVER && now > 0)
            .then(|| u128::from(written) * end.saturating_sub(now) / now)
    }
}

/// How often `rest` has to be halved to fit into `room`; at least once.
fn halvings(rest: Option<u128>, room: u64) -> u32 {
    let Some(rest) = rest else { return BLIND };
    (1..48).find(|n| rest >> n <= u128::from(room)).unwrap_or(48)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LIMIT: u64 = 1_000_000;

    const fn ms(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// Writes the run's bytes a hundredth of a second after the other; `bytes` are those of each, if all rows are kept. Returns the
    /// bytes written, and how often the share changed.
    fn run(bytes: &[u64]) -> (u64, Vec<Halvings>) {
        let mut budget = Budget::new(SizeLimit { bytes: LIMIT, end: ms(10 * bytes.len() as u64) });
        let (mut written, mut shift, mut changes) = (0, Some(0), Vec::new());
        for (at, bytes) in bytes.iter().enumerate() {
            written += shift.map_or(0, |n| bytes >> n);
            if let Some(halvings) = budget.measure(written, ms(10 * at as u64 + 10)) {
                shift = halvings.map(NonZeroU32::get);
                changes.push(halvings);
            }
        }
        (written, changes)
    }

    #[test]
    fn the_rest_of_a_steady_run_takes_up_to_half_of_the_reserve() {
        // A tenth of the run has filled the limit: nine times as much would follow, and a 64th of the limit has room for
        // 1 in 1,024 of that at least.
        let mut b = Budget::new(SizeLimit { bytes: LIMIT, end: ms(10_000) });
        assert_eq!(b.measure(LIMIT - 1, ms(999)), None);
        assert_eq!(b.measure(LIMIT, ms(1_000)), Some(NonZeroU32::new(10)));
        assert_eq!(b.measure(LIMIT + 15_000, ms(9_000)), None);
    }

    #[test]
    fn without_an_end_a_64th_is_kept() {
        let mut b = Budget::new(SizeLimit { bytes: LIMIT, end: Time::NEVER });
        assert_eq!(b.measure(LIMIT, ms(1_000)), Some(NonZeroU32::new(6)));
    }

    #[test]
    fn a_steady_run_is_thinned_once_and_uses_the_reserve() {
        let (written, changes) = run(&[5_000; 1_000]);
        assert_eq!(changes.len(), 1, "{changes:?}");
        assert!((LIMIT + 2_000..=LIMIT + LIMIT / 32).contains(&written), "{written}");
    }

    proptest! {
        #[test]
        fn runs_that_fit_keep_all_rows_and_others_stay_near_the_limit(
            bytes in proptest::collection::vec(prop_oneof![0..10_u64, 0..2_000_u64, 0..40_000_u64], 1..400),
        ) {
            let all: u64 = bytes.iter().sum();
            let (written, changes) = run(&bytes);
            if all < LIMIT {
                prop_assert_eq!((written, changes.len()), (all, 0));
            } else {
                // The last step may go beyond.
                prop_assert!(written >= LIMIT.min(all) && written <= LIMIT + LIMIT / 32 + 40_000 * 2, "{}", written);
            }
        }
    }
}
