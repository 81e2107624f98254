//! The node: its state, and the dispatch of inputs and options.

use std::net::Ipv4Addr;
use std::sync::Arc;

use wayhop_core::{
    Addr, Command, Cx, DataPlane, DropReason, Fix, Inspect, Interests, Packet, Priority, Protocol, Refused,
    RxMeta, Socket, Span, Time, TimerKey, TxId, TxReport, TxSpec, TxStatus,
};
use wayhop_wire::dsr::{self, DsrOption, FlowState, UnknownAction};
use wayhop_wire::ipv4::{self, protocol};

use crate::blacklist::Blacklist;
use crate::buffer::SendBuffer;
use crate::cache::{LinkCache, PathCache, RouteCache};
use crate::duplicates::Seen;
use crate::flow;
use crate::flow_shortening::ArsTable;
use crate::flow_table::FlowTable;
use crate::learning::HeardPackets;
use crate::links::Links;
use crate::maintenance::Broken;
use crate::multicast;
use crate::neighbours::Neighbours;
use crate::params::{CacheKind, Maintenance, Params};
use crate::reply::HeldReplies;
use crate::request_table::RequestTable;
use crate::rexmt::{Fingerprint, RexmtBuffer};
use crate::route_error::ToldError;
use crate::shortening::GratTable;
use crate::tunnel;
use crate::view::{View, is_node};

/// DSR at one node.
///
/// A clone is a second node with the same memory.
#[derive(Clone)]
pub struct Engine {
    pub(crate) params: Arc<Params>,
    pub(crate) cache: Box<dyn RouteCache>,
    pub(crate) requests: RequestTable,
    pub(crate) buffer: SendBuffer,
    pub(crate) held_replies: HeldReplies,
    pub(crate) grat: GratTable,
    pub(crate) blacklist: Blacklist,
    /// Route Requests of neighbours that are being asked whether they hear this node.
    pub(crate) unidirectional_requests: Vec<(Ipv4Addr, Packet, Time)>,
    /// The last Route Error told to this node, for its next Route Request.
    pub(crate) told: Option<ToldError>,
    pub(crate) heard: HeardPackets,
    /// The link whose queued packets are being handed back.
    pub(crate) broken: Option<Broken>,
    /// Whether the periodic look into the Send Buffer is due at some time.
    pub(crate) checking: bool,
    pub(crate) flows: FlowTable,
    /// What it knows of links beside the routes in its cache.
    pub(crate) links: Links,
    /// The Maintenance Buffer.
    pub(crate) rexmt: RexmtBuffer,
    /// When the Maintenance Buffer is looked at next.
    pub(crate) rexmt_timer: Option<Time>,
    /// When it is looked at first, if that happens in intervals.
    pub(crate) rexmt_phase: Span,
    pub(crate) next_ack_id: u16,
    pub(crate) neighbours: Neighbours,
    pub(crate) seen: Seen,
    /// Where this node is.
    pub(crate) fix: Option<Fix>,
    pub(crate) ars: ArsTable,
    /// Where headers are built.
    pub(crate) scratch: Vec<u8>,
    /// Where the lists of probes and link metrics are built.
    pub(crate) entries: Vec<u8>,
    pub(crate) next_request_id: u16,
    pub(crate) next_ip_id: u16,
    pub(crate) next_tx_id: u64,
}

/// How often this node asks where it is: the GPS receivers of the testbed told it once a second.
const POSITION_INTERVAL: Span = Span::from_secs(1);

/// The timers of the engine.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Timer {
    /// The next look into the Send Buffer.
    BufferCheck,
    /// The oldest packet of the Send Buffer will have waited too long.
    BufferExpiry,
    /// A discovery for this target may go on.
    Discovery(Ipv4Addr),
    /// A held-back Route Reply is due.
    HeldReply,
    /// A neighbour has not answered whether it hears this node.
    Doubt,
    /// Routes to this target over links remembered as bad may be used.
    LastResort(Ipv4Addr),
    /// The next look into the Maintenance Buffer.
    Rexmt,
    /// The next probe of this node's links.
    Probe,
}

impl Timer {
    pub(crate) const fn key(self) -> TimerKey {
        TimerKey(match self {
            Self::BufferCheck => 1 << 32,
            Self::BufferExpiry => 2 << 32,
            Self::Discovery(a) => 3 << 32 | a.to_bits() as u64,
            Self::HeldReply => 4 << 32,
            Self::Doubt => 5 << 32,
            Self::Probe => 17 << 32,
            Self::LastResort(a) => 16 << 32 | a.to_bits() as u64,
            Self::Rexmt => 6 << 32,
        })
    }
    pub(crate) const fn from_key(k: TimerKey) -> Option<Self> {
        Some(match k.0 >> 32 {
            1 => Self::BufferCheck,
            2 => Self::BufferExpiry,
            3 => Self::Discovery(Ipv4Addr::from_bits(k.0 as u32)),
            4 => Self::HeldReply,
            5 => Self::Doubt,
            17 => Self::Probe,
            16 => Self::LastResort(Ipv4Addr::from_bits(k.0 as u32)),
            6 => Self::Rexmt,
            _ => return None,
        })
    }
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
        Self::with_cache(p, cache)
    }

    /// A node with another organisation of the Route Cache.
    pub fn with_cache(params: impl Into<Arc<Params>>, cache: Box<dyn RouteCache>) -> Self {
        let p = clamped(params.into());
        let ms = |v: u32| Span::from_millis(v.into());
        Self {
            cache,
            requests: RequestTable::new(&p),
            buffer: SendBuffer::new(
                p.send_buffer_packets.into(),
                Span::from_secs(p.send_buffer_timeout_s.into()),
            ),
            held_replies: HeldReplies::default(),
            grat: GratTable::new(p.grat_table_size.into(), p.grat_holdoff_by_route),
            blacklist: Blacklist::new(ms(p.blacklist_probable_ms), ms(p.blacklist_expiry_ms)),
            unidirectional_requests: Vec::new(),
            told: None,
            heard: HeardPackets::default(),
            broken: None,
            checking: false,
            flows: FlowTable::new(&p),
            links: Links::new(&p),
            rexmt: RexmtBuffer::new(p.rexmt_buffer_packets.into()),
            rexmt_timer: None,
            rexmt_phase: Span::ZERO,
            next_ack_id: 0,
            neighbours: Neighbours::default(),
            seen: Seen::default(),
            fix: None,
            ars: ArsTable::default(),
            scratch: Vec::with_capacity(160),
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

    /// Whether this node processes options of this type: all that RFC 4728 defines but those of flow state while that is
    /// off.
    fn implements(&self, o: &DsrOption<'_>) -> bool {
        match o {
            DsrOption::Unknown { .. } => false,
            DsrOption::Timeout { .. } | DsrOption::FlowId { .. } => self.params.flow_state,
            _ => true,
        }
    }

    /// Deals with options that this node does not implement as their types ask (section 8.1.6). Gives the packet back if it
    /// shall be processed further.
    fn obey_unknown(&mut self, cx: &mut Cx<'_>, mut p: Packet) -> Option<Packet> {
        let mut answered = false;
        let mut from = 0;
        loop {
            let Ok(v) = View::new(p.bytes()) else {
                cx.drop(p, DropReason::Malformed);
                return None;
            };
            // Those before `from` were seen already.
            let next = v.dsr.options().located().find_map(|(range, o)| match o {
                Ok(o) if range.start >= from && !self.implements(&o) => Some((range, o.kind())),
                _ => None,
            });
            let Some((range, kind)) = next else { return Some(p) };
            if dsr::unknown_wants_error(kind) && v.request.is_none() && !answered {
                // One answer a packet, however many strange options it carries.
                answered = true;
                self.report_unknown_option(cx, &v, kind);
            }
            from = range.end;
            let edited = match dsr::unknown_action(kind) {
                UnknownAction::Ignore => Ok(()),
                UnknownAction::Remove => {
                    from = range.start;
                    dsr::edit::remove_option(&mut p, range)
                }
                UnknownAction::Mark => dsr::edit::mark_option(p.bytes_mut(), range.start),
                UnknownAction::Drop => {
                    cx.drop(p, DropReason::Policy);
                    return None;
                }
            };
            if edited.is_err() {
                cx.drop(p, DropReason::Malformed);
                return None;
            }
        }
    }

    /// A packet of protocol 48 that came to this node's interface.
    fn on_dsr(&mut self, cx: &mut Cx<'_>, mut p: Packet, rx: &RxMeta) {
        let mut state = flow::take_header(&mut p);
        if let Some(s) = &mut state {
            if !self.params.flow_state {
                self.refuse_flow_state(cx, &p);
                return cx.drop(p, DropReason::Policy);
            }
            // Section 8.6.3: the Hop Count grows at reception.
            s.hop_count = (s.hop_count + 1).min(127);
            let ip = ipv4::Packet::new_checked(p.bytes());
            if ip.is_ok_and(|ip| ip.protocol() != protocol::DSR) {
                return self.on_plain(cx, p, rx, state);
            }
        }
        self.on_options(cx, p, rx, state, Done::Nothing);
    }

    /// A packet without DSR options; with or without Flow State header, which is off.
    fn on_plain(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta, state: Option<FlowState>) {
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let to = ip.dst();
        if is_node(to) && self.maintains(cx) {
            let what = Fingerprint::read(p.bytes());
            let me = cx.addr();
            if what.is_ok_and(|what| self.is_repeated(cx, &what, to == me)) {
                return cx.drop(p, DropReason::Duplicate);
            }
        }
        if to == cx.addr() || !is_node(to) {
            self.end_of_flow(cx, &p, state);
            return Self::deliver(cx, p);
        }
        if self.params.flow_state {
            return self.forward_in_flow(cx, p, rx, state);
        }
        // Without a source route it cannot go on.
        cx.drop(p, DropReason::NoRoute);
    }

    /// Its options: acknowledgements, then Route Errors and Route Replies in the packet's order, then what sends the packet
    /// on. `done` says what was dealt with already.
    fn on_options(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta, state: Option<FlowState>, done: Done) {
        let Ok(v) = View::new(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let strange = v.has_unknown || v.has_flow_option && !self.params.flow_state;
        if strange && done == Done::Nothing {
            let Some(p) = self.obey_unknown(cx, p) else { return };
            return self.on_options(cx, p, rx, state, Done::Unknown);
        }
        let acks = v.has_ack || v.ack_request.is_some() || self.maintains(cx);
        if acks && !rx.broadcast && done != Done::Acks {
            let Some(p) = self.settle(cx, p, rx) else { return };
            return self.on_options(cx, p, rx, state, Done::Acks);
        }
        self.learn_location(cx, &v);
        if v.has_ack {
            self.learn_acks(cx, &v, rx);
        }
        self.on_probe(cx, &v, rx);
        if v.has_error || v.has_reply {
            self.on_reports(cx, &v, rx, true);
        }
        if v.request.is_some() {
            return self.on_route_request(cx, p, rx);
        }
        if v.source_route.is_some() && !is_node(v.ip.dst()) {
            // Section 8.1.5: a source route does not lead to a group.
            return cx.drop(p, DropReason::Malformed);
        }
        let wrong = v.source_route.is_some_and(|s| usize::from(s.segments_left) > s.addresses.len());
        let for_me = v.ip.dst() == cx.addr() && !wrong;
        if for_me || !is_node(v.ip.dst()) {
            if let Some(way) = v.way().filter(|_| !rx.broadcast) {
                self.learn_passed(cx, &way, true, v.has_reply);
                self.learn_flow(cx, &v, &way, state);
            }
            if for_me && v.has_flow_option && self.params.flow_state {
                return self.change_flow(cx, p, rx, state);
            }
            self.end_of_flow(cx, &p, state);
            return Self::accept(cx, p);
        }
        self.forward(cx, p, rx, state);
    }

    /// The end of a packet's way: what follows the DSR header goes to the local stack.
    pub(crate) fn accept(cx: &mut Cx<'_>, mut p: Packet) {
        match View::new(p.bytes()).map(|v| v.is_control()) {
            Ok(true) => cx.consume(p),
            Ok(false) if dsr::edit::remove_header(&mut p).is_ok() => Self::deliver(cx, p),
            _ => cx.drop(p, DropReason::Malformed),
        }
    }

    /// To the local stack, out of the IP-in-IP packet if it came in one.
    fn deliver(cx: &mut Cx<'_>, mut p: Packet) {
        match tunnel::take_outer_header(cx.addr(), &mut p) {
            Ok(()) => cx.deliver(p),
            Err(_) => cx.drop(p, DropReason::Malformed),
        }
    }
}

/// What was dealt with of a received packet's options, in this order.
#[derive(Copy, Clone, PartialEq, Eq)]
enum Done {
    Nothing,
    /// What RFC 4728 does not define.
    Unknown,
    /// Acknowledgements and requests for them, too.
    Acks,
}

impl Protocol for Engine {
    fn data_plane(&self) -> DataPlane {
        DataPlane::PerPacket
    }

    fn interests(&self) -> Interests {
        let network = self.params.maintenance == Maintenance::Network;
        let located = self.params.location_option.then_some(POSITION_INTERVAL);
        let position = self.links.wants_position().or(located);
        Interests { overhear: self.params.snoop_overheard || network, position, ..Interests::default() }
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        cx.open(Socket::Ip(protocol::DSR));
        // Section 4.3: identifications begin at random, so that those of an earlier life do not look like duplicates.
        self.links.start(cx.addr());
        self.start_probes(cx);
        let bits = cx.rng().bits();
        self.next_request_id = bits as u16;
        self.next_ip_id = (bits >> 16) as u16;
        let wait = Span::from_secs(self.params.flow_recovery_wait_s.into());
        self.flows.start_at((bits >> 32) as u16, cx.now() + wait);
        self.next_ack_id = (bits >> 48) as u16;
        let tick = Span::from_millis(self.params.rexmt_tick_ms.into());
        if tick > Span::ZERO {
            // Nodes that are switched on together do not look into their buffers together.
            self.rexmt_phase = cx.rng().jitter(tick);
        }
    }

    fn on_outbound(&mut self, cx: &mut Cx<'_>, mut p: Packet) {
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        let (to, id) = (ip.dst(), ip.id());
        let whole = ip.fragment_offset() == 0 && !ip.more_fragments();
        if ip.protocol() == protocol::DSR || to.is_unspecified() {
            return cx.drop(p, DropReason::Malformed);
        }
        if to == cx.addr() {
            return cx.deliver(p);
        }
        if multicast::is_flooded(to) && self.params.multicast_flood {
            return self.flood(cx, p, to);
        }
        if to.is_broadcast() || to.is_multicast() {
            // Such packets go to the neighbours, once.
            return cx.send(p, TxSpec::broadcast().with_priority(Priority::Data));
        }
        if id == 0 || whole && self.maintains(cx) {
            // Packets are told apart by source and identification (section 8.3.2).
            self.stamp(&mut p);
        }
        self.originate(cx, p, to);
    }

    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        self.links.hear(rx, cx.now());
        let Ok(ip) = ipv4::Packet::new_checked(p.bytes()) else { return cx.drop(p, DropReason::Malformed) };
        if !ip.checksum_is_valid() {
            return cx.drop(p, DropReason::Malformed);
        }
        if ip.protocol() == protocol::DSR {
            return self.on_dsr(cx, p, rx);
        }
        self.on_plain(cx, p, rx, None);
    }

    fn on_overheard(&mut self, cx: &mut Cx<'_>, p: &[u8], next_hop: Addr, rx: &RxMeta) {
        self.hear_passed_on(cx, p, rx);
        if self.params.snoop_overheard {
            self.overhear(cx, p, next_hop.v4_or_unspecified(), rx);
        }
    }

    fn on_position(&mut self, cx: &mut Cx<'_>, fix: &Fix) {
        self.on_fix(cx, fix);
    }

    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        let TxReport { id, next_hop, status, packet: mut p, .. } = report;
        let next_hop = next_hop.v4_or_unspecified();
        if id.is_some_and(|id| self.on_copy_status(cx, id, &mut p)) {
            return;
        }
        match (status, p) {
            (TxStatus::Acked, _) => {
                self.links.worked(cx, next_hop);
                self.on_acked(cx, next_hop);
            }
            (TxStatus::NoAck { tries }, Some(p)) => self.on_broken_link(cx, p, next_hop, tries),
            (TxStatus::Recalled, Some(p)) => self.on_recalled(cx, p, next_hop),
            (TxStatus::QueueFull, Some(p)) => cx.drop(p, DropReason::QueueFull),
            (TxStatus::Unknown, Some(p)) => cx.consume(p),
            (_, None) => {}
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        match Timer::from_key(key) {
            Some(Timer::BufferCheck) => self.on_buffer_check(cx),
            Some(Timer::BufferExpiry) => self.expire_buffer(cx),
            Some(Timer::Discovery(target)) => self.on_discovery_timer(cx, target),
            Some(Timer::HeldReply) => self.send_due_replies(cx),
            Some(Timer::Doubt) => self.end_doubts(cx),
            Some(Timer::Probe) => self.on_probe_timer(cx),
            Some(Timer::LastResort(_)) => self.release(cx, Span::ZERO),
            Some(Timer::Rexmt) => self.on_rexmt_timer(cx),
            None => {}
        }
    }

    fn on_command(&mut self, cx: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        match command {
            Command::PurgeRoutes { destination } => {
                self.cache.purge(destination.map(Addr::v4_or_unspecified));
            }
            Command::SetParameters { json } => return self.set_parameters(cx, json),
            _ => return Err(Refused(format!("DSR does not know the order {command:?}"))),
        }
        Ok(())
    }

    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        self.cache.inspect(now, out);
        self.requests.inspect(out);
        self.buffer.inspect(now, out);
        self.held_replies.inspect(out);
        self.blacklist.inspect(now, out);
        self.flows.inspect(now, out);
        self.links.inspect(now, out);
        self.rexmt.inspect(now, out);
        self.neighbours.inspect(now, out);
        for (_, p, _) in &self.unidirectional_requests {
            out.held("unidirectional_requests", p);
        }
    }
}
