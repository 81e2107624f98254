//! The state of one node.

use std::sync::Arc;

use wayhop_core::{Outside, SendBuffer, Span, Time};
use wayhop_link_quality::Notices;
use wayhop_wire::aodv::Unreachable;

use crate::discovery::rate_limit::RateLimit;
use crate::discovery::request_table::RequestIds;
use crate::maintenance::repairs::Repairs;
use crate::neighbours::table::NeighbourTable;
use crate::neighbours::watch::NextHopWatch;
use crate::params::{OwnNumber, Params};
use crate::routing_table::RoutingTable;
use crate::routing_table::subnet::{CoveredAddresses, Subnet};

/// AODV at one node.
///
/// A clone is a second node with the same memory.
#[derive(Clone)]
pub struct Engine {
    pub(crate) params: Arc<Params>,
    pub(crate) table: RoutingTable,
    pub(crate) buffer: SendBuffer,
    /// `None` until the first request.
    pub(crate) seen: Option<Box<RequestIds>>,
    pub(crate) neighbours: NeighbourTable,
    pub(crate) repairs: Repairs,
    pub(crate) watch: NextHopWatch,
    /// The subnets of `Params::subnet_routers`.
    pub(crate) subnets: Vec<Subnet>,
    pub(crate) covered: CoveredAddresses,
    /// What is outside of the mesh; `None` in a mesh without gateways.
    pub(crate) outside: Option<Box<Outside>>,
    /// This node's own sequence number.
    pub(crate) seq: u32,
    pub(crate) request_id: u32,
    pub(crate) ip_id: u16,
    pub(crate) rreq_rate: RateLimit,
    pub(crate) rerr_rate: RateLimit,
    pub(crate) notices: Notices,
    /// When the next check is due; `NEVER` while none is.
    pub(crate) next_check: Time,
    /// Until then this node takes no part in routing (section 6.13).
    pub(crate) quiet_until: Time,
    /// Scratch space for the destinations of a Route Error; empty between them.
    pub(crate) lost: Vec<Unreachable>,
}

impl Engine {
    /// A node that knows nothing yet. Nodes may share the parameters.
    pub fn new(params: impl Into<Arc<Params>>) -> Self {
        let params = params.into();
        let seq = match params.own_number {
            OwnNumber::Minimal | OwnNumber::IncrementIfNext => params.first_number,
            OwnNumber::Even => params.first_number.wrapping_add(2) & !1,
        };
        let request_id = params.first_number;
        let subnets = Subnet::elect(&params.subnet_routers);
        Self {
            buffer: SendBuffer::new(params.buffer_packets, Span::from_millis(params.buffer_timeout_ms)),
            params,
            table: RoutingTable::default(),
            seen: None,
            neighbours: NeighbourTable::default(),
            repairs: Repairs::default(),
            watch: NextHopWatch::default(),
            subnets,
            covered: CoveredAddresses::default(),
            outside: None,
            seq,
            request_id,
            ip_id: 0,
            rreq_rate: RateLimit::default(),
            rerr_rate: RateLimit::default(),
            notices: Notices::default(),
            next_check: Time::NEVER,
            quiet_until: Time::ZERO,
            lost: Vec::new(),
        }
    }

    pub(crate) fn is_quiet(&self, now: Time) -> bool {
        now < self.quiet_until
    }
}
