//! The run's time on the machine's monotonic clock, which no one sets.

use std::time::Duration;

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use wayhop_core::{Span, Time};

/// A clock that begins at zero when the run does.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Clock {
    origin: Duration,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { origin: monotonic() }
    }
    /// The run's time.
    pub(crate) fn now(&self) -> Time {
        Time::ZERO + Span::from_nanos(monotonic().saturating_sub(self.origin).as_nanos() as u64)
    }
    /// A time of the run as the kernel's timers want it.
    pub(crate) fn absolute(&self, at: Time) -> TimeSpec {
        TimeSpec::from_duration(self.origin + Duration::from_nanos(at.as_nanos()))
    }
}

fn monotonic() -> Duration {
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from)
}
