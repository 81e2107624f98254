//! The state of one node.

use std::sync::Arc;

use wayhop_core::{SendBuffer, Time};
use wayhop_link_quality::Notices;
use wayhop_wire::dsdv;

use crate::gateway::exits::Exits;
use crate::params::Params;
use crate::routing_table::RoutingTable;

/// DSDV at one node.
///
/// A clone is a second node with the same memory.
#[derive(Clone)]
pub struct Engine {
    pub(crate) params: Arc<Params>,
    pub(crate) table: RoutingTable,
    pub(crate) buffer: SendBuffer,
    /// What it knows of the outside.
    pub(crate) exits: Exits,
    /// This node's own number, as its last full update told it: even.
    pub(crate) seq: u32,
    pub(crate) ip_id: u16,
    pub(crate) notices: Notices,
    /// When the last update was made.
    pub(crate) last_update: Option<Time>,
    /// When the last update or Hello was made.
    pub(crate) last_sent: Option<Time>,
    /// When the next Hello is due; `NEVER` where none is needed.
    pub(crate) next_hello: Time,
    /// When the next full update is due; `NEVER` before the first is planned.
    pub(crate) next_full: Time,
    /// When the timer for triggered updates fires; `NEVER` while it is not set.
    pub(crate) next_trigger: Time,
    /// When the next check is due; `NEVER` while none is.
    pub(crate) next_check: Time,
    /// Until then this node says and believes nothing.
    pub(crate) quiet_until: Time,
    /// Scratch space for the entries of an update.
    pub(crate) entries: Vec<dsdv::UpdateEntry>,
}

impl Engine {
    /// A node that knows nothing yet.
    pub fn new(params: impl Into<Arc<Params>>) -> Self {
        let params = params.into();
        Self {
            buffer: SendBuffer::new(params.buffer_packets, params.buffer_timeout()),
            params,
            table: RoutingTable::default(),
            exits: Exits::default(),
            seq: 0,
            ip_id: 0,
            notices: Notices::default(),
            last_update: None,
            last_sent: None,
            next_hello: Time::NEVER,
            next_full: Time::NEVER,
            next_trigger: Time::NEVER,
            next_check: Time::NEVER,
            quiet_until: Time::ZERO,
            entries: Vec::new(),
        }
    }

    pub(crate) fn is_quiet(&self, now: Time) -> bool {
        now < self.quiet_until
    }
}
