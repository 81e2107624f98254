//! The figures of a flow.

use wayhop_core::{Span, Time};

use crate::{Departures, FlowConfig, Histogram, Sink};

/// What a run's summary says of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Packets sent; of a flow to all nodes, each is counted once for each of its receivers.
    pub sent: u64,
    /// Packets received, each counted once by each receiver; of a ping, replies.
    pub received: u64,
    /// Further copies received.
    pub duplicates: u64,
    /// Packets received after one with a higher number.
    pub out_of_order: u64,
    /// Received over sent; `None` when nothing was sent.
    pub delivery_ratio: Option<f64>,
    /// UDP payload (or echo data) received, each packet counted once, in bits, over [`Departures::active_time`].
    /// `None` when the flow was never active.
    pub goodput_bps: Option<f64>,
    /// Delay; of a ping, round-trip time. `None` when nothing was measured.
    pub latency: Option<Latency>,
    /// Mean number of hops of the packets received; of a ping, of the replies.
    pub hops_mean: Option<f64>,
}

/// Delays in milliseconds. Mean and maximum are exact, quantiles are within 0.8 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Latency {
    /// Mean.
    pub mean_ms: f64,
    /// Median.
    pub p50_ms: f64,
    /// 95th percentile.
    pub p95_ms: f64,
    /// 99th percentile.
    pub p99_ms: f64,
    /// Maximum.
    pub max_ms: f64,
}

impl Summary {
    /// The figures of a flow in a run that ended at `end`.
    pub fn new(config: &FlowConfig, departures: &Departures, sink: &Sink, end: Time) -> Self {
        let active_s = departures.active_time(config, end).as_secs_f64();
        let sent = departures.packets() * sink.receivers();
        let bits = sink.payload_bytes() as f64 * 8.0;
        Self {
            sent,
            received: sink.received(),
            duplicates: sink.duplicates,
            out_of_order: sink.out_of_order,
            delivery_ratio: (sent > 0).then(|| sink.received() as f64 / sent as f64),
            goodput_bps: (active_s > 0.0).then(|| bits / active_s),
            latency: Latency::of(sink.delay()),
            hops_mean: sink.hops_mean(),
        }
    }

    /// Of a TCP flow: the segments with data that its source sent, and the octets that arrived in order within its time.
    pub fn count_stream(&mut self, sent: u64, delivered: u64, active: Span) {
        let active_s = active.as_secs_f64();
        self.sent = sent;
        self.delivery_ratio = (sent > 0).then(|| self.received as f64 / sent as f64);
        self.goodput_bps = (active_s > 0.0).then(|| delivered as f64 * 8.0 / active_s);
    }
}

impl Latency {
    /// The statistics of these delays; `None` if there are none.
    pub fn of(d: &Histogram) -> Option<Self> {
        let quantile_ms = |q| d.quantile(q).map(Span::as_millis_f64);
        Some(Self {
            mean_ms: d.mean()?.as_millis_f64(),
            p50_ms: quantile_ms(0.5)?,
            p95_ms: quantile_ms(0.95)?,
            p99_ms: quantile_ms(0.99)?,
            max_ms: d.max()?.as_millis_f64(),
        })
    }
}
