//! Adaptive pacing, TCP-AP (ElRakabawy, Klemm and Lindemann 2005): segments leave so far apart that one is out of the
//! next one's interference range.

use std::collections::VecDeque;

use wayhop_core::{Span, Time};

/// Round trips from which the variation is taken.
const SAMPLES: usize = 50;
/// The weight of the past in the smoothed delay.
const ALPHA: f64 = 0.7;
/// Hops after which two segments do not disturb each other.
const APART: f64 = 4.0;
/// Octets of an acknowledgement and of the headers of a segment.
const HEADERS: f64 = 40.0;

/// How segments are spread.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Pacing {
    /// The bandwidth of a hop, bits a second, by which sizes are turned into times.
    pub bandwidth_bps: f64,
}

/// The pacer of a sender.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacer {
    data_s: f64,
    ack_s: f64,
    /// The smoothed delay over [`APART`] hops, seconds.
    delay_s: Option<f64>,
    recent: VecDeque<f64>,
    next: Time,
    waiting: bool,
}

impl Pacer {
    pub(crate) fn new(p: Pacing, segment_bytes: u32) -> Self {
        let seconds = |octets: f64| octets * 8.0 / p.bandwidth_bps;
        Self {
            data_s: seconds(f64::from(segment_bytes) + HEADERS),
            ack_s: seconds(HEADERS),
            ..Self::default()
        }
    }

    /// A round trip over this many hops each way.
    pub(crate) fn measure(&mut self, rtt: Span, hops: u8) {
        let rtt = rtt.as_secs_f64();
        if self.recent.len() == SAMPLES {
            self.recent.pop_front();
        }
        self.recent.push_back(rtt);
        // What a hop costs in queues, each way alike; a segment's own time is added to it again.
        let queueing = ((rtt / f64::from(hops.max(1)) - self.data_s - self.ack_s) / 2.0).max(0.0);
        let delay = APART * (queueing + self.data_s);
        self.delay_s = Some(self.delay_s.map_or(delay, |d| ALPHA * d + (1.0 - ALPHA) * delay));
    }

    /// From one segment to the next: the longer, the more the round trips vary; but not longer than a round trip, or one
    /// segment that waited for a route would hold up all that follow.
    fn interval(&self) -> Option<Span> {
        let n = self.recent.len() as f64;
        let mean = self.recent.iter().sum::<f64>() / n;
        let squares = self.recent.iter().map(|r| (r - mean) * (r - mean)).sum::<f64>();
        let variation = if n > 1.0 && mean > 0.0 { libm::sqrt(squares / (n - 1.0)) / mean } else { 0.0 };
        let last = self.recent.back().copied().unwrap_or(f64::INFINITY);
        self.delay_s.map(|d| Span::from_secs_f64((d * (1.0 + 2.0 * variation)).min(last)))
    }

    /// Whether a segment may leave now; if so the next one waits.
    pub(crate) fn may_leave(&mut self, now: Time) -> bool {
        self.waiting = now < self.next;
        if !self.waiting {
            self.next = now + self.interval().unwrap_or_default();
        }
        !self.waiting
    }
    /// When a segment that was held back may leave.
    pub(crate) fn deadline(&self) -> Option<Time> {
        self.waiting.then_some(self.next)
    }
    /// Whether a segment that was held back may leave now.
    pub(crate) fn expire(&mut self, now: Time) -> bool {
        let due = self.waiting && self.next <= now;
        self.waiting &= !due;
        due
    }
}
