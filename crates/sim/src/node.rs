//! One node: a protocol, and what the host keeps for it.

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, DataPlane, Interests, Interface, Protocol, Rng, Time, TimerKey};

use crate::arp::ArpTable;

/// A timer. One that is moved to a later time keeps its event in the queue, which then puts itself off: so a timer that
/// is moved with every packet costs no queue operation.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Timer {
    /// When it is due; never if it was cleared.
    pub(crate) due: Time,
    /// When its event comes up.
    pub(crate) queued: Time,
}

/// A node of the run.
pub(crate) struct Node {
    pub(crate) addr: Addr,
    pub(crate) protocol: Box<dyn Protocol>,
    pub(crate) plane: DataPlane,
    pub(crate) interests: Interests,
    pub(crate) interface: Interface,
    pub(crate) rng: Rng,
    /// The timers that are set, and those whose event is still in the queue.
    pub(crate) timers: FxHashMap<TimerKey, Timer>,
    /// The latest time at which the protocol was called: its clock never goes back, though the radio tells some things
    /// up to 2 us ahead.
    pub(crate) clock: Time,
    /// The forwarding table: destination to next hop.
    pub(crate) routes: FxHashMap<Addr, Addr>,
    pub(crate) arp: ArpTable,
}

impl Node {
    pub(crate) fn new(addr: Addr, protocol: Box<dyn Protocol>, interface: Interface, rng: Rng) -> Self {
        Self {
            addr,
            plane: protocol.data_plane(),
            interests: protocol.interests(),
            interface,
            protocol,
            rng,
            timers: FxHashMap::default(),
            clock: Time::ZERO,
            routes: FxHashMap::default(),
            arp: ArpTable::default(),
        }
    }
}
