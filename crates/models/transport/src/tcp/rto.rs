//! The retransmission timeout (RFC 6298), by an exact clock or by ns-2's ticks.

use wayhop_core::{Span, Time};

/// How the timeout is computed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RtoConfig {
    /// The clock's tick: round trips are counted in ticks, in integers, as BSD and ns-2 do. `None` for an exact clock.
    pub tick: Option<Span>,
    /// Before the first measurement.
    pub initial: Span,
    /// At least, before it is backed off.
    pub min: Span,
    /// At most.
    pub max: Span,
    /// Whether it stays where the first of several timeouts in a row has doubled it: a second one in a row is taken for
    /// a lost route, not for congestion (Dyer and Boppana 2001).
    pub fixed: bool,
}

impl RtoConfig {
    /// RFC 6298: one second at first and at least, a minute at most.
    pub const fn rfc() -> Self {
        Self {
            tick: None,
            initial: Span::from_secs(1),
            min: Span::from_secs(1),
            max: Span::from_secs(60),
            fixed: false,
        }
    }
    /// ns-2.35's defaults: `tcpTick_`, `rtxcur_init_`, `minrto_`, `maxrto_`.
    pub const fn ns2() -> Self {
        Self {
            tick: Some(Span::from_millis(10)),
            initial: Span::from_secs(3),
            min: Span::from_millis(200),
            ..Self::rfc()
        }
    }

    pub(crate) fn check(&self) -> Result<(), (&'static str, String)> {
        let wrong = |key, why: &str| Err((key, why.to_owned()));
        if self.tick == Some(Span::ZERO) {
            return wrong("tick_s", "give a time above zero");
        }
        if self.initial == Span::ZERO {
            return wrong("initial_rto_s", "give a time above zero");
        }
        if self.max < self.min || self.max == Span::ZERO {
            let (max, min) = (self.max.as_secs_f64(), self.min.as_secs_f64());
            return Err(("max_rto_s", format!("{max} s is below min_rto_s, {min} s")));
        }
        Ok(())
    }
}

/// What a sender knows of its round trips.
#[derive(Clone, Debug)]
pub(crate) struct Estimator {
    config: RtoConfig,
    /// For ticks: by how much the clock is ahead of a whole tick at time zero.
    phase: Span,
    smoothed: Smoothed,
    /// Without back-off.
    base: Span,
    backoff: u64,
}

#[derive(Clone, Debug)]
enum Smoothed {
    Unknown,
    Exact {
        srtt: Span,
        variation: Span,
    },
    /// In ticks, scaled by 8 and by 4.
    Ticks {
        srtt: i64,
        variation: i64,
    },
}

impl Estimator {
    /// `phase`: see the field; below one tick.
    pub(crate) fn new(config: RtoConfig, phase: Span) -> Self {
        Self { config, phase, smoothed: Smoothed::Unknown, base: config.initial, backoff: 1 }
    }

    /// A segment sent at `sent`, and only then, was acknowledged at `now`. Ends the back-off (Karn and Partridge 1987).
    pub(crate) fn sample(&mut self, sent: Time, now: Time) {
        self.backoff = 1;
        let rtt = now.since(sent);
        match self.config.tick {
            None => self.sample_exact(rtt),
            Some(tick) => {
                let into_tick = (sent + self.phase).as_nanos() % tick.as_nanos();
                let ticks = (rtt.as_nanos() + into_tick) / tick.as_nanos();
                self.sample_ticks(ticks.max(1) as i64, tick);
            }
        }
    }

    fn sample_exact(&mut self, rtt: Span) {
        let before = match self.smoothed {
            Smoothed::Exact { srtt, variation } => Some((srtt, variation)),
            _ => None,
        };
        let (srtt, variation) = smoothed(before, rtt);
        self.smoothed = Smoothed::Exact { srtt, variation };
        self.base = srtt + variation * 4;
    }

    /// Jacobson's integer arithmetic, with ns-2's constants.
    fn sample_ticks(&mut self, rtt: i64, tick: Span) {
        let (srtt, variation) = match self.smoothed {
            Smoothed::Ticks { srtt, variation } if srtt != 0 => {
                let error = rtt - (srtt >> 3);
                let change = error.abs() - (variation >> 2);
                ((srtt + error).max(1), (variation + change).max(1))
            }
            _ => (rtt << 3, rtt << 1),
        };
        self.smoothed = Smoothed::Ticks { srtt, variation };
        self.base = tick * (((variation << 3) + srtt) >> 3) as u64;
    }

    /// The timeout as it stands.
    pub(crate) fn timeout(&self) -> Span {
        let t = (self.base.max(self.config.min) * self.backoff).min(self.config.max);
        self.config.tick.map_or(t, |tick| t.max(tick * 2))
    }

    /// The timer ran out.
    pub(crate) fn back_off(&mut self) {
        let most = if self.config.fixed { 2 } else { 1 << 30 };
        if self.timeout() < self.config.max {
            self.backoff = (self.backoff * 2).min(most);
        }
        // After many timeouts the mean says nothing any more; ns-2 moves it into the variation.
        if let Smoothed::Ticks { srtt, variation } = &mut self.smoothed
            && self.backoff > 8
        {
            *variation += *srtt >> 3;
            *srtt = 0;
        }
    }

    /// Takes the last doubling back (RFC 6069); whether there was one.
    pub(crate) fn revert(&mut self) -> bool {
        let backed_off = self.backoff > 1;
        self.backoff = (self.backoff / 2).max(1);
        backed_off
    }

    /// Whether the timer has run out since the last measurement.
    pub(crate) fn is_backed_off(&self) -> bool {
        self.backoff > 1
    }

    /// The smoothed round-trip time.
    pub(crate) fn srtt(&self) -> Option<Span> {
        match self.smoothed {
            Smoothed::Unknown => None,
            Smoothed::Exact { srtt, .. } => Some(srtt),
            Smoothed::Ticks { srtt, .. } => Some(self.config.tick? * srtt as u64 / 8),
        }
    }
}

/// The mean and the variation of round trips after another one (RFC 6298, section 2).
pub(crate) fn smoothed(before: Option<(Span, Span)>, rtt: Span) -> (Span, Span) {
    let Some((srtt, variation)) = before else { return (rtt, rtt / 2) };
    let error = if srtt > rtt { srtt - rtt } else { rtt - srtt };
    ((srtt * 7 + rtt) / 8, (variation * 3 + error) / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Time {
        Time::from_nanos(n * 1_000_000)
    }

    #[test]
    fn the_exact_clock_follows_rfc_6298_by_hand() {
        let config = RtoConfig { min: Span::from_millis(1), ..RtoConfig::rfc() };
        let mut e = Estimator::new(config, Span::ZERO);
        assert_eq!(e.timeout(), Span::from_secs(1));
        // 2.2: SRTT = R, RTTVAR = R/2, RTO = R + 4 R/2.
        e.sample(ms(0), ms(100));
        assert_eq!(e.timeout(), Span::from_millis(300));
        // 2.3: RTTVAR = 3/4 50 + 1/4 |100 - 180| = 57.5; SRTT = 7/8 100 + 1/8 180 = 110; RTO = 340.
        e.sample(ms(1_000), ms(1_180));
        assert_eq!((e.srtt(), e.timeout()), (Some(Span::from_millis(110)), Span::from_millis(340)));
    }

    #[test]
    fn it_doubles_up_to_its_bound_and_a_measurement_ends_that() {
        let mut e = Estimator::new(RtoConfig::rfc(), Span::ZERO);
        let mut seen = Vec::new();
        for _ in 0..8 {
            seen.push(e.timeout().as_millis() / 1_000);
            e.back_off();
        }
        assert_eq!(seen, [1, 2, 4, 8, 16, 32, 60, 60]);
        e.sample(ms(0), ms(400));
        assert_eq!(e.timeout(), Span::from_millis(1_200));
    }

    #[test]
    fn a_fixed_timeout_doubles_once_only() {
        let mut e = Estimator::new(RtoConfig { fixed: true, ..RtoConfig::rfc() }, Span::ZERO);
        for want in [1, 2, 2, 2] {
            assert_eq!(e.timeout(), Span::from_secs(want));
            e.back_off();
        }
    }

    #[test]
    fn ticks_count_whole_boundaries_as_ns_2_does() {
        // Sent 4 ms into a tick of 10 ms, answered 17 ms later: two ticks. srtt = 16/8, variation = 4/4, so
        // RTO = 2 + 4 ticks, which is below twice... no bound: 60 ms, raised to 200.
        let mut e = Estimator::new(RtoConfig::ns2(), Span::from_millis(4));
        e.sample(ms(20), ms(37));
        assert_eq!((e.srtt(), e.timeout()), (Some(Span::from_millis(20)), Span::from_millis(200)));
        // 43 ticks: error = 41, srtt = 16 + 41 = 57, variation = 4 + 41 - 1 = 44; RTO = (44*8 + 57) / 8 = 51 ticks.
        e.sample(ms(100), ms(526));
        assert_eq!(e.timeout(), Span::from_millis(510));
    }
}
