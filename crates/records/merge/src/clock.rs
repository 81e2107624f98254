//! A node's clock as a function to the reference's.

/// How times of one node become times of the reference. Between two settings of the clock this is a line.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clock {
    /// Where the line turns: the middle of the node's record, nanoseconds by its own clock.
    pub(crate) pivot_ns: u64,
    /// Microseconds to be added for each second from the pivot.
    pub(crate) slope_ppm: f64,
    /// The parts of the run: from when on by the node's own clock, and what is to be added at the pivot, microseconds.
    pub(crate) parts: Vec<(u64, f64)>,
}

impl Clock {
    pub(crate) fn part(&self, own_ns: u64) -> usize {
        self.parts.partition_point(|(from, _)| *from <= own_ns).saturating_sub(1)
    }

    pub(crate) fn since_pivot_s(&self, own_ns: u64) -> f64 {
        (i128::from(own_ns) - i128::from(self.pivot_ns)) as f64 / 1e9
    }

    /// What is to be added to a time, microseconds.
    pub(crate) fn correction_us(&self, own_ns: u64) -> f64 {
        self.parts[self.part(own_ns)].1 + self.slope_ppm * self.since_pivot_s(own_ns)
    }

    /// The reference's time, nanoseconds; it may be before the reference began.
    pub(crate) fn time_ns(&self, own_ns: u64) -> i128 {
        i128::from(own_ns) + (self.correction_us(own_ns) * 1e3).round() as i128
    }

    /// By how much the clock runs faster than the reference's, in millionths.
    pub(crate) fn drift_ppm(&self) -> f64 {
        -self.slope_ppm / (1.0 + self.slope_ppm * 1e-6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_for_each_part() {
        let clock = Clock {
            pivot_ns: 10_000_000_000,
            slope_ppm: -100.0,
            parts: vec![(0, 500.0), (20_000_000_000, 1_000_500.0)],
        };
        assert_eq!(clock.time_ns(10_000_000_000), 10_000_500_000);
        assert_eq!(clock.time_ns(0), 1_500_000);
        assert_eq!(clock.time_ns(20_000_000_000), 21_000_500_000 - 1_000_000);
        // 1 / 0.9999 is 1.00010001.
        assert!((clock.drift_ppm() - 100.010_001).abs() < 1e-6);
    }
}
