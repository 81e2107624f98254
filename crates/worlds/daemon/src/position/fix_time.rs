//! When a position was taken, on the node's clock.
//!
//! A report arrives up to a second after its receiver took the position, and is read up to a second
//! after that; a car moves 30 m meanwhile. The report has its time on the receiver's clock, which
//! is UTC; the host's clock need not be.

use std::time::Instant;

use wayhop_control::gpsd::GpsReport;
use wayhop_core::Time;

/// A report is at most that old when it arrives; with a greater age the clocks of host and receiver differ.
const OLDEST_NS: i128 = 2_000_000_000;
/// If ages differ by more than this, one of the clocks was set.
const SET_NS: i128 = 5_000_000_000;

/// The node's clock, and what is known of the receiver's.
#[derive(Clone, Debug)]
pub(crate) struct FixClock {
    /// The node's time zero, on both clocks of the host.
    begun: Instant,
    zero_unix_ns: i128,
    /// The least age of a report when it arrived, if both clocks are right.
    least_ns: Option<i128>,
}

impl FixClock {
    /// Of a node that began at this moment.
    pub(crate) fn new(begun: Instant, zero_unix_ns: u64) -> Self {
        Self { begun, zero_unix_ns: zero_unix_ns.into(), least_ns: None }
    }

    /// When the position of a report was taken, or, if the receiver does not say, arrived. If the two clocks differ, the report with the
    /// least age counts as new when it came.
    pub(crate) fn taken(&mut self, report: &GpsReport) -> Time {
        let arrived_ns = report.at.saturating_duration_since(self.begun).as_nanos() as i128;
        let Some(taken_ns) = report.quality.time_unix_ns.map(|t| i128::from(t) - self.zero_unix_ns) else {
            return time(arrived_ns);
        };
        let age_ns = arrived_ns - taken_ns;
        let was_set = self.least_ns.is_some_and(|least| (age_ns - least).abs() > SET_NS);
        let least = self.least_ns.filter(|_| !was_set).map_or(age_ns, |least| least.min(age_ns));
        self.least_ns = Some(least);
        let shift = if (0..=OLDEST_NS).contains(&least) { 0 } else { least };
        time((taken_ns + shift).min(arrived_ns))
    }
}

/// A position from before the node began is from its beginning.
fn time(ns: i128) -> Time {
    Time::from_nanos(u64::try_from(ns.max(0)).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use wayhop_core::{Fix, FixQuality};

    use super::*;

    const ZERO: u64 = 1_795_000_000_000_000_000;

    /// When positions were taken that arrive at these milliseconds, by the receiver's clock at those after the node's zero.
    fn taken(reports: &[(u64, Option<i64>)]) -> Vec<u64> {
        let begun = Instant::now();
        let mut clock = FixClock::new(begun, ZERO);
        let one = |(at, fix): &(u64, Option<i64>)| {
            let time_unix_ns = fix.map(|ms| ZERO.wrapping_add_signed(ms * 1_000_000));
            let quality = FixQuality { time_unix_ns, ..FixQuality::default() };
            let report = GpsReport { fix: Fix::default(), quality, at: begun + Duration::from_millis(*at) };
            clock.taken(&report).as_nanos() / 1_000_000
        };
        reports.iter().map(one).collect()
    }

    #[test]
    fn with_a_right_clock_the_receivers_time_counts() {
        assert_eq!(
            taken(&[(1_150, Some(1_000)), (2_900, Some(2_000)), (3_150, Some(3_000))]),
            [1_000, 2_000, 3_000]
        );
        assert_eq!(taken(&[(300, Some(-200)), (1_200, None)]), [0, 1_200]);
    }

    #[test]
    fn with_a_wrong_clock_the_quickest_report_tells_how_wrong_it_is() {
        // The host is 60 s slow: reports seem to be from the future.
        let slow = [(1_200, Some(61_000)), (2_900, Some(62_000)), (3_150, Some(63_000))];
        assert_eq!(taken(&slow), [1_200, 2_200, 3_150]);
        // The receiver's clock is set, as after a cold start.
        let set = [(1_100, Some(-900_000_000)), (2_100, Some(2_000)), (3_100, Some(3_000))];
        assert_eq!(taken(&set), [1_100, 2_000, 3_000]);
    }
}
