//! The state of one node, and the seam's handlers.

use std::net::Ipv4Addr;
use std::sync::Arc;

use wayhop_core::{
    Addr, Command, Cx, DataPlane, DropReason, Inspect, Interests, Packet, Protocol, Refused, RouteUse,
    RxMeta, Socket, Span, Time, TimerKey, TxReport, TxStatus,
};
use wayhop_wire::aodv::{self, Message, Unreachable};
use wayhop_wire::{ipv4, udp};

use crate::buffer::Buffer;
use crate::maintenance::Repairs;
use crate::neighbours::Neighbours;
use crate::notice::LastNotice;
use crate::params::{OwnNumber, Params, Refresh};
use crate::passive::Watch;
use crate::rate::RateLimit;
use crate::seen::Seen;
use crate::subnet::{Covered, Subnet};
use crate::table::{State, Table};

/// AODV at one node.
///
/// A clone is a second node with the same memory.
#[derive(Clone)]
pub struct Engine {
    pub(crate) params: Arc<Params>,
    pub(crate) table: Table,
    pub(crate) buffer: Buffer,
    pub(crate) seen: Seen,
    pub(crate) neighbours: Neighbours,
    pub(crate) repairs: Repairs,
    pub(crate) watch: Watch,
    /// The subnets of `Params::subnet_routers`.
    pub(crate) subnets: Vec<Subnet>,
    pub(crate) covered: Covered,
    /// This node's own sequence number.
    pub(crate) seq: u32,
    pub(crate) request_id: u32,
    pub(crate) ip_id: u16,
    pub(crate) rreq_rate: RateLimit,
    pub(crate) rerr_rate: RateLimit,
    pub(crate) last_notice: LastNotice,
    /// When the next check is due; `NEVER` while none is.
    pub(crate) next_check: Time,
    /// Until then this node takes no part in routing (section 6.13).
    pub(crate) quiet_until: Time,
    /// Scratch space for the destinations of a Route Error.
    pub(crate) lost: Vec<Unreachable>,
}

/// Status reports: what was sent.
pub(crate) mod tx {
    use wayhop_core::TxId;
    /// A data packet out of the buffer.
    pub(crate) const DATA: TxId = TxId(1);
    /// A Route Reply.
    pub(crate) const RREP: TxId = TxId(2);
    /// Another message to one neighbour.
    pub(crate) const CONTROL: TxId = TxId(3);
}

/// Timers. The per-destination ones have the address in the low 32 bits.
pub(crate) mod timer {
    use std::net::Ipv4Addr;

    use wayhop_core::TimerKey;

    pub(crate) const CHECK: TimerKey = TimerKey(1);
    pub(crate) const HELLO: TimerKey = TimerKey(2);
    pub(crate) const REPAIR: TimerKey = TimerKey(3);
    pub(crate) const ACK: TimerKey = TimerKey(4);
    pub(crate) const AWAKE: TimerKey = TimerKey(5);
    pub(crate) const WATCH: TimerKey = TimerKey(6);
    const SEARCH: u64 = 1 << 32;

    pub(crate) fn search(destination: Ipv4Addr) -> TimerKey {
        TimerKey(SEARCH | u64::from(destination.to_bits()))
    }
    pub(crate) fn searched(key: TimerKey) -> Option<Ipv4Addr> {
        (key.0 >> 32 == 1).then(|| Ipv4Addr::from_bits(key.0 as u32))
    }
}

/// A way that a data packet goes.
pub(crate) struct Use {
    pub(crate) source: Ipv4Addr,
    pub(crate) destination: Ipv4Addr,
    pub(crate) next_hop: Ipv4Addr,
    pub(crate) previous_hop: Option<Ipv4Addr>,
}

/// The addresses of a data packet.
pub(crate) fn ends(p: &Packet) -> Option<(Ipv4Addr, Ipv4Addr)> {
    ipv4::Packet::new_checked(p.bytes()).ok().map(|ip| (ip.src(), ip.dst()))
}

/// Whether an address can be a node's.
pub(crate) fn is_node(a: Ipv4Addr) -> bool {
    !(a.is_broadcast() || a.is_multicast() || a.is_unspecified() || a.is_loopback())
}

/// Whether a request may ask for an address. Section 2: for a group it is passed on like any other.
pub(crate) fn is_destination(a: Ipv4Addr) -> bool {
    is_node(a) || (a.is_multicast() && !a.is_broadcast())
}

impl Engine {
    /// A node that knows nothing yet. Nodes may share the parameters.
    pub fn new(params: impl Into<Arc<Params>>) -> Self {
        let params = params.into();
        let seq = match params.own_number {
            OwnNumber::Minimal | OwnNumber::IncrementIfNext => 0,
            OwnNumber::Even => 2,
        };
        let subnets = Subnet::elect(&params.subnet_routers);
        Self {
            params,
            table: Table::default(),
            buffer: Buffer::default(),
            seen: Seen::default(),
            neighbours: Neighbours::default(),
            repairs: Repairs::default(),
            watch: Watch::default(),
            subnets,
            covered: Covered::default(),
            seq,
            request_id: 0,
            ip_id: 0,
            rreq_rate: RateLimit::default(),
            rerr_rate: RateLimit::default(),
            last_notice: None,
            next_check: Time::NEVER,
            quiet_until: Time::ZERO,
            lost: Vec::new(),
        }
    }

    pub(crate) fn is_quiet(&self, now: Time) -> bool {
        now < self.quiet_until
    }

    /// Begins the wait after a reboot, or begins it anew (section 6.13).
    pub(crate) fn begin_reboot_wait(&mut self, cx: &mut Cx<'_>) {
        self.quiet_until = cx.now() + self.params.delete_period();
        cx.set_timer(timer::AWAKE, self.quiet_until);
    }

    /// The wait is over: what was learned meanwhile carries packets.
    fn awake(&mut self, cx: &mut Cx<'_>) {
        if self.is_quiet(cx.now()) {
            return;
        }
        for i in 0..self.table.len() {
            let e = self.table.at(i);
            let (destination, is_node) = (e.destination, e.prefix == 0);
            if is_node && e.is_valid() {
                self.publish(cx, destination, 0);
            }
        }
        for destination in self.buffer.destinations() {
            self.release(cx, destination, Span::ZERO);
        }
    }

    /// Sees to it that a check runs at the first grid point after `due`.
    pub(crate) fn check_after(&mut self, cx: &mut Cx<'_>, due: Time) {
        if due >= self.next_check || due == Time::NEVER {
            return;
        }
        let grid = Span::from_millis(self.params.check_interval_ms.max(1)).as_nanos();
        let at =
            Time::from_nanos((due.max(cx.now()).as_nanos() / grid).saturating_add(1).saturating_mul(grid));
        if at < self.next_check {
            self.next_check = at;
            cx.set_timer(timer::CHECK, at);
        }
    }

    /// As [`Engine::check_after`], but a check at `due` itself will do.
    pub(crate) fn check_at(&mut self, cx: &mut Cx<'_>, due: Time) {
        self.check_after(cx, Time::from_nanos(due.as_nanos().saturating_sub(1)));
    }

    /// The periodic check: expired routes, entries and packets, lost neighbours, searches to repeat.
    fn check(&mut self, cx: &mut Cx<'_>) {
        self.next_check = Time::NEVER;
        self.expire_routes(cx);
        self.expire_waiting(cx);
        self.repeat_searches(cx);
        self.expire_neighbours(cx);
        let now = cx.now();
        let routes = self.table.iter().filter(|e| e.state != State::Repair).map(|e| e.expires);
        let due =
            routes.chain(self.buffer.next_expiry()).chain(self.neighbours.next_loss(&self.params)).min();
        if let Some(due) = due {
            self.check_after(cx, due.max(now));
        }
        if let Some(due) = self.next_repeat() {
            self.check_at(cx, due);
        }
    }

    fn on_message(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        let Some(head) = read_head(&p, cx.addr(), rx.broadcast) else {
            return cx.drop(p, DropReason::Malformed);
        };
        let Ok(message) = Message::parse(&p.bytes()[head.payload.clone()]) else {
            return cx.drop(p, DropReason::Malformed);
        };
        let tail = &p.bytes()[head.payload.start + message.buffer_len()..head.payload.end];
        // Section 9: a message with an extension that may not be skipped is not for this implementation.
        if aodv::extensions(tail).any(|e| e.map_or(true, |e| !e.may_be_skipped())) {
            return cx.drop(p, DropReason::Malformed);
        }
        self.heard(head.source, cx.now());
        match message {
            Message::Rreq(m) => self.on_rreq(cx, p, &head, m),
            Message::Rrep(m) if head.is_broadcast => {
                let interval = aodv::extensions(tail).find_map(|e| match e {
                    Ok(aodv::Extension::HelloInterval { millis }) => Some(Span::from_millis(millis.into())),
                    _ => None,
                });
                self.on_hello(cx, &head, m, interval);
                cx.consume(p);
            }
            Message::Rrep(m) => self.on_rrep(cx, p, &head, m),
            Message::Rerr(m) => {
                self.on_rerr(cx, &head, m);
                cx.consume(p);
            }
            Message::RrepAck => {
                self.neighbours.acknowledged(head.source);
                cx.consume(p);
            }
        }
    }
}

/// What the headers around a message say.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    /// The neighbour that sent it: the IP source.
    pub(crate) source: Ipv4Addr,
    pub(crate) ttl: u8,
    pub(crate) is_broadcast: bool,
    /// Where the message and its extensions are.
    pub(crate) payload: core::ops::Range<usize>,
}

fn read_head(p: &Packet, own: Ipv4Addr, to_all: bool) -> Option<Head> {
    let ip = ipv4::Packet::new_checked(p.bytes()).ok()?;
    let whole = !ip.more_fragments() && ip.fragment_offset() == 0;
    if !whole || ip.protocol() != ipv4::protocol::UDP || !ip.checksum_is_valid() {
        return None;
    }
    let datagram = udp::Packet::new_checked(ip.payload()).ok()?;
    if datagram.dst_port() != aodv::PORT || !datagram.checksum_is_valid(ip.src(), ip.dst()) {
        return None;
    }
    if !is_node(ip.src()) || ip.src() == own {
        return None;
    }
    let start = ip.header_len() + udp::HEADER_LEN;
    Some(Head {
        source: ip.src(),
        ttl: ip.ttl(),
        // Some implementations send to the subnet's broadcast address, which only the link tells from a node's.
        is_broadcast: ip.dst().is_broadcast() || to_all,
        payload: start..start + datagram.payload().len(),
    })
}

impl Protocol for Engine {
    fn data_plane(&self) -> DataPlane {
        DataPlane::Forwarding
    }
    fn interests(&self) -> Interests {
        Interests { route_used: true, overhear: self.params.passive_ack, ..Interests::default() }
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        cx.open(Socket::Udp(aodv::PORT));
        if self.params.wait_after_reboot {
            self.begin_reboot_wait(cx);
        }
        self.start_hello(cx);
    }

    fn on_outbound(&mut self, cx: &mut Cx<'_>, p: Packet) {
        let Some((source, destination)) = ends(&p) else {
            return cx.drop(p, DropReason::Malformed);
        };
        if !is_node(destination) || destination == cx.addr() {
            return cx.drop(p, DropReason::NoRoute);
        }
        self.route_or_search(cx, p, source, destination);
    }

    fn on_frame(&mut self, cx: &mut Cx<'_>, p: Packet, rx: &RxMeta) {
        self.on_message(cx, p, rx);
    }

    fn on_tx_status(&mut self, cx: &mut Cx<'_>, report: TxReport) {
        let TxReport { id, next_hop, status, packet, .. } = report;
        let next_hop = next_hop.v4_or_unspecified();
        let Some(p) = packet else {
            if matches!(status, TxStatus::NoAck { .. }) && self.params.link_feedback {
                self.link_broken(cx, next_hop);
            }
            return;
        };
        let is_data = id.is_none_or(|id| id == tx::DATA);
        match status {
            TxStatus::Acked | TxStatus::Unknown => cx.consume(p),
            TxStatus::QueueFull => cx.drop(p, DropReason::QueueFull),
            TxStatus::Recalled if is_data && self.params.reroute_queued => self.reroute(cx, p),
            TxStatus::Recalled if is_data => self.end_unreachable(cx, p, DropReason::NoRoute),
            TxStatus::Recalled => cx.drop(p, DropReason::NoRoute),
            TxStatus::NoAck { .. } if !self.params.link_feedback => cx.drop(p, DropReason::MacRetries),
            TxStatus::NoAck { .. } if is_data => self.data_lost(cx, next_hop, p),
            TxStatus::NoAck { .. } => self.control_lost(cx, next_hop, id, p),
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>, key: TimerKey) {
        match key {
            timer::CHECK => self.check(cx),
            timer::HELLO => self.hello_due(cx),
            timer::REPAIR => self.repair_deadline(cx),
            timer::ACK => self.acks_due(cx),
            timer::AWAKE => self.awake(cx),
            timer::WATCH => self.watch_due(cx),
            _ => {
                if let Some(destination) = timer::searched(key) {
                    self.search_timeout(cx, destination);
                }
            }
        }
    }

    fn on_route_used(&mut self, cx: &mut Cx<'_>, used: &RouteUse) {
        let used = Use {
            source: used.source.v4_or_unspecified(),
            destination: used.destination.v4_or_unspecified(),
            next_hop: used.next_hop.v4_or_unspecified(),
            previous_hop: used.previous_hop.map(Addr::v4_or_unspecified),
        };
        if used.previous_hop == Some(used.next_hop) && self.params.turning_back_ends_route {
            return self.turned_back(cx, &used);
        }
        self.refresh(cx, &used);
    }

    fn on_overheard(&mut self, cx: &mut Cx<'_>, _p: &[u8], _next_hop: Addr, rx: &RxMeta) {
        self.heard(rx.neighbour4(), cx.now());
    }

    fn on_command(&mut self, cx: &mut Cx<'_>, command: &Command) -> Result<(), Refused> {
        match command {
            Command::PurgeRoutes { destination } => self.purge(cx, destination.map(Addr::v4_or_unspecified)),
            Command::SetParameters { json } => return self.set_parameters(cx, json),
            _ => return Err(Refused(format!("AODV does not know the order {command:?}"))),
        }
        Ok(())
    }

    fn inspect(&self, now: Time, out: &mut dyn Inspect) {
        crate::inspect::show(self, now, out);
    }
}

impl Engine {
    /// A sign of life of a neighbour.
    fn heard(&mut self, neighbour: Ipv4Addr, now: Time) {
        self.neighbours.heard(neighbour, now);
        self.watch.heard(neighbour);
    }

    /// A data packet goes this way (section 6.2).
    pub(crate) fn refresh(&mut self, cx: &mut Cx<'_>, used: &Use) {
        let now = cx.now();
        let until = now + self.params.active_route_timeout();
        if self.params.refresh == Refresh::DestinationOnly {
            let key = self.table.key(used.destination);
            if let Some(e) = self.table.get_mut(key) {
                e.renew(until);
            }
        } else {
            // Who, and the neighbour over which the packet shows that the route works. Section 6.2 takes ways to be symmetric; where the
            // packet came by another neighbour than the route to its source has, it says nothing of that route.
            let (next, previous) = (Some(used.next_hop), used.previous_hop);
            let all = [
                (Some(used.destination), next),
                (Some(used.source), previous),
                (next, next),
                (previous, previous),
            ];
            for (a, over) in all {
                let Some(key) = a.map(|a| self.table.key(a)) else { continue };
                if let Some(e) = self.table.get_mut(key).filter(|e| Some(e.next_hop) == over) {
                    e.used(until);
                }
            }
        }
        if let Some(n) = used.previous_hop {
            self.heard(n, now);
        }
        self.watch(cx, used.next_hop, used.destination);
    }
}
