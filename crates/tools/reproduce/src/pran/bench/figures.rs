//! What comes out.

use std::time::Duration;

use super::way::Forwarder;

/// One stream of packets.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Throughput {
    /// The round, from 0: streams of one round ran close to each other.
    pub(crate) round: usize,
    /// What forwarded.
    pub(crate) way: Forwarder,
    /// Over how many hops: 1 or 2.
    pub(crate) hops: usize,
    /// Length of the IP packets on the wire, octets.
    pub(crate) length: usize,
    /// Packets a second that were to be sent; `None` for as many as arrive, without loss.
    pub(crate) offered_pps: Option<u32>,
    /// Packets a second that were sent.
    pub(crate) input_pps: f64,
    /// Packets a second that arrived.
    pub(crate) output_pps: f64,
    /// Processor time of all that takes part for each packet that arrived, microseconds: sender and receiver, in whose system
    /// calls the kernel forwards, and the daemons.
    pub(crate) processor_us: f64,
    /// Processor time of the middle's daemon for each packet that it forwarded, user and system, microseconds.
    pub(crate) daemon_us: Option<f64>,
    /// With DSR over two hops and no rate offered: the time in the middle's process for each packet, from its receipt to its
    /// handing over, microseconds; the median over batches.
    pub(crate) user_us: Option<f64>,
}

/// Packets that were followed through the middle, one at a time. Medians, microseconds.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct PacketTimes {
    /// What forwarded.
    pub(crate) way: Forwarder,
    /// How long nothing was sent after each.
    pub(crate) pause: Duration,
    /// From the wire to the wire.
    pub(crate) total_us: f64,
    /// The parts in user space, if it goes through there: from the interface to the process, in the process, and from the
    /// process to the interface.
    pub(crate) parts_us: Option<[f64; 3]>,
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Measurements {
    /// Streams.
    pub(crate) throughput: Vec<Throughput>,
    /// Single packets.
    pub(crate) followed: Vec<PacketTimes>,
    /// Measurements that are left out, since their packets went another way than the one that was to be measured, each time;
    /// in words.
    pub(crate) left_out: Vec<String>,
    /// Whether all of the plan was carried out.
    pub(crate) complete: bool,
    /// The share of the machine's processors that others used meanwhile, percent.
    pub(crate) foreign_load_pct: f64,
}
