//! The third way: an estimate that the link works.

use std::net::Ipv4Addr;

use wayhop_core::{Span, Time};

use super::{BadLinkMemory, CAPACITY, DirectedLink, Evidence};
use crate::table::SortedTable;

/// What a scenario chooses about [`Probability`].
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct ProbabilityParams {
    /// A link with a smaller probability is refused.
    pub threshold: f64,
    /// The received power at which a link is expected to work half of the time, dBm.
    pub half_dbm: f64,
    /// The exponent of the law by which power falls with distance.
    pub path_loss_exponent: f64,
}

/// How many dB above the power of even odds the odds are e : 1.
const SCALE_DB: f64 = 2.0;
/// How many outcomes the signal's word is worth.
const PRIOR_WEIGHT: f64 = 2.0;
/// How many outcomes one failure is worth: it stands for every transmission of a packet that was given up.
const FAILURE_WEIGHT: f64 = 3.0;
/// After this time an outcome counts for half.
const HALF_LIFE: Span = Span::from_secs(10);

/// The probability that a link works: the word of the signal, outweighed by outcomes.
///
/// p = (w q + s) / (w + s + f), where
/// * q = 1 / (1 + exp(-(P - P_half) / scale)) is what the signal says. P is the power at which this node should hear the
///   other end now: the mean power of its last frames, less 10 n log10(d / d0). d0 is how far apart the two were last known
///   to be, d how far apart they should be by now, each going on with its heading and speed. Without positions, P is the
///   mean power moved on by its trend for the time since the last frame, at most 5 s. q = 1/2 for a link between two other
///   nodes and for an end that was never heard.
/// * w = 2.
/// * s counts acknowledged packets, at most 4; f counts failures, each worth 3. Both halve with
///   every 10 s.
///
/// The doubt about a link is 1 - p.
#[derive(Clone, Debug)]
pub struct Probability {
    rows: SortedTable<DirectedLink, Outcomes>,
    params: ProbabilityParams,
}

/// More acknowledged packets than this do not count, so that a link that breaks is soon given up.
const MOST_SUCCESSES: f64 = 4.0;
/// For how long a signal's trend is followed.
const LONGEST_TREND: Span = Span::from_secs(5);

#[derive(Copy, Clone, Debug)]
struct Outcomes {
    successes: f64,
    failures: f64,
    at: Time,
}

impl Outcomes {
    fn at(&self, now: Time) -> Self {
        let k = libm::exp2(-now.since(self.at).as_secs_f64() / HALF_LIFE.as_secs_f64());
        Self { successes: self.successes * k, failures: self.failures * k, at: now }
    }
}

impl Probability {
    /// A memory with these constants.
    pub fn new(params: ProbabilityParams) -> Self {
        Self { rows: SortedTable::new(CAPACITY), params }
    }

    /// The probability that a packet comes through over `link`.
    pub fn of(&self, link: DirectedLink, known: &Evidence<'_>) -> f64 {
        let w = PRIOR_WEIGHT;
        let q = self.by_signal(link, known).unwrap_or(0.5);
        let o = self.rows.get(link).map(|o| o.at(known.now));
        let (s, f) = o.map_or((0.0, 0.0), |o| (o.successes, o.failures));
        (w * q + s) / (w + s + f)
    }

    fn by_signal(&self, link: DirectedLink, known: &Evidence<'_>) -> Option<f64> {
        let other = match (link.from == known.me, link.to == known.me) {
            (true, false) => link.to,
            (false, true) => link.from,
            _ => return None,
        };
        let power = self.expected_dbm(other, known)?;
        Some(1.0 / (1.0 + libm::exp(-(power - self.params.half_dbm) / SCALE_DB)))
    }

    /// The power at which `other` should be heard now, dBm.
    fn expected_dbm(&self, other: Ipv4Addr, known: &Evidence<'_>) -> Option<f64> {
        let signal = known.signals.of(other)?;
        let then = known.positions.distance_m(known.me, other);
        let now = known.positions.predicted_distance_m(known.me, other, known.now);
        if let (Some(d0), Some(d)) = (then, now) {
            // Closer than a metre, distances say nothing.
            let ratio = d.max(1.0) / d0.max(1.0);
            return Some(signal.mean_dbm - 10.0 * self.params.path_loss_exponent * libm::log10(ratio));
        }
        let since = known.now.since(signal.heard).min(LONGEST_TREND).as_secs_f64();
        Some(signal.mean_dbm + signal.trend_db_per_s * since)
    }

    fn note(&mut self, link: DirectedLink, now: Time, successes: f64, failures: f64) {
        let row = self.rows.touch(link, now, || Outcomes { successes: 0.0, failures: 0.0, at: now });
        let old = row.at(now);
        row.at = now;
        row.successes = (old.successes + successes).min(MOST_SUCCESSES);
        row.failures = old.failures + failures;
    }
}

impl BadLinkMemory for Probability {
    fn boxed(&self) -> Box<dyn BadLinkMemory> {
        Box::new(self.clone())
    }
    fn failed(&mut self, link: DirectedLink, known: &Evidence<'_>) {
        self.note(link, known.now, 0.0, FAILURE_WEIGHT);
    }
    fn worked(&mut self, link: DirectedLink, known: &Evidence<'_>) {
        self.note(link, known.now, 1.0, 0.0);
    }
    fn doubt(&self, link: DirectedLink, known: &Evidence<'_>) -> f64 {
        1.0 - self.of(link, known)
    }
    fn refuses(&self, link: DirectedLink, known: &Evidence<'_>) -> bool {
        self.of(link, known) < self.params.threshold
    }
    fn is_empty(&self) -> bool {
        // A weak signal alone is reason enough to refuse.
        false
    }
    fn links(&self, each: &mut dyn FnMut(DirectedLink)) {
        self.rows.iter().for_each(|(link, _)| each(link));
    }
}
