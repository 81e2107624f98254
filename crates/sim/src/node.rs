//! One node: a protocol, and what the host keeps for it.

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, DataPlane, Interests, Protocol, Rng, Time, TimerKey};

use crate::arp::ArpTable;

/// A node of the run.
pub(crate) struct Node {
    pub(crate) addr: Addr,
    pub(crate) protocol: Box<dyn Protocol>,
    pub(crate) plane: DataPlane,
    pub(crate) interests: Interests,
    pub(crate) rng: Rng,
    /// When each timer is due. An event in the queue that says otherwise is out of date.
    pub(crate) timers: FxHashMap<TimerKey, Time>,
    /// The forwarding table: destination to next hop.
    pub(crate) routes: FxHashMap<Addr, Addr>,
    pub(crate) arp: ArpTable,
}

impl Node {
    pub(crate) fn new(addr: Addr, protocol: Box<dyn Protocol>, rng: Rng) -> Self {
        Self {
            addr,
            plane: protocol.data_plane(),
            interests: protocol.interests(),
            protocol,
            rng,
            timers: FxHashMap::default(),
            routes: FxHashMap::default(),
            arp: ArpTable::default(),
        }
    }
}
