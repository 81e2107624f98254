//! A rate control like Linux' Minstrel (net/mac80211/rc80211_minstrel): statistics of each rate, renewed ten times a second, and
//! one packet in ten that tries another rate than the best.
//!
//! Unlike there, a rate is tried twice before the next one in a packet's chain, whatever its airtime, and which rate a sample takes
//! is drawn, not read from a table.

use wayhop_core::{Span, Time};

use crate::phy::Phy;

/// How often statistics are renewed.
const INTERVAL: Span = Span::from_millis(100);
/// What the past counts for in a renewal.
const PAST: f64 = 0.75;
/// One packet in this many is a sample.
const SAMPLE_EVERY: u64 = 10;
/// A rate that gets less than this share through carries nothing.
const USELESS: f64 = 0.1;
/// How often each stage of the chain is tried.
const TRIES: u8 = 2;
/// Octets of the frame whose airtime is compared.
const TYPICAL_BYTES: u32 = 1200;

/// How long a typical frame and its ACK take at each rate, us.
#[derive(Clone, Debug)]
pub(super) struct Airtimes(Vec<f64>);

impl Airtimes {
    pub(super) fn new(phy: &Phy, rates_mbps: &[f64]) -> Self {
        let us = |&rate: &f64| {
            let answer = phy.answer_airtime(phy.control_rate_mbps(rate));
            (phy.airtime_at(TYPICAL_BYTES, rate) + answer).as_nanos() as f64 / 1000.0
        };
        Self(rates_mbps.iter().map(us).collect())
    }
}

/// What is known of one rate.
#[derive(Clone, Copy, Debug, Default)]
struct Statistics {
    /// Since the last renewal.
    attempts: u32,
    successes: u32,
    /// The chance that a frame is acknowledged; `None` before the first try.
    probability: Option<f64>,
}

/// A sender's view of one neighbour.
#[derive(Debug, Default)]
pub(super) struct Minstrel {
    of: Vec<Statistics>,
    renewed: Time,
    packets: u64,
    samples: u64,
    best: usize,
    second: usize,
    most_reliable: usize,
    /// The rates of the present packet, in the order in which they are tried.
    chain: [usize; 4],
}

impl Minstrel {
    /// Starts with the lowest of this number of rates.
    pub(super) fn new(rates: usize) -> Self {
        Self { of: vec![Statistics::default(); rates], ..Self::default() }
    }

    /// A packet becomes the one that is sent next. `draw` gives the random number of a packet.
    pub(super) fn begin(&mut self, now: Time, airtimes: &Airtimes, draw: impl Fn(u64) -> u64) {
        if now.since(self.renewed) >= INTERVAL {
            self.renew(airtimes);
            self.renewed = now;
        }
        self.packets += 1;
        self.chain = [self.best, self.second, self.most_reliable, 0];
        let others = self.of.len() as u64 - 1;
        if others > 0 && self.packets > self.samples * SAMPLE_EVERY {
            self.samples += 1;
            let k = ((u128::from(draw(self.packets)) * u128::from(others)) >> 64) as usize;
            let sample = if k >= self.best { k + 1 } else { k };
            // A slower rate than the best is worth a try only where that one fails.
            self.chain = [sample.max(self.best), sample.min(self.best), self.most_reliable, 0];
        }
    }

    /// The rate after this many failures of the present packet.
    pub(super) fn rate(&self, failures: u8) -> usize {
        self.chain[usize::from(failures / TRIES).min(3)]
    }

    pub(super) fn report(&mut self, failures: u8, acknowledged: bool) {
        let rate = self.rate(failures);
        let of = &mut self.of[rate];
        of.attempts += 1;
        of.successes += u32::from(acknowledged);
    }

    fn renew(&mut self, airtimes: &Airtimes) {
        for s in self.of.iter_mut().filter(|s| s.attempts > 0) {
            let now = f64::from(s.successes) / f64::from(s.attempts);
            s.probability = Some(s.probability.map_or(now, |before| PAST * before + (1.0 - PAST) * now));
            (s.attempts, s.successes) = (0, 0);
        }
        let probability = |i: usize| self.of[i].probability.unwrap_or(0.0);
        let throughput = |i: usize| {
            let p = probability(i);
            if p < USELESS { 0.0 } else { p / airtimes.0[i] }
        };
        // Of two that are alike the slower one, so that a link of which nothing is known is tried with the lowest.
        let highest = |of: &dyn Fn(usize) -> f64, but: Option<usize>| {
            let candidates = (0..self.of.len()).filter(|i| Some(*i) != but);
            candidates.fold(0, |best, i| if Some(best) == but || of(i) > of(best) { i } else { best })
        };
        let best = highest(&throughput, None);
        let second = if self.of.len() > 1 { highest(&throughput, Some(best)) } else { best };
        let most_reliable = highest(&probability, None);
        (self.best, self.second, self.most_reliable) = (best, second, most_reliable);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RadioConfig;
    use wayhop_core::{Purpose, draw};

    /// Sends one packet per millisecond for `ms` milliseconds over a link that supports rates up to
    /// `works`. Returns how many packets of the second half were first tried at each rate.
    fn first_tries(works: usize, ms: u64, minstrel: &mut Minstrel, begin_ms: u64) -> [u32; 8] {
        let phy = Phy::new(&RadioConfig::preset("80211g-54").unwrap());
        let airtimes = Airtimes::new(&phy, &[6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0]);
        let mut tries = [0; 8];
        for i in begin_ms..begin_ms + ms {
            let now = Time::from_nanos(i * 1_000_000);
            minstrel.begin(now, &airtimes, |n| draw(1, Purpose::RateControl, [0, 1, n]));
            if i >= begin_ms + ms / 2 {
                tries[minstrel.rate(0)] += 1;
            }
            for failures in 0..7 {
                let ok = minstrel.rate(failures) <= works;
                minstrel.report(failures, ok);
                if ok {
                    break;
                }
            }
        }
        tries
    }

    #[test]
    fn it_finds_the_fastest_rate_that_works_and_follows_the_link_down_and_up() {
        let mut m = Minstrel::new(8);
        let mut begin = 0;
        for works in [7, 4, 0, 5] {
            let tries = first_tries(works, 4_000, &mut m, begin);
            begin += 4_000;
            // All but one in ten, some of them at slower rates behind the best one.
            assert!(tries[works] >= 1_780, "{works}: {tries:?}");
            // Faster ones are tried now and then.
            assert!(works == 7 || tries[works + 1..].iter().sum::<u32>() > 0, "{works}: {tries:?}");
        }
    }

    #[test]
    fn a_packet_that_fails_goes_down_to_the_lowest_rate() {
        let mut m = Minstrel::new(8);
        first_tries(5, 1_000, &mut m, 0);
        let chain: Vec<usize> = (0..8).map(|f| m.rate(f)).collect();
        assert_eq!(chain[6..], [0, 0]);
        assert!(chain[2] == 5 || chain[0] == 5, "{chain:?}");
    }
}
