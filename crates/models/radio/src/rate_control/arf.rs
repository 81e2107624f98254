//! Automatic rate fallback (Kamerman and Monteban, *WaveLAN-II: a high-performance wireless LAN for the unlicensed band*, 1997),
//! with the constants that ns-3's `ArfWifiManager` has as well.

/// This many consecutive acknowledged frames raise the rate.
const SUCCESSES: u32 = 10;
/// The same happens after this many frames since the last change, acknowledged or not, with the next one that is.
const PATIENCE: u32 = 15;
/// This many consecutive lost frames lower it.
const FAILURES: u32 = 2;

/// A sender's view of one neighbour.
#[derive(Debug)]
pub(super) struct Arf {
    rates: usize,
    rate: usize,
    successes: u32,
    failures: u32,
    frames: u32,
    /// The rate has just been raised: the first lost frame takes that back.
    is_trial: bool,
}

impl Arf {
    /// Starts with the lowest of this number of rates.
    pub(super) fn new(rates: usize) -> Self {
        Self { rates, rate: 0, successes: 0, failures: 0, frames: 0, is_trial: false }
    }

    pub(super) fn rate(&self) -> usize {
        self.rate
    }

    pub(super) fn report(&mut self, acknowledged: bool) {
        self.frames += 1;
        if acknowledged {
            self.successes += 1;
            self.failures = 0;
            self.is_trial = false;
            if (self.successes >= SUCCESSES || self.frames >= PATIENCE) && self.rate + 1 < self.rates {
                self.change(self.rate + 1);
                self.is_trial = true;
            }
            return;
        }
        self.failures += 1;
        self.successes = 0;
        if self.is_trial || self.failures >= FAILURES {
            self.change(self.rate.saturating_sub(1));
        }
    }

    fn change(&mut self, rate: usize) {
        *self = Self { rate, ..Self::new(self.rates) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(reports: impl IntoIterator<Item = bool>, mut arf: Arf) -> Arf {
        reports.into_iter().for_each(|r| arf.report(r));
        arf
    }

    #[test]
    fn ten_frames_raise_the_rate_two_losses_lower_it_and_a_lost_trial_takes_it_back() {
        let arf = after([true; 9], Arf::new(3));
        assert_eq!(arf.rate(), 0);
        let arf = after([true], arf);
        assert_eq!(arf.rate(), 1);
        // The trial.
        let arf = after([false], arf);
        assert_eq!(arf.rate(), 0);
        let arf = after([true; 30], arf);
        assert_eq!(arf.rate(), 2, "the highest");
        let arf = after([false], arf);
        assert_eq!(arf.rate(), 2, "one loss alone changes nothing");
        let arf = after([false], arf);
        assert_eq!(arf.rate(), 1);
        let arf = after([false; 10], arf);
        assert_eq!(arf.rate(), 0, "the lowest");
    }

    #[test]
    fn who_loses_every_other_frame_tries_again_after_fifteen() {
        let reports = (0..14).map(|i| i % 2 == 0);
        let arf = after(reports, Arf::new(2));
        assert_eq!(arf.rate(), 0);
        assert_eq!(after([true], arf).rate(), 1);
    }
}
