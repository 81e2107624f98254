//! The state of one node.

use std::net::Ipv4Addr;
use std::sync::Arc;

use wayhop_core::{Fix, Outside, Packet, SendBuffer, Span, Time, TxId};

use crate::cache::overheard::HeardPackets;
use crate::cache::{LinkCache, PathCache, RouteCache};
use crate::discovery::blacklist::Blacklist;
use crate::discovery::held_replies::HeldReplies;
use crate::discovery::origin::Origin;
use crate::discovery::request_table::RequestTable;
use crate::flow_state::flow_table::FlowTable;
use crate::flow_state::shortening_table::ArsTable;
use crate::maintenance::broken::{BrokenLink, ToldError};
use crate::maintenance::duplicates::DuplicateTable;
use crate::maintenance::gratuitous_reply_table::GratuitousReplyTable;
use crate::maintenance::maintenance_buffer::MaintenanceBuffer;
use crate::neighbours::links::LinkKnowledge;
use crate::neighbours::pathrater::Ratings;
use crate::neighbours::table::NeighbourTable;
use crate::neighbours::watchdog::Watchdog;
use crate::params::{CacheKind, Params};

/// DSR at one node.
///
/// A clone is a second node with the same memory.
#[derive(Clone)]
pub struct Engine {
    pub(crate) params: Arc<Params>,
    pub(crate) cache: Box<dyn RouteCache>,
    pub(crate) requests: RequestTable,
    pub(crate) buffer: SendBuffer<Origin>,
    pub(crate) held_replies: HeldReplies,
    pub(crate) grat: GratuitousReplyTable,
    pub(crate) blacklist: Blacklist,
    /// Route Requests of neighbours that are being asked whether they hear this node.
    pub(crate) unidirectional_requests: Vec<(Ipv4Addr, Packet, Time)>,
    /// The last Route Error told to this node, for its next Route Request.
    pub(crate) told: Option<ToldError>,
    pub(crate) heard: HeardPackets,
    /// The link whose queued packets are being handed back.
    pub(crate) broken: Option<BrokenLink>,
    /// Whether the periodic look into the Send Buffer is due at some time.
    pub(crate) checking: bool,
    pub(crate) flows: FlowTable,
    /// What it knows of links beside the routes in its cache.
    pub(crate) links: LinkKnowledge,
    pub(crate) rexmt: MaintenanceBuffer,
    /// When the Maintenance Buffer is looked at next.
    pub(crate) rexmt_timer: Option<Time>,
    /// When it is looked at first, if that happens in intervals.
    pub(crate) rexmt_phase: Span,
    pub(crate) next_ack_id: u16,
    pub(crate) neighbours: NeighbourTable,
    pub(crate) seen: DuplicateTable,
    /// What its next hops do with packets; `None` if it does not look.
    pub(crate) watchdog: Option<Box<Watchdog>>,
    /// What it thinks of other nodes; `None` if that does not matter.
    pub(crate) ratings: Option<Box<Ratings>>,
    /// Where this node is.
    pub(crate) fix: Option<Fix>,
    pub(crate) ars: ArsTable,
    /// What is outside of the mesh; `None` in a mesh without gateways.
    pub(crate) outside: Option<Outside>,
    /// Where headers are built.
    pub(crate) scratch: Vec<u8>,
    /// Where the lists of probes and link metrics are built.
    pub(crate) entries: Vec<u8>,
    pub(crate) next_request_id: u16,
    pub(crate) next_ip_id: u16,
    pub(crate) next_tx_id: u64,
}

/// The same parameters if they are in range: not a copy for each node.
fn clamped(params: Arc<Params>) -> Arc<Params> {
    let in_range = Params::clone(&params).clamped();
    if in_range == *params { params } else { Arc::new(in_range) }
}

impl Engine {
    /// A node that knows nothing yet. Nodes may share the parameters. Values that the formats cannot hold are brought into
    /// range.
    pub fn new(params: impl Into<Arc<Params>>) -> Self {
        let p = clamped(params.into());
        let timeout = Span::from_secs(p.route_cache_timeout_s.into());
        let cache: Box<dyn RouteCache> = match p.route_cache {
            CacheKind::Path => {
                let (primary, secondary) = (p.cache_primary_routes, p.cache_secondary_routes);
                Box::new(PathCache::new(primary.into(), secondary.into(), timeout))
            }
            CacheKind::Link => {
                Box::new(LinkCache::new(p.link_cache_nodes, p.link_cache_links, p.max_route_hops))
            }
        };
        let ms = |v: u32| Span::from_millis(v.into());
        Self {
            cache,
            requests: RequestTable::new(&p),
            buffer: SendBuffer::new(
                p.send_buffer_packets.into(),
                Span::from_secs(p.send_buffer_timeout_s.into()),
            ),
            held_replies: HeldReplies::default(),
            grat: GratuitousReplyTable::new(p.grat_table_size.into(), p.grat_holdoff_by_route),
            blacklist: Blacklist::new(ms(p.blacklist_probable_ms), ms(p.blacklist_expiry_ms)),
            unidirectional_requests: Vec::new(),
            told: None,
            heard: HeardPackets::default(),
            broken: None,
            checking: false,
            flows: FlowTable::new(&p),
            links: LinkKnowledge::new(&p),
            rexmt: MaintenanceBuffer::new(p.rexmt_buffer_packets.into()),
            rexmt_timer: None,
            rexmt_phase: Span::ZERO,
            next_ack_id: 0,
            neighbours: NeighbourTable::default(),
            seen: DuplicateTable::default(),
            watchdog: p.watchdog.then(Box::default),
            ratings: p.pathrater.then(Box::default),
            fix: None,
            ars: ArsTable::default(),
            outside: None,
            scratch: Vec::new(),
            entries: Vec::new(),
            next_request_id: 0,
            next_ip_id: 0,
            next_tx_id: 0,
            params: p,
        }
    }

    /// The number of the next reported transmission.
    pub(crate) fn tx_id(&mut self) -> TxId {
        self.next_tx_id += 1;
        TxId(self.next_tx_id)
    }

    /// The most nodes that a route may have.
    pub(crate) fn max_nodes(&self) -> usize {
        usize::from(self.params.max_route_hops) + 1
    }
}
