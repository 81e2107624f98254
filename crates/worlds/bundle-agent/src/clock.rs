//! The agent's clock.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use wayhop_core::{Span, Time};

/// DTN time begins with 2000 (RFC 9171 section 4.2.6): so long after 1970.
const DTN_EPOCH: Span = Span::from_secs(946_684_800);

/// Nanoseconds since 2000, which never go back, not even over restarts: the host's clock at the start, and from there on the
/// machine's steady one. A host whose clock was set back goes on where the store was left.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Clock {
    base: Time,
    begun: Instant,
}

impl Clock {
    /// Begins no sooner than `left`.
    pub(crate) fn start(left: Time) -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let wall = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
        let now = Time::from_nanos(wall.saturating_sub(DTN_EPOCH.as_nanos()));
        Self { base: now.max(left), begun: Instant::now() }
    }

    pub(crate) fn now(&self) -> Time {
        let passed = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.base + Span::from_nanos(passed)
    }

    /// The moment at which the clock will say this.
    pub(crate) fn instant(&self, at: Time) -> Instant {
        let after = std::time::Duration::from_nanos(at.since(self.base).as_nanos());
        // A moment too far away to be named is one that nobody waits for.
        self.begun.checked_add(after).unwrap_or_else(|| self.begun + std::time::Duration::from_secs(86_400))
    }
}
