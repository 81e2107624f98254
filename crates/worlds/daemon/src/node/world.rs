//! What the node requires of the host around it: memory and time, programs behind the TUN, the
//! kernel's routes, and the record.
//!
//! Nothing here does I/O. The event loop sets the time, and takes `deliveries` and `route_changes`.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use rustc_hash::FxHashMap;
use wayhop_core::{
    Addr, DropReason, Effect, Frame, IfaceId, Input, Packet, PacketId, Prefix, Route, SendState, Time,
    TimerKey, TraceNote,
};
use wayhop_node::{
    Above, Below, Due, Hop, HopKind, InputContext, InstalledRoute, Schedule, Stage, Workspace, World,
};
use wayhop_replay::Logs;
use wayhop_wire::{ip, unreachable_for, unreachable6_for};

use crate::config::gateway::EdgePlan;
use crate::ipv6::mesh6::Mesh6;
use crate::record::counters::Counters;
use crate::record::events::Events;
use crate::record::run_dir::RunRecord;

/// The most packets that wait for their jitter to pass: a flood of requests must not fill the memory.
const MAX_DELAYED: usize = 1024;
/// The number of the only node in its log of inputs.
const LOGGED: u32 = 0;

/// The surroundings of the node.
pub(crate) struct FieldWorld {
    pub(crate) addr: Ipv4Addr,
    mesh: wayhop_linux::Prefix,
    /// What is outside, if the mesh has gateways.
    pub(crate) edge: Option<EdgePlan>,
    /// What is to know of IPv6, if the node has an address of it.
    pub(crate) v6: Option<Mesh6>,
    /// The clock, as the last event set it.
    pub(crate) now: Time,
    pub(crate) work: Workspace,
    pub(crate) due: Schedule,
    /// The packet from the interface that the node is looking at.
    pub(crate) arrived: Option<PacketId>,
    pub(crate) counters: Counters,
    /// For subscribers.
    pub(crate) events: Events,
    /// Packets for this host's programs.
    pub(crate) deliveries: VecDeque<Packet>,
    /// The forwarding table, as the kernel is to have it.
    pub(crate) routes: FxHashMap<Prefix, Route>,
    /// Rows of it that changed: the row, or the destination that has none any more.
    pub(crate) route_changes: Vec<Result<Route, Prefix>>,
    /// The run directory, if there is one.
    pub(crate) run: Option<RunRecord>,
    /// The log of what goes into the engine, if there is one.
    pub(crate) inputs: Option<Box<Logs>>,
}

impl FieldWorld {
    pub(crate) fn new(addr: Ipv4Addr, mesh: wayhop_linux::Prefix) -> Self {
        // Packets are counted from 1, as in the other worlds.
        let mut work = Workspace::new();
        work.next_id = 1;
        Self {
            addr,
            mesh,
            edge: None,
            v6: None,
            now: Time::ZERO,
            work,
            due: Schedule::default(),
            arrived: None,
            counters: Counters::default(),
            events: Events::default(),
            deliveries: VecDeque::new(),
            routes: FxHashMap::default(),
            route_changes: Vec::new(),
            run: None,
            inputs: None,
        }
    }

    /// A new packet with these octets.
    pub(crate) fn packet(&mut self, bytes: &[u8]) -> Packet {
        let meta = self.work.new_meta(self.now);
        self.work.pool.packet(bytes, meta)
    }

    /// Whether this is the address of a host in the mesh.
    pub(crate) fn is_in_mesh(&self, addr: Ipv4Addr) -> bool {
        self.mesh.has_host(addr)
    }
    /// Whether this node leads to an address outside, which its host sends packets on to.
    pub(crate) fn leads_to(&self, addr: Ipv4Addr) -> bool {
        self.edge.as_ref().is_some_and(|e| e.outside.leads_to(addr))
    }
    /// Whether this node reaches an address outside by gateways.
    fn seeks(&self, addr: Ipv4Addr) -> bool {
        self.edge.as_ref().is_some_and(|e| e.seeks(addr))
    }
    /// Whether this node takes from the mesh a packet of this source for this destination: within the mesh, out of it over this
    /// host, or an answer from outside.
    fn may_pass(&self, from: Ipv4Addr, to: Ipv4Addr) -> bool {
        if from == self.addr {
            return false;
        }
        if self.is_in_mesh(from) {
            self.is_for_us(to) || self.leads_to(to)
        } else {
            to == self.addr && self.seeks(from)
        }
    }
    /// Whether this is this node's address, or one that all nodes have in common.
    pub(crate) fn is_for_us(&self, destination: Ipv4Addr) -> bool {
        destination == self.addr || self.mesh.is_for_all(destination)
    }

    /// The kernel is to have none of the routes, which stay in the forwarding table.
    pub(crate) fn withdraw_routes(&mut self) {
        self.route_changes.extend(self.routes.keys().map(|destination| Err(*destination)));
    }

    /// The kernel has lost its routes: it is to have all of them again.
    pub(crate) fn renew_routes(&mut self) {
        self.route_changes.extend(self.routes.values().map(|route| Ok(*route)));
    }
}

impl Below for FieldWorld {
    fn ready(&mut self, _: Time, _: IfaceId) {
        // The event loop looks into the queue after each batch. What the interface has taken cannot be recalled.
    }
}

impl Above for FieldWorld {
    fn listens(&mut self, _: Time, _: &Packet) -> bool {
        // The kernel knows which programs do.
        true
    }

    fn may_deliver(&mut self, _: Time, p: &Packet) -> bool {
        // What came by air is from the mesh and to it; the stack trusts addresses of its own as a source, and others.
        self.arrived != Some(p.meta.id)
            || ip::Packet::new_checked(p.bytes()).is_ok_and(|ip| match (ip.src.v4(), ip.dst.v4()) {
                (Some(src), Some(dst)) => self.may_pass(src, dst),
                _ => self.v6.as_ref().is_some_and(|v6| v6.may_deliver(&ip)),
            })
    }

    fn deliver(&mut self, _: Time, packet: Packet) {
        self.deliveries.push_back(packet);
    }

    fn unreachable(&mut self, _: Time, packet: Packet, _: DropReason) {
        if wayhop_protocols::classify(packet.bytes()).0.is_none()
            && let Some(answer) = unreachable_for(packet.bytes(), self.addr)
                .or_else(|| unreachable6_for(packet.bytes(), self.v6.as_ref()?.addr))
        {
            let answer = self.packet(&answer);
            self.deliveries.push_back(answer);
        }
        self.work.pool.recycle(packet);
    }
}

impl World for FieldWorld {
    fn workspace(&mut self) -> &mut Workspace {
        &mut self.work
    }

    fn schedule_timer(&mut self, at: Time, engine: u8, key: TimerKey) {
        self.due.push(at, Due::Timer(engine, key));
    }
    fn schedule_frame(&mut self, at: Time, stage: Stage, frame: Frame) {
        self.due.push(at, Due::Frame(stage, frame));
    }
    fn may_wait(&mut self) -> bool {
        self.due.frames() < MAX_DELAYED
    }
    fn schedule_resolution(&mut self, at: Time, iface: IfaceId) {
        self.due.push(at, Due::Resolution(iface));
    }

    fn limited_class(&self, packet: &[u8]) -> Option<u8> {
        wayhop_protocols::limited_class(packet)
    }

    fn record(&mut self, at: Time, p: &Packet, hop: Hop) {
        match (hop.kind, hop.reason) {
            (HopKind::Originate, _) => self.counters.originated += 1,
            (HopKind::Deliver, _) => self.counters.delivered += 1,
            (HopKind::Drop, Some(why)) => {
                self.counters.dropped(why);
                self.events.dropped(at, p, why);
            }
            _ => {}
        }
        self.events.hop(at, p, &hop);
        if let Some(run) = &mut self.run {
            run.hop(at, p, &hop);
        }
    }
    fn note(&mut self, at: Time, note: TraceNote) {
        self.events.note(at, note);
        if let Some(run) = &mut self.run {
            run.note(at, note);
        }
    }
    fn state(&mut self, at: Time, state: SendState) {
        self.events.sent(at, state);
        if let Some(run) = &mut self.run {
            run.sent(at, state);
        }
    }

    fn logs_inputs(&self) -> bool {
        self.inputs.as_ref().is_some_and(|logs| logs.wants(LOGGED))
    }
    fn log_input(&mut self, at: Time, engine: u8, seen: &InputContext<'_>, input: &Input<'_>) {
        if let Some(logs) = &mut self.inputs {
            logs.input(at, LOGGED, engine, seen, input);
        }
    }
    fn log_effects(&mut self, effects: &[Effect]) {
        if let Some(logs) = &mut self.inputs {
            logs.effects(effects);
        }
    }

    /// A stranger on the air must not lead this host's other traffic astray. (The kernel's routes are to single hosts.)
    fn admits(&mut self, _: Time, route: &Route) -> bool {
        if !route.destination.addr.is_v4() {
            // From the configuration: no protocol has routes for IPv6.
            return self.v6.is_some();
        }
        let to = route.destination.as_host().and_then(Addr::v4);
        let to = to.filter(|a| *a != self.addr && (self.is_in_mesh(*a) || self.seeks(*a)));
        let admitted = to.is_some() && route.next_hop.v4().is_some_and(|a| self.is_in_mesh(a));
        self.counters.refused_routes += u64::from(!admitted);
        admitted
    }
    fn route_installed(&mut self, at: Time, row: &InstalledRoute) {
        let route = row.route;
        if !route.destination.addr.is_v4() {
            // The kernel forwards IPv4 only.
            return self.events.route(at, route.destination, Some(&route));
        }
        let old = self.routes.insert(route.destination, route);
        if old.is_none_or(|old| old.next_hop != route.next_hop) {
            self.route_changes.push(Ok(route));
        }
        if old.is_none_or(|old| (old.next_hop, old.metric) != (route.next_hop, route.metric)) {
            self.events.route(at, route.destination, Some(&route));
        }
    }
    fn route_removed(&mut self, at: Time, destination: Prefix) {
        if self.routes.remove(&destination).is_some() {
            self.events.route(at, destination, None);
            self.route_changes.push(Err(destination));
        }
    }
}
