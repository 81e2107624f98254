//! Flows as the simulator takes them.

use wayhop_core::{NodeId, Span, Time};

/// One flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowConfig {
    /// What it sends.
    pub kind: FlowKind,
    /// The source.
    pub src: NodeId,
    /// The destination.
    pub dst: NodeId,
    /// When it begins.
    pub start: Time,
    /// When it stops, if before the end of the run.
    pub stop: Option<Time>,
    /// UDP payload, or data of an echo request, octets.
    pub payload_bytes: u32,
    /// How many packets it sends at most.
    pub max_packets: Option<u64>,
}

/// What a flow sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FlowKind {
    /// UDP packets; each interval is uniform in (1 - jitter) to (1 + jitter) times the mean.
    Cbr {
        /// The mean interval.
        interval: Span,
        /// From 0 to 1.
        jitter: f64,
    },
    /// UDP packets at exponentially distributed intervals.
    Poisson {
        /// The mean interval.
        interval: Span,
    },
    /// ICMP echo requests.
    Ping {
        /// The interval.
        interval: Span,
    },
}
