//! Vegas: a window by how many segments wait in queues (Brakmo and Peterson 1995).

use wayhop_core::{Span, Time};

use super::interface::{Acked, CongestionControl, Lost};
use crate::tcp::config::{Profile, TcpConfig};
use crate::tcp::rto::smoothed;

/// Grow while fewer segments than this are queued, ...
const ALPHA: f64 = 1.0;
/// ... shrink while more than this are, ...
const BETA: f64 = 3.0;
/// ... and end slow start when more than this are.
const GAMMA: f64 = 1.0;

/// The paper's control: once a round trip it compares the throughput with what the shortest round trip would give.
#[derive(Clone, Debug, Default)]
pub(crate) struct Vegas {
    window: f64,
    threshold: f64,
    /// The shortest round trip seen.
    base: Option<Span>,
    /// Round trips measured since the last decision.
    sum: Span,
    samples: u64,
    /// The octet whose acknowledgement ends this round trip.
    round_ends: u64,
    /// What each acknowledgement adds until then.
    step: f64,
    /// Slow start grows every other round trip only.
    grows: bool,
    /// Smoothed round trip and its variation, by the exact clock.
    smoothed: Option<(Span, Span)>,
    /// When the window was last reduced.
    reduced: Time,
    /// Whether the segments that wait are counted in whole ones, to the nearest.
    whole: bool,
}

impl Vegas {
    pub(crate) fn new(c: &TcpConfig) -> Self {
        Self {
            window: f64::from(c.initial_window),
            threshold: f64::from(c.window_segments),
            grows: true,
            whole: c.profile == Profile::Ns2,
            ..Self::default()
        }
    }

    fn measure(&mut self, rtt: Span) {
        self.base = Some(self.base.map_or(rtt, |b| b.min(rtt)));
        self.sum += rtt;
        self.samples += 1;
        self.smoothed = Some(smoothed(self.smoothed, rtt));
    }

    /// At the end of a round trip.
    fn decide(&mut self, a: &Acked) {
        self.round_ends = a.next;
        let Some(base) = self.base else { return };
        if self.samples == 0 {
            return;
        }
        let rtt = (self.sum / self.samples).as_secs_f64();
        (self.sum, self.samples) = (Span::ZERO, 0);
        // The segments that wait: the window less what the path itself holds.
        let queued = if rtt > 0.0 { self.window * (1.0 - base.as_secs_f64() / rtt) } else { 0.0 };
        let queued = if self.whole { (queued + 0.5).floor() } else { queued };
        if self.window < self.threshold {
            self.grows = !self.grows;
            self.step = if self.grows && queued <= GAMMA { 1.0 } else { 0.0 };
            if self.grows && queued > GAMMA {
                self.threshold = 2.0;
                self.window = (self.window * 7.0 / 8.0).max(2.0);
            }
        } else if queued > BETA {
            self.window = (self.window - 1.0).max(2.0);
            self.step = 0.0;
        } else {
            self.step = if queued < ALPHA { 1.0 / self.window } else { 0.0 };
        }
    }
}

impl CongestionControl for Vegas {
    fn window(&self) -> f64 {
        self.window
    }
    fn threshold(&self) -> f64 {
        self.threshold
    }

    fn acked(&mut self, a: &Acked) {
        if let Some(rtt) = a.rtt {
            self.measure(rtt);
        }
        if a.up_to >= self.round_ends {
            self.decide(a);
        }
        if self.step == 1.0 && self.window >= self.threshold {
            self.step = 0.0;
        }
        // Only as far as the sender keeps up with it.
        if !a.recovering && self.window - a.in_flight <= 2.0 {
            self.window += self.step;
        }
    }

    /// One reduction for the losses of one window: a segment that was sent before the last one does not count again.
    fn lost(&mut self, l: &Lost) {
        if l.sent.is_some_and(|sent| sent < self.reduced) {
            return;
        }
        let kept = if l.times > 1 { 0.5 } else { 0.75 };
        self.window = (l.load * kept).max(2.0);
        self.threshold = 2.0;
        self.reduced = l.now;
    }

    fn timed_out(&mut self, l: &Lost, _again: bool) {
        self.threshold = (l.load / 2.0).max(2.0);
        self.window = 2.0;
        self.step = 0.0;
        self.reduced = l.now;
    }

    fn set_window(&mut self, segments: f64) {
        self.window = segments;
    }

    fn is_overdue(&self, age: Span) -> bool {
        self.smoothed.is_some_and(|(srtt, variation)| age > srtt + variation * 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The window after round trips of 100 ms, and then one of `rtt_ms`, once slow start is over at ten segments.
    fn after(config: TcpConfig, rtt_ms: u64) -> f64 {
        let mut v = Vegas { window: 10.0, threshold: 2.0, ..Vegas::new(&config) };
        let mut octet = 0;
        for ms in [100, rtt_ms, rtt_ms] {
            octet += 1;
            v.acked(&Acked {
                now: Time::ZERO,
                segments: 1.0,
                rtt: Some(Span::from_millis(ms)),
                up_to: octet,
                next: octet + 1,
                in_flight: v.window,
                recovering: false,
            });
        }
        v.window
    }

    #[test]
    fn it_keeps_between_one_and_three_segments_waiting() {
        // Ten segments over 100 ms at best: of 105 ms half a segment waits, of 112 ms one, of 143 ms three.
        let (rfc, start) = (TcpConfig::rfc(), after(TcpConfig::rfc(), 120));
        assert!(after(rfc, 105) > start && after(rfc, 109) > start && after(rfc, 138) == start);
        assert!(after(rfc, 150) < start);
    }

    #[test]
    fn in_the_profile_ns2_whole_segments_count_which_moves_both_bounds_by_half_a_segment() {
        let (ns2, start) = (TcpConfig::ns2(), after(TcpConfig::ns2(), 120));
        // 0.4 segments wait: it grows. 0.8 are one: it stays. 3.3 are three: it stays. 3.7 are four.
        assert!(after(ns2, 104) > start && after(ns2, 109) == start && after(ns2, 150) == start);
        assert!(after(ns2, 160) < start);
    }
}
