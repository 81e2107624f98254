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
    /// long at most. There, the node at which the route broke looks for it and tells; the protocols here look from the source
    /// on, so one segment leaves at once to have a route looked for, and its acknowledgement tells.
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
    /// When the next probe leaves, or standby ends.
    pub(crate) until: Option<Time>,
    /// When standby ends for good.
    give_up: Time,
    probed: bool,
}

impl Standby {
    pub(crate) fn new(failure: Failure) -> Self {
        Self { failure, until: None, give_up: Time::NEVER, probed: false }
    }

    pub(crate) fn is_frozen(&self) -> bool {
        self.until.is_some()
    }
    pub(crate) fn reverts_backoff(&self) -> bool {
        self.failure == Failure::Revert
    }
    /// Whether the window is halved when standby ends.
    pub(crate) fn halves(&self) -> bool {
        matches!(self.failure, Failure::Elfn { halve: true, .. })
    }

    /// Enters standby; whether that is new. `rto`: the timeout as it stands.
    pub(crate) fn freeze(&mut self, now: Time, rto: Span) -> bool {
        let new = self.until.is_none();
        let (wait, longest) = match self.failure {
            Failure::Elfn { probe, .. } => (probe, Span::MAX),
            Failure::Freeze { longest } => (Span::ZERO, longest),
            Failure::Ignore | Failure::Revert => return false,
        };
        if new {
            self.until = Some(now + wait);
            self.give_up = now + longest;
            self.probed = false;
        } else if matches!(self.failure, Failure::Freeze { .. }) && self.probed {
            // The route that was found is gone as well.
            self.until = self.until.map(|t| t.min(now + rto));
        }
        new
    }

    /// The time of a probe has come: whether one is to leave. If not, standby is over.
    pub(crate) fn probe(&mut self, now: Time) -> bool {
        let first = !self.probed;
        self.probed = true;
        self.until = match self.failure {
            Failure::Elfn { probe, .. } => Some(now + probe),
            _ if now < self.give_up => Some(self.give_up),
            _ => None,
        };
        first || self.until.is_some()
    }

    /// Leaves standby: `None` if it was not in it, else whether a probe had been sent, so that what was under way before
    /// is surely over.
    pub(crate) fn thaw(&mut self) -> Option<bool> {
        self.until.take().map(|_| self.probed)
    }
}
