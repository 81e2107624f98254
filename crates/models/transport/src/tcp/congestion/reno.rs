//! Slow start and congestion avoidance (RFC 5681); with Tahoe's answer to losses, or Reno's.

use super::interface::{Acked, CongestionControl, Lost};
use crate::tcp::config::{Profile, TcpConfig};

/// Jacobson's control.
#[derive(Clone, Debug)]
pub(crate) struct Reno {
    window: f64,
    threshold: f64,
    /// Whether a loss starts slow start.
    tahoe: bool,
    profile: Profile,
}

impl Reno {
    pub(crate) fn new(c: &TcpConfig, tahoe: bool) -> Self {
        Self {
            window: f64::from(c.initial_window),
            threshold: f64::from(c.window_segments),
            tahoe,
            profile: c.profile,
        }
    }

    /// RFC 5681, equation 4; ns-2 cuts the fraction off.
    fn threshold_for(&self, load: f64) -> f64 {
        let half = load / 2.0;
        if self.profile == Profile::Ns2 { half.floor().max(2.0) } else { half.max(2.0) }
    }
}

impl CongestionControl for Reno {
    fn window(&self) -> f64 {
        self.window
    }
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn acked(&mut self, a: &Acked) {
        if a.recovering {
            return;
        }
        if self.window < self.threshold {
            // RFC 5681 section 3.1, equation 2: by no more than was acknowledged, which only a short segment makes less.
            self.window += a.segments.min(1.0);
        } else {
            self.window += 1.0 / self.window;
        }
    }

    fn lost(&mut self, l: &Lost) {
        self.threshold = self.threshold_for(l.load);
        self.window = match self.profile {
            _ if self.tahoe => 1.0,
            Profile::Rfc => self.threshold,
            // Not below one segment is what ns-2 takes care of only at its next timeout.
            Profile::Ns2 => l.load / 2.0,
        };
    }

    fn timed_out(&mut self, l: &Lost, again: bool) {
        // RFC 5681 section 3.1: the threshold stays when the timer runs out again for the same
        // data. ns-2 halves it again.
        if !again || self.profile == Profile::Ns2 {
            self.threshold = self.threshold_for(l.load);
        }
        self.window = 1.0;
    }

    fn set_window(&mut self, segments: f64) {
        self.window = segments;
    }
    fn halve(&mut self) {
        self.threshold = self.threshold_for(self.window);
        self.window = (self.window / 2.0).max(1.0);
    }
}
