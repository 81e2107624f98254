//! Limits on what unauthenticated senders can make an agent send.

use wayhop_core::{Span, Time};

/// This many at once, and this many a second in the long run.
#[derive(Clone, Debug)]
pub(crate) struct Rate {
    every: Span,
    burst: u32,
    /// When the allowance was full, or will be.
    full_at: Time,
}

impl Rate {
    pub(crate) fn per_second(n: u32) -> Self {
        Self { every: Span::from_nanos(1_000_000_000 / u64::from(n.max(1))), burst: n, full_at: Time::ZERO }
    }

    /// Whether one more may be, which counts.
    pub(crate) fn take(&mut self, now: Time) -> bool {
        let from = self.full_at.max(now);
        let after = from + self.every;
        let allowance = Span::from_nanos(self.every.as_nanos() * u64::from(self.burst));
        if after.since(now) > allowance {
            return false;
        }
        self.full_at = after;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_at_once_and_so_many_a_second() {
        let mut r = Rate::per_second(10);
        let taken = |r: &mut Rate, at| (0..100).filter(|_| r.take(at)).count();
        assert_eq!(taken(&mut r, Time::from_secs_f64(5.0)), 10);
        assert_eq!(taken(&mut r, Time::from_secs_f64(5.5)), 5);
        assert_eq!(taken(&mut r, Time::from_secs_f64(60.0)), 10);
    }
}
