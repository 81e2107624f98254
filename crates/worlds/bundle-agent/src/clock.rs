//! The agent's clock.

use std::time::{SystemTime, UNIX_EPOCH};

use wayhop_core::{Span, Time};

/// DTN time begins with 2000 (RFC 9171 section 4.2.6): so long after 1970.
const DTN_EPOCH: Span = Span::from_secs(946_684_800);

/// Nanoseconds since 2000, but no sooner than `left`: after a step back of the clock, a host
/// continues from where its store ended.
pub(crate) fn begin(left: Time) -> Time {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let wall = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
    Time::from_nanos(wall.saturating_sub(DTN_EPOCH.as_nanos())).max(left)
}
