//! The TCP of the hosts of a run, and what the simulator keeps for each.

use rustc_hash::FxHashMap;
use wayhop_core::{Purpose, Time, stream};
use wayhop_transport::tcp::{HostTcp, Note, TcpConfig};

/// Whose TCP: that of a node's programs, or (with the flow) of the end of a flow there.
pub(crate) type TcpUser = (u32, Option<u32>);

/// The TCP of the programs of all nodes that ever had a segment or an application with streams.
pub(crate) struct Streams {
    seed: u64,
    pub(crate) by_node: FxHashMap<u32, HostStreams>,
    /// Whether stream events are being delivered to applications.
    pub(crate) serving: bool,
    /// For reuse.
    pub(crate) notes: Vec<Note>,
}

/// The TCP of one user.
pub(crate) struct HostStreams {
    pub(crate) tcp: HostTcp,
    /// Its deadline, when it was last called.
    pub(crate) deadline: Option<Time>,
    /// Time of the queued event for its deadline; an event that is too early is queued again.
    pub(crate) queued: Option<Time>,
}

impl HostStreams {
    pub(crate) const fn new(tcp: HostTcp) -> Self {
        Self { tcp, deadline: None, queued: None }
    }
}

impl Streams {
    pub(crate) fn new(seed: u64) -> Self {
        Self { seed, by_node: FxHashMap::default(), serving: false, notes: Vec::new() }
    }

    /// That of a node's programs.
    pub(crate) fn of(&mut self, node: u32) -> &mut HostStreams {
        let seed = self.seed;
        self.by_node.entry(node).or_insert_with(|| {
            // A random stream separate from those of applications.
            let rng = stream(seed, Purpose::Applications, u64::from(node) | 1 << 40);
            // The default settings of a scenario's flow.
            HostStreams::new(HostTcp::new(TcpConfig::rfc(), rng))
        })
    }
}
