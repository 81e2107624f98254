//! Clocks with known errors.

use proptest::prelude::*;

use super::*;

const SECOND: u64 = 1_000_000_000;

/// A clock that shows `offset_us` when the truth is zero, runs fast by `drift_ppm`, and is set forward by `step_us` at `step_s`.
#[derive(Copy, Clone, Debug)]
struct Truth {
    offset_us: f64,
    drift_ppm: f64,
    step_s: f64,
    step_us: f64,
}

impl Truth {
    fn plain(offset_us: f64, drift_ppm: f64) -> Self {
        Self { offset_us, drift_ppm, step_s: f64::INFINITY, step_us: 0.0 }
    }
    fn shows_ns(&self, truth_s: f64) -> u64 {
        let step = if truth_s >= self.step_s { self.step_us } else { 0.0 };
        let us = truth_s * 1e6 * (1.0 + self.drift_ppm * 1e-6) + self.offset_us + step;
        (us * 1e3).round() as u64
    }
}

/// Numbers by chance that are the same each time.
struct Chance(u64);

impl Chance {
    fn share(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
    /// Exponential, with this mean.
    fn wait(&mut self, mean: f64) -> f64 {
        -mean * libm::log(1.0 - self.share())
    }
}

/// A chain of nodes: each sends unicasts to both neighbours and broadcasts that both hear. Delays are `least_us`, 4 us an octet,
/// and a wait of `wait_us` on average; of 50 frames one is mistaken for another.
fn chain(truths: &[Truth], seconds: f64, rate: f64, wait_us: f64, seed: u64) -> Vec<Observation> {
    let mut chance = Chance(seed | 1);
    let mut all = Vec::new();
    let frames = (seconds * rate) as u64;
    for frame in 0..frames {
        let sent_s = 1.0 + (frame as f64 + chance.share()) / rate;
        let from = (chance.share() * truths.len() as f64) as usize;
        let bytes = if chance.share() < 0.5 { 40 } else { 552 };
        let wait_us = chance.wait(wait_us);
        let mistaken_us = if frame % 50 == 7 { (chance.share() - 0.5) * 4e6 } else { 0.0 };
        let arrives_s = sent_s + (300.0 + 4.0 * f64::from(bytes) + wait_us + mistaken_us) * 1e-6;
        let neighbours = [from.checked_sub(1), Some(from + 1).filter(|n| *n < truths.len())];
        let neighbours: Vec<usize> = neighbours.into_iter().flatten().collect();
        let is_broadcast = chance.share() < 0.3;
        let hear: Vec<usize> =
            if is_broadcast { neighbours } else { vec![neighbours[frame as usize % neighbours.len()]] };
        let times: Vec<u64> =
            hear.iter().map(|n| truths[*n].shows_ns(arrives_s + chance.wait(20.0) * 1e-6)).collect();
        let observation = |kind, from, from_ns, to, to_ns| Observation {
            kind,
            from,
            from_ns,
            to,
            to_ns,
            bytes,
            hops: 1,
            forwarders: 0,
            frame: frame.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ seed,
        };
        let kind = if is_broadcast { ObservationKind::Broadcast } else { ObservationKind::Unicast };
        for (to, at) in hear.iter().zip(&times) {
            all.push(observation(kind, from, truths[from].shows_ns(sent_s), *to, *at));
        }
        if let ([a, b], [at_a, at_b]) = (&hear[..], &times[..]) {
            all.push(observation(ObservationKind::Heard, *a, *at_a, *b, *at_b));
        }
    }
    all
}

/// The largest error of a node's times, microseconds, against the first node's.
fn worst_us(truths: &[Truth], seconds: f64, all: &[Observation]) -> (f64, Clocks) {
    let spans: Vec<(u64, u64)> =
        truths.iter().map(|t| (t.shows_ns(1.0), t.shows_ns(1.0 + seconds))).collect();
    let clocks = Clocks::set(0, &spans, all);
    let mut worst: f64 = 0.0;
    for i in 0..=200 {
        let at_s = 1.0 + seconds * f64::from(i) / 200.0;
        // A jump lies between two frames: when exactly is not to be known.
        if truths.iter().any(|t| (at_s - t.step_s).abs() < 1.0) {
            continue;
        }
        let by_reference = i128::from(truths[0].shows_ns(at_s));
        for (t, clock) in truths.iter().zip(&clocks.of_node) {
            worst = worst.max((clock.time_ns(t.shows_ns(at_s)) - by_reference).abs() as f64 / 1e3);
        }
    }
    (worst, clocks)
}

#[test]
fn drift_and_offset_of_a_chain_are_found() {
    let truths = [Truth::plain(5e6, 12.0), Truth::plain(9e9, -35.0), Truth::plain(0.0, 80.0)];
    let all = chain(&truths, 120.0, 20.0, 400.0, 7);
    let (worst, clocks) = worst_us(&truths, 120.0, &all);
    assert!(worst < 100.0, "{worst} us");
    let told = clocks.told(1, 0);
    // (1 - 35e-6) / (1 + 12e-6) - 1
    assert!((told.drift_ppm + 46.9994).abs() < 1.0, "{told:?}");
    assert!(told.outliers > 0, "frames that were mistaken for others: {told:?}");
    assert!(told.bound_us.is_some_and(|b| (0.0..10_000.0).contains(&b)), "{told:?}");
    assert_eq!(told.segments.len(), 1);
}

/// As a merged run of a node that was killed soon: its part of the run is shorter than a part of the jackknife of all.
#[test]
fn the_error_of_a_short_record_is_that_of_its_own_frames() {
    let truths = [Truth::plain(5e6, 12.0), Truth::plain(9e9, -35.0), Truth::plain(0.0, 80.0)];
    let (mut worst, mut told) = (Vec::new(), Vec::new());
    for seed in 1..=8 {
        let mut all = chain(&truths, 200.0, 40.0, 400.0, seed);
        // The last node sends and hears from 80 to 92 s only.
        let is_within = |node: usize, ns: u64| {
            node != 2 || (truths[2].shows_ns(80.0)..truths[2].shows_ns(92.0)).contains(&ns)
        };
        all.retain(|o| is_within(o.from, o.from_ns) && is_within(o.to, o.to_ns));
        let mut spans: Vec<(u64, u64)> =
            truths.iter().map(|t| (t.shows_ns(1.0), t.shows_ns(201.0))).collect();
        spans[2] = (truths[2].shows_ns(80.0), truths[2].shows_ns(92.0));
        let clocks = Clocks::set(0, &spans, &all);
        let error_at = |s: f64| {
            let by_reference = i128::from(truths[0].shows_ns(s));
            (clocks.of_node[2].time_ns(truths[2].shows_ns(s)) - by_reference).abs() as f64 / 1e3
        };
        worst.push([80.0, 86.0, 92.0].map(error_at).into_iter().fold(0.0, f64::max));
        told.push(clocks.told(2, 0).error_us.expect("enough frames"));
    }
    let middle = |v: &[f64]| {
        let mut v = v.to_vec();
        v.sort_by(f64::total_cmp);
        v[v.len() / 2]
    };
    // The truth is known: the error is told to within a factor of some units, and not as thousands of microseconds.
    let (truth, told) = (middle(&worst), middle(&told));
    assert!(told < 5.0 * truth && told > truth / 5.0, "{told} us of {truth} us");
}

#[test]
fn a_clock_that_was_set_has_two_parts() {
    let set = Truth { step_s: 61.0, step_us: 3e6, ..Truth::plain(2e6, 20.0) };
    let truths = [Truth::plain(0.0, 0.0), set, Truth::plain(7e6, -20.0)];
    let all = chain(&truths, 120.0, 20.0, 400.0, 11);
    let (worst, clocks) = worst_us(&truths, 120.0, &all);
    assert_eq!(clocks.of_node.iter().map(|c| c.parts.len()).collect::<Vec<_>>(), [1, 2, 1]);
    assert!(worst < 200.0, "{worst} us");
}

#[test]
fn frames_in_one_direction_bound_nothing() {
    let truths = [Truth::plain(0.0, 0.0), Truth::plain(1e6, 5.0)];
    let mut all = chain(&truths, 60.0, 20.0, 400.0, 3);
    all.retain(|o| o.from == 0);
    let (_, clocks) = worst_us(&truths, 60.0, &all);
    assert_eq!(clocks.told(1, 0).bound_us, None);
}

#[test]
fn the_reference_is_exact() {
    let truths = [Truth::plain(0.0, 0.0), Truth::plain(1e6, 5.0)];
    let all = chain(&truths, 60.0, 20.0, 400.0, 3);
    let spans = [(SECOND, 61 * SECOND); 2];
    let told = Clocks::set(0, &spans, &all).told(0, 0);
    assert_eq!((told.drift_ppm, told.error_us, told.bound_us), (0.0, Some(0.0), Some(0.0)));
    assert_eq!(told.segments, [ClockSegment { from_s: 0.0, offset_s: 0.0 }]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn any_clocks_are_found_within_100_us_and_usually_three_standard_errors(
        offsets in proptest::collection::vec((0.0..1e10_f64, -100.0..100.0_f64), 2..6),
        seed in any::<u64>(),
    ) {
        let truths: Vec<Truth> = offsets.into_iter().map(|(o, d)| Truth::plain(o, d)).collect();
        let all = chain(&truths, 200.0, 25.0, 300.0, seed);
        let (worst, clocks) = worst_us(&truths, 200.0, &all);
        prop_assert!(worst < 100.0, "{} us", worst);
        for node in 1..truths.len() {
            let error = clocks.told(node, 0).error_us;
            // The error says of itself that it is large where it is.
            prop_assert!(error.is_some_and(|e| worst < 100.0_f64.min(30.0 + 12.0 * e)), "{:?} {}", error, worst);
        }
    }
}
