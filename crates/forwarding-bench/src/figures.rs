//! What comes out.

use std::time::Duration;

use crate::way::Way;

/// One stream of packets.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Throughput {
    /// The round, from 0: streams of one round ran close to each other.
    pub round: usize,
    /// What forwarded.
    pub way: Way,
    /// Over how many hops: 1 or 2.
    pub hops: usize,
    /// Length of the IP packets on the wire, octets.
    pub length: usize,
    /// Packets a second that were to be sent; `None` for as many as arrive, without loss.
    pub offered_pps: Option<u32>,
    /// Packets a second that were sent.
    pub input_pps: f64,
    /// Packets a second that arrived.
    pub output_pps: f64,
    /// Processor time of all that takes part for each packet that arrived, microseconds: sender and receiver, in whose system
    /// calls the kernel forwards, and the daemons.
    pub processor_us: f64,
    /// Processor time of the middle's daemon for each packet that it forwarded, user and system, microseconds.
    pub daemon_us: Option<f64>,
    /// With DSR over two hops and no rate offered: the time in the middle's process for each packet, from its receipt to its
    /// handing over, microseconds; the median over batches.
    pub user_us: Option<f64>,
}

/// Packets that were followed through the middle, one at a time. Medians, microseconds.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Followed {
    /// What forwarded.
    pub way: Way,
    /// How long nothing was sent after each.
    pub pause: Duration,
    /// From the wire to the wire.
    pub total_us: f64,
    /// The parts in user space, if it goes through there: from the interface to the process, in the process, and from the
    /// process to the interface.
    pub parts_us: Option<[f64; 3]>,
}

/// What was measured.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Streams.
    pub throughput: Vec<Throughput>,
    /// Single packets.
    pub followed: Vec<Followed>,
    /// Measurements that are left out, since their packets went another way than the one that was to be measured, each time;
    /// in words.
    pub left_out: Vec<String>,
    /// Whether all of the plan was carried out.
    pub complete: bool,
    /// The share of the machine's processors that others used meanwhile, percent.
    pub foreign_load_pct: f64,
}
