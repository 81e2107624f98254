//! Which figures there are.

/// A kind of figure.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum FigureKind {
    /// The share of packets that arrive, over the time when they were sent.
    Delivery,
    /// How much arrived a second, over time.
    Throughput,
    /// Median and 95th percentile of the latency, over the time when packets were sent.
    Latency,
    /// The distribution of the latency of every packet.
    Cdf,
    /// Messages of the routing protocol, by type.
    Overhead,
    /// The share of packets that arrived over 1, 2, ... hops.
    Hops,
    /// The share of packets lost, by cause.
    Losses,
    /// The distribution of the times of searches for routes.
    Searches,
    /// What TCP senders had sent, and what was acknowledged, over time.
    Sequence,
}

wayhop_core::names!(FigureKind {
    Delivery = "delivery",
    Throughput = "throughput",
    Latency = "latency",
    Cdf = "cdf",
    Losses = "losses",
    Hops = "hops",
    Overhead = "overhead",
    Searches = "searches",
    Sequence = "sequence",
});

impl FigureKind {
    /// The kind of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.name() == name)
    }

    /// Whether it is drawn from the packets' table, which the others do without.
    pub const fn needs_packets(self) -> bool {
        matches!(self, Self::Delivery | Self::Throughput | Self::Latency | Self::Cdf | Self::Hops)
    }
}
