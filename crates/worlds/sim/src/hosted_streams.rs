//! The TCP of the hosts of a run, and what the simulator keeps for each.

use rustc_hash::FxHashMap;
use wayhop_core::{Purpose, Rng, Time, stream};
use wayhop_transport::tcp::{HostTcp, TcpConfig};

/// The TCP of all hosts that ever had a segment or an application with streams.
pub(crate) struct Streams {
    seed: u64,
    pub(crate) by_node: FxHashMap<u32, HostStreams>,
    /// Whether stream events are being delivered to applications.
    pub(crate) serving: bool,
}

/// The TCP of a host.
pub(crate) struct HostStreams {
    pub(crate) tcp: HostTcp,
    pub(crate) rng: Rng,
    /// Time of the queued event for its deadline; an event that is too early is queued again.
    pub(crate) queued: Option<Time>,
}

impl Streams {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, by_node: FxHashMap::default(), serving: false }
    }

    /// That of a node.
    pub(crate) fn of(&mut self, node: u32) -> &mut HostStreams {
        let seed = self.seed;
        self.by_node.entry(node).or_insert_with(|| HostStreams {
            // The default settings of a scenario's flow.
            tcp: HostTcp::new(TcpConfig::rfc()),
            // A random stream separate from those of applications.
            rng: stream(seed, Purpose::Applications, u64::from(node) | 1 << 40),
            queued: None,
        })
    }
}
