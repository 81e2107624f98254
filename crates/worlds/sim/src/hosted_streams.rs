//! The TCP of the hosts of a run, and what the simulator keeps for each.

use rustc_hash::FxHashMap;
use wayhop_core::{Purpose, Rng, Time, stream};
use wayhop_transport::tcp::{HostTcp, TcpConfig};

/// The TCP of all hosts that ever had a segment or an application with streams.
pub(crate) struct Streams {
    seed: u64,
    pub(crate) by_node: FxHashMap<u32, HostStreams>,
    /// Applications are hearing what their streams have for them.
    pub(crate) serving: bool,
}

/// The TCP of a host.
pub(crate) struct HostStreams {
    pub(crate) tcp: HostTcp,
    pub(crate) rng: Rng,
    /// When the event of its deadline comes up; one that is too early puts itself off.
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
            // The settings that a flow of a scenario has unless it says otherwise.
            tcp: HostTcp::new(TcpConfig::rfc()),
            // A stream of its own, beside those of applications.
            rng: stream(seed, Purpose::Applications, u64::from(node) | 1 << 40),
            queued: None,
        })
    }
}
