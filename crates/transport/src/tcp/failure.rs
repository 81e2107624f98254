//! What a sender makes of a notice that its route is gone.

use wayhop_core::{Span, Time};

/// The answer to a notice.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// None: standard TCP.
    Ignore,
    /// Explicit link failure notification (Holland and Vaidya 1999): timers stop, and a segment now and then looks for
    /// the route until an acknowledgement comes. Timeout and window are then as before.
    Elfn {
        /// From one of those segments to the next.
        probe: Span,
        /// Whether the window is halved instead.
        halve: bool,
    },
    /// TCP-F (Chandran, Raghunathan, Venkatesan and Prakash 1998): timers stop until the route is found again, or for so
    /// long at most.
    Freeze {
        /// The route failure timer.
        longest: Span,
    },
    /// The back-off of the retransmission timer is taken back (RFC 6069).
    Revert,
}

impl Failure {
    /// Whether it wants notices at all.
    pub const fn listens(self) -> bool {
        !matches!(self, Self::Ignore)
    }
}

/// The standby of a sender.
#[derive(Clone, Debug)]
pub(crate) struct Standby {
    failure: Failure,
    /// When the next probe leaves, or the freeze ends.
    until: Option<Time>,
    probed: bool,
}

impl Standby {
    pub(crate) fn new(failure: Failure) -> Self {
        Self { failure, until: None, probed: false }
    }

    pub(crate) fn is_frozen(&self) -> bool {
        self.until.is_some()
    }
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.until
    }
    pub(crate) fn reverts_backoff(&self) -> bool {
        self.failure == Failure::Revert
    }
    /// Whether standby ends when a route is found.
    pub(crate) fn waits_for_route(&self) -> bool {
        matches!(self.failure, Failure::Freeze { .. })
    }
    /// Whether the window is halved when standby ends.
    pub(crate) fn halves(&self) -> bool {
        matches!(self.failure, Failure::Elfn { halve: true, .. })
    }

    /// Enters standby; whether that is new.
    pub(crate) fn freeze(&mut self, now: Time) -> bool {
        let wait = match self.failure {
            Failure::Elfn { probe, .. } => probe,
            Failure::Freeze { longest } => longest,
            Failure::Ignore | Failure::Revert => return false,
        };
        let new = self.until.is_none();
        if new {
            self.until = Some(now + wait);
            self.probed = false;
        }
        new
    }

    /// The time of a probe has come: whether one is to leave. If not, standby is over.
    pub(crate) fn probe(&mut self, now: Time) -> bool {
        self.probed = true;
        self.until = match self.failure {
            Failure::Elfn { probe, .. } => Some(now + probe),
            _ => None,
        };
        self.until.is_some()
    }

    /// Leaves standby: `None` if it was not in it, else whether a probe had been sent, so that what was under way before
    /// is surely over.
    pub(crate) fn thaw(&mut self) -> Option<bool> {
        self.until.take().map(|_| self.probed)
    }
}
