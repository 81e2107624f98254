//! From a configuration to an agent that can run.

use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use wayhop_core::{Span, Time};
use wayhop_dtn::Eid;
use wayhop_dtn::node::Node;

use crate::config::AgentPlan;
use crate::disk::DiskStore;
use crate::error::Error;

/// DTN time begins with 2000 (RFC 9171 section 4.2.6): so long after 1970.
const DTN_EPOCH: Span = Span::from_secs(946_684_800);

impl AgentPlan {
    /// Opens the store. The agent over it, and what its clock says now.
    ///
    /// # Errors
    /// If another agent has the store, or it is none.
    pub fn open(&self) -> Result<(Node<DiskStore>, Time), Error> {
        let mut store = DiskStore::open(&self.config.store)?;
        // A later life never says that it is the one before.
        let now = begin(store.left() + Span::from_millis(1));
        store.set_time(now);
        let mut settings = self.settings.clone();
        // The system's entropy, so that nobody can tell session numbers in advance.
        settings.life = BuildHasher::hash_one(&RandomState::new(), now.as_nanos());
        settings.engine = engine(&settings.agent.node);
        Ok((Node::new(settings, store), now))
    }

    /// A line for people.
    pub fn about(&self) -> String {
        let layers: Vec<&str> = self.config.layers.iter().map(|l| l.name()).collect();
        format!(
            "{} is up: {}, {}; programs use {}",
            self.settings.agent.node,
            self.config.routing.name(),
            layers.join(", "),
            self.socket
        )
    }
}

/// Nanoseconds since 2000, but no sooner than `left`: after a step back of the clock, a host
/// continues from where its store ended.
pub(crate) fn begin(left: Time) -> Time {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let wall = u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX);
    Time::from_nanos(wall.saturating_sub(DTN_EPOCH.as_nanos())).max(left)
}

/// The number of LTP's engine: that of an `ipn` node, else one that follows from its name.
fn engine(node: &Eid) -> u64 {
    match node {
        Eid::Ipn { node, .. } => *node,
        other => {
            let hash = other
                .to_string()
                .bytes()
                .fold(0xcbf2_9ce4_8422_2325_u64, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
            hash >> 32 | 1
        }
    }
}
