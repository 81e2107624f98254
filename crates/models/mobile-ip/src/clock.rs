//! The clocks of a host.

use wayhop_core::{Span, Time};

use crate::identification::ntp_from_unix;

/// Both clocks at one moment.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clock {
    /// Goes on, and never jumps.
    pub(crate) at: Time,
    /// The time of day as NTP writes it: seconds since 1900 in the upper half, parts of a second in the lower.
    pub(crate) ntp: u64,
}

/// What a host's clock says, once it has said something.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct DayClock {
    /// The time of day, nanoseconds since 1970, at the moment before.
    unix_ns: u64,
    at: Option<Time>,
}

impl DayClock {
    /// It is this time of day now. Returns whether that was not known before.
    pub(crate) fn set(&mut self, at: Time, unix_ns: u64) -> bool {
        self.unix_ns = unix_ns;
        self.at.replace(at).is_none()
    }

    /// Both clocks now.
    pub(crate) fn now(&self, at: Time) -> Clock {
        let since = self.at.map_or(Span::ZERO, |then| at.since(then));
        let unix_ns = self.unix_ns.wrapping_add(since.as_nanos());
        Clock { at, ntp: ntp_from_unix(unix_ns / 1_000_000_000, (unix_ns % 1_000_000_000) as u32) }
    }
}
