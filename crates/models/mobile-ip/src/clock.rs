//! The clocks that an engine is told.

use wayhop_core::Time;

/// Both clocks at one moment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Clock {
    /// Goes on, and never jumps.
    pub at: Time,
    /// The time of day as NTP writes it: seconds since 1900 in the upper half, parts of a second in the lower.
    pub ntp: u64,
}
