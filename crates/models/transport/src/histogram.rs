//! Quantiles of times in little memory.

use wayhop_core::Span;

/// Each power of two is cut into this many buckets of equal width.
const PER_OCTAVE: u64 = 64;
const OCTAVE_BITS: u32 = PER_OCTAVE.trailing_zeros();

/// Samples of times: mean and extremes exact, quantiles within 0.8 %.
///
/// Buckets are log-linear: exact below 128 ns, above that each is at most 1/64 of its lower bound wide and answers with its
/// middle. Only the buckets between the smallest and the largest sample are kept: 256 octets for each factor of two
/// between them.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// The index of `counts[0]`.
    first: usize,
    counts: Vec<u32>,
    samples: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl Histogram {
    /// Adds a sample.
    pub fn record(&mut self, sample: Span) {
        let ns = sample.as_nanos();
        self.min_ns = if self.samples == 0 { ns } else { self.min_ns.min(ns) };
        self.max_ns = self.max_ns.max(ns);
        self.samples += 1;
        self.sum_ns += u128::from(ns);
        let at = self.make_room(index(ns), 1);
        self.counts[at] = self.counts[at].saturating_add(1);
    }

    /// Makes room for these buckets; where the first of them is in `counts`.
    fn make_room(&mut self, first: usize, buckets: usize) -> usize {
        if self.counts.is_empty() {
            self.first = first;
        }
        if first < self.first {
            self.counts.splice(..0, std::iter::repeat_n(0, self.first - first));
            self.first = first;
        }
        let at = first - self.first;
        self.counts.resize(self.counts.len().max(at + buckets), 0);
        at
    }

    /// Adds all samples of another.
    pub fn merge(&mut self, other: &Self) {
        if other.samples == 0 {
            return;
        }
        self.min_ns = if self.samples == 0 { other.min_ns } else { self.min_ns.min(other.min_ns) };
        self.max_ns = self.max_ns.max(other.max_ns);
        self.samples += other.samples;
        self.sum_ns += other.sum_ns;
        let at = self.make_room(other.first, other.counts.len());
        for (own, more) in self.counts[at..].iter_mut().zip(&other.counts) {
            *own = own.saturating_add(*more);
        }
    }

    /// How many samples there are.
    pub fn samples(&self) -> u64 {
        self.samples
    }
    /// The mean; `None` without samples.
    pub fn mean(&self) -> Option<Span> {
        let mean = self.sum_ns.checked_div(u128::from(self.samples))?;
        Some(Span::from_nanos(mean as u64))
    }
    /// The smallest sample.
    pub fn min(&self) -> Option<Span> {
        (self.samples > 0).then(|| Span::from_nanos(self.min_ns))
    }
    /// The largest sample.
    pub fn max(&self) -> Option<Span> {
        (self.samples > 0).then(|| Span::from_nanos(self.max_ns))
    }
    /// The quantile `q` from 0 to 1 by nearest rank: the smallest sample that at least the share `q` of all samples does
    /// not exceed. Within 0.8 % of that sample.
    pub fn quantile(&self, q: f64) -> Option<Span> {
        let rank = ((q * self.samples as f64).ceil() as u64).clamp(1, self.samples.max(1));
        let mut below = 0;
        let at = self.counts.iter().position(|c| {
            below += u64::from(*c);
            below >= rank
        })?;
        Some(Span::from_nanos(middle(self.first + at).clamp(self.min_ns, self.max_ns)))
    }
}

/// The bucket of a value: numbers below 2 * 64 have their own; above, the octave and the next six bits.
fn index(ns: u64) -> usize {
    let octave = ns.checked_ilog2().unwrap_or(0).saturating_sub(OCTAVE_BITS);
    (u64::from(octave) * PER_OCTAVE + (ns >> octave)) as usize
}

/// The middle of a bucket.
fn middle(index: usize) -> u64 {
    let i = index as u64;
    let octave = (i / PER_OCTAVE).saturating_sub(1);
    let low = (i - octave * PER_OCTAVE) << octave;
    low + ((1 << octave) - 1) / 2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bucket_middles_are_within_the_stated_error_everywhere() {
        for shift in 0..64 {
            for mantissa in [0u64, 1, 1 << 62, (1 << 63) - 1] {
                let ns = (1 << 63 | mantissa) >> shift;
                let error = middle(index(ns)).abs_diff(ns) as f64 / ns as f64;
                assert!(error <= 1.0 / 128.0, "{ns}: {error}");
                assert_eq!(index(middle(index(ns))), index(ns));
            }
        }
        assert_eq!((index(0), index(127), index(128), index(129), index(130)), (0, 127, 128, 128, 129));
    }

    proptest! {
        #[test]
        fn quantiles_are_near_those_of_the_sorted_samples(
            ns in proptest::collection::vec(prop_oneof![0u64..1_000, 1_000_000u64..50_000_000, 0u64..60_000_000_000], 1..400),
            q in 0.0..=1.0,
        ) {
            let mut h = Histogram::default();
            for n in &ns {
                h.record(Span::from_nanos(*n));
            }
            let mut sorted = ns.clone();
            sorted.sort_unstable();
            let exact = |q: f64| sorted[((q * ns.len() as f64).ceil() as usize).max(1) - 1] as f64;
            for q in [q, 0.5, 0.95, 0.99] {
                let got = h.quantile(q).expect("there are samples").as_nanos() as f64;
                prop_assert!((got - exact(q)).abs() <= exact(q) * 0.008, "{} for {}", got, exact(q));
            }
            prop_assert_eq!(h.max().map(Span::as_nanos), sorted.last().copied());
            prop_assert_eq!(h.quantile(1.0).map(|s| s.as_nanos() <= sorted[ns.len() - 1]), Some(true));
            prop_assert_eq!(h.min().map(Span::as_nanos), sorted.first().copied());
            prop_assert_eq!(h.mean().map(Span::as_nanos), Some(ns.iter().sum::<u64>() / ns.len() as u64));
        }
    }

    #[test]
    fn without_samples_there_is_nothing_to_say() {
        let h = Histogram::default();
        assert_eq!((h.mean(), h.max(), h.min(), h.quantile(0.5), h.samples()), (None, None, None, None, 0));
    }
}
