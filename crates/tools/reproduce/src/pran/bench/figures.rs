//! What is compared, and what comes out.

use std::time::Duration;

#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Forwarder {
    /// The kernel, by static routes.
    Kernel,
    /// The kernel, by the routes of `wayhop node` with AODV.
    Aodv,
    /// `wayhop node` with DSR.
    Dsr,
}

wayhop_core::names!(Forwarder { Kernel = "kernel", Aodv = "AODV", Dsr = "DSR", });

impl Forwarder {
    pub(crate) fn protocol(self) -> Option<&'static str> {
        match self {
            Self::Kernel => None,
            Self::Aodv => Some("aodv"),
            Self::Dsr => Some("dsr"),
        }
    }
}

#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Throughput {
    pub(crate) round: usize,
    /// What forwarded.
    pub(crate) way: Forwarder,
    pub(crate) hops: usize,
    /// Length of the IP packets on the wire, octets.
    pub(crate) length: usize,
    /// Packets a second that were to be sent; `None` for as many as arrive, without loss.
    pub(crate) offered_pps: Option<u32>,
    pub(crate) input_pps: f64,
    pub(crate) output_pps: f64,
    /// Of sender and receiver, in whose system calls the kernel forwards, and the daemons, for each packet that arrived.
    pub(crate) processor_us: f64,
    /// Processor time of the middle's daemon for each packet that it forwarded, user and system, microseconds.
    pub(crate) daemon_us: Option<f64>,
    /// With DSR over two hops and no rate offered: a packet's time in the middle's process, the median over batches.
    pub(crate) user_us: Option<f64>,
}

/// Packets that were followed through the middle, one at a time. Medians, microseconds.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct PacketTimes {
    /// What forwarded.
    pub(crate) way: Forwarder,
    pub(crate) pause: Duration,
    /// From the wire to the wire.
    pub(crate) total_us: f64,
    /// If it goes through user space: from the interface to the process, in the process, and from there to the interface.
    pub(crate) parts_us: Option<[f64; 3]>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Measurements {
    pub(crate) throughput: Vec<Throughput>,
    pub(crate) followed: Vec<PacketTimes>,
    /// Measurements whose packets went another way than the one that was to be measured, each time; in words.
    pub(crate) left_out: Vec<String>,
    pub(crate) complete: bool,
    /// The share of the machine's processors that others used meanwhile, percent.
    pub(crate) foreign_load_pct: f64,
}
