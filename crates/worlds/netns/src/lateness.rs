//! How late the emulation handled its events: whether a run on the real clock is valid.

use wayhop_core::Span;
use wayhop_transport::Histogram;

/// Later than this, an event counts as late: a frame of 1500 octets takes 6 ms at 2 Mb/s, and DSR's first request waits 30 ms.
const LATE: Span = Span::from_millis(1);
/// With a larger share of late events the run is `degraded`.
const TOLERATED: f64 = 0.01;

/// The lateness of a run's events: the time on the machine's clock when each was handled, less the time at which it was due.
#[derive(Clone, Debug, Default)]
pub struct Lateness {
    histogram: Histogram,
    late: u64,
}

impl Lateness {
    /// Something was done so much after its time.
    pub fn record(&mut self, late: Span) {
        self.histogram.record(late);
        self.late += u64::from(late > LATE);
    }

    /// Adds what another one has recorded.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.merge(&other.histogram);
        self.late += other.late;
    }

    /// As the summary has it; `None` without an event. The verdict is `ok` if at most 1 % of the events were more than 1 ms late.
    pub fn summary(&self) -> Option<wayhop_trace::Lateness> {
        let late_share = wayhop_trace::ratio(self.late, self.histogram.samples())?;
        let us = |s: Span| s.as_nanos() as f64 / 1e3;
        Some(wayhop_trace::Lateness {
            p50: us(self.histogram.quantile(0.5)?),
            p99: us(self.histogram.quantile(0.99)?),
            max: us(self.histogram.max()?),
            late_share,
            verdict: if late_share <= TOLERATED { "ok" } else { "degraded" }.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_late_event_in_a_hundred_is_tolerated_and_two_are_not() {
        let mut l = Lateness::default();
        (0..99).for_each(|_| l.record(Span::from_micros(80)));
        l.record(Span::from_millis(2));
        let s = l.summary().expect("events");
        assert_eq!((s.verdict.as_str(), s.late_share, s.max), ("ok", 0.01, 2_000.0));
        assert!((s.p50 - 80.0).abs() < 1.0 && (s.p99 - 80.0).abs() < 1.0, "{s:?}");
        l.record(Span::from_millis(3));
        assert_eq!(l.summary().expect("events").verdict, "degraded");
        assert_eq!(
            Lateness::default().summary(),
            None,
            "without an event nothing was late, and nothing on time"
        );
    }
}
