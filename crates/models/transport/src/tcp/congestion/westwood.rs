//! Westwood: after a loss the window is set to the path's measured rate (Mascolo, Casetti, Gerla,
//! Sanadidi and Wang 2001).

use wayhop_core::{Span, Time};

use super::interface::{Acked, CongestionControl, Lost};
use super::reno::Reno;
use crate::tcp::config::TcpConfig;

/// Reno, with a threshold from the rate at which acknowledgements come times the shortest round trip.
#[derive(Clone, Debug)]
pub(crate) struct Westwood {
    reno: Reno,
    threshold: Option<f64>,
    /// The filtered rate, segments a second.
    rate: f64,
    last_sample: f64,
    last_ack: Option<Time>,
    shortest: Option<Span>,
}

impl Westwood {
    pub(crate) fn new(c: &TcpConfig) -> Self {
        let reno = Reno::new(c, false);
        Self { reno, threshold: None, rate: 0.0, last_sample: 0.0, last_ack: None, shortest: None }
    }

    /// What the path holds, in segments; at least two.
    fn share(&self) -> Option<f64> {
        let shortest = self.shortest?.as_secs_f64();
        (self.rate > 0.0).then(|| (self.rate * shortest).max(2.0))
    }

    /// The low-pass filter of the paper (its equation 5): the samples' mean of now and before enters with 2/21.
    fn measure(&mut self, a: &Acked) {
        if let Some(rtt) = a.rtt {
            self.shortest = Some(self.shortest.map_or(rtt, |s| s.min(rtt)));
        }
        let since = self.last_ack.map(|t| a.now.since(t).as_secs_f64());
        if let Some(seconds) = since.filter(|s| *s > 0.0) {
            let sample = a.segments / seconds;
            self.rate = self.rate * 19.0 / 21.0 + (sample + self.last_sample) / 21.0;
            self.last_sample = sample;
        }
        self.last_ack = Some(a.now);
    }
}

impl CongestionControl for Westwood {
    fn window(&self) -> f64 {
        self.reno.window()
    }
    fn threshold(&self) -> f64 {
        self.threshold.unwrap_or_else(|| self.reno.threshold())
    }

    fn acked(&mut self, a: &Acked) {
        self.measure(a);
        if a.recovering {
            return;
        }
        let window = self.reno.window();
        let more = if window < self.threshold() { a.segments.min(1.0) } else { 1.0 / window };
        self.reno.set_window(window + more);
    }

    fn lost(&mut self, l: &Lost) {
        let before = self.reno.window();
        self.reno.lost(l);
        self.threshold = self.share().or(Some(self.reno.threshold()));
        self.reno.set_window(before.min(self.threshold()));
    }

    fn timed_out(&mut self, l: &Lost, again: bool) {
        self.reno.timed_out(l, again);
        self.threshold = self.share().or(Some(self.reno.threshold()));
    }

    fn set_window(&mut self, segments: f64) {
        self.reno.set_window(segments);
    }
    fn halve(&mut self) {
        self.reno.halve();
        self.threshold = Some(self.reno.threshold());
    }
}
