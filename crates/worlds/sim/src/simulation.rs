//! A run: built from a scenario, driven event by event, closed with a summary.

use std::collections::VecDeque;
use std::hint::black_box;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::ops::ControlFlow;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use wayhop_auth::Auth;
use wayhop_core::{Addr, AddrMap, IfaceId, Leg, NodeId, Position, Purpose, Span, Time, stream};
use wayhop_node::Workspace;
use wayhop_radio::{LinkOverride, RadioEvent, Supply};
use wayhop_scenario::{
    ApplicationPlan, AttackKind, FlowConfig, Interfaces, LossTable, Order, QueueStall, Resolved,
};
use wayhop_trace::{PacketOutcome, PositionEvent, Recorder, Summary};
use wayhop_world::Gps;

use crate::attackers::Attackers;
use crate::audit::{Audit, Census};
use crate::bundles::bundle_books;
use crate::classify;
use crate::common::Common;
use crate::event::Event;
use crate::fates::{Watched, flags};
use crate::flows::Flows;
use crate::hosted_applications::{Applications, Hosted};
use crate::hosted_streams::Streams;
use crate::ledger::{FlowFacts, Ledger};
use crate::media::{self, Media};
use crate::motion::Movers;
use crate::net::Net;
use crate::nodes::{Alike, Node, Nodes};
use crate::outages::Outages;
use crate::outside;
use crate::ports::Ports;
use crate::queue::{EventQueue, MAX_NODES};
use crate::slab::Slab;
use crate::threads::Threads;

/// A run under way.
pub struct Simulation {
    pub(crate) media: Media,
    pub(crate) net: Net,
    pub(crate) end: Time,
    pub(crate) now: Time,
    pub(crate) events: u64,
    pub(crate) gps: Gps,
    pub(crate) interfaces: Interfaces,
    /// Changes of wires and path losses, and orders: when they come first, where, and the events.
    first_changes: Vec<(Time, u32, Event)>,
    pub(crate) outages: Outages,
    /// Each node's battery; empty if no node has one.
    supplies: Vec<Option<Supply>>,
    /// How often GPS receivers tell nodes where they are, if these ask for it.
    fix_every: Option<Span>,
    /// When queues and caches are looked at next; [`Time::NEVER`] if nobody records their sizes.
    pub(crate) next_look: Time,
    stalls: Vec<QueueStall>,
    orders: Vec<Order>,
    losses: Vec<LossTable>,
    begun: bool,
    /// `None` in a run with one thread.
    pub(crate) threads: Option<Box<Threads>>,
}

/// Events between two looks at the user and the writer: some tens of microseconds apart each.
pub(crate) const CHECK_EVERY: u64 = 8192;
/// No GPS receiver tells its place more often, whatever a protocol asks for.
const FASTEST_GPS: Span = Span::from_millis(10);

impl Simulation {
    /// A run of `scenario` that has not begun. What happens goes to `recorder`.
    pub fn new(scenario: &Resolved, recorder: Recorder) -> Result<Self, String> {
        let number = scenario.tracks.len();
        if number > MAX_NODES {
            return Err(format!("{number} nodes are too many (at most {MAX_NODES})"));
        }
        let (mut media, (flows, sources)) = (Media::new(scenario), flows(scenario)?);
        let ports = Ports::new(scenario);
        let attackers = Attackers::new(scenario);
        let nodes = make_nodes(scenario, &ports, attackers.as_deref());
        let fix_every = nodes.kinds().filter_map(|n| n.interests().position).min();
        let tunnels = attackers.as_ref().is_some_and(|a| a.has_wormholes());
        media.listen(tunnels || nodes.kinds().any(Node::overhears), recorder.wants_frames());
        media.set_stand_ins(tunnels);
        let next_look = if recorder.wants_sizes() { Time::ZERO } else { Time::NEVER };
        let common = Common {
            watched: watched(scenario, &recorder, &mut media),
            queue: EventQueue::new(),
            stations: stations(&nodes, scenario),
            addrs: scenario.addresses.clone(),
            addrs6: addresses6(scenario).to_vec(),
            movers: Movers::new(Arc::clone(&scenario.tracks)),
            work: Workspace::new(),
            ledger: Ledger::new(flows.len()),
            flows,
            recorder,
            row_order: None,
            tx_pending: Slab::new(),
            rx_pending: Slab::new(),
            arriving: None,
            arrived: classify::read(&[]),
            read: classify::ReadPackets::new(),
            spare_receivers: Vec::new(),
            answers: VecDeque::new(),
            channels: media.channels(),
            ports,
            captures: flags(scenario.tracks.len(), scenario.captures.nodes.iter().map(|n| n.index())),
            frame: Vec::new(),
            bundles: scenario.dtn.as_ref().map(|plan| Box::new(bundle_books(plan))),
            applications: Applications::new(scenario, sources),
            streams: Streams::new(scenario.seed),
            external: None,
            watchers: None,
            inputs: None,
            attackers,
        };
        let mut net = Net { nodes, common };
        net.introduce_attackers();
        Ok(Self {
            media,
            net,
            interfaces: scenario.interfaces.clone(),
            first_changes: first_changes(scenario),
            gps: Gps::new(scenario.origin),
            outages: Outages::new(scenario),
            supplies: scenario.energy.clone(),
            fix_every,
            next_look,
            stalls: scenario.stalls.clone(),
            orders: scenario.orders.clone(),
            losses: scenario.path_losses.clone(),
            end: scenario.duration,
            now: Time::ZERO,
            events: 0,
            begun: false,
            threads: None,
        })
    }

    /// Runs to the end, or until `watch` breaks off. `watch` is called now and then with the run's time. Returns whether
    /// the end was reached; a writer that fails breaks off too.
    pub fn run(&mut self, mut watch: impl FnMut(Time) -> ControlFlow<()>) -> bool {
        self.run_until(self.end, &mut watch)
    }

    /// [`Simulation::run`], but only to `end`; it may be called again for a later one.
    // Not generic, so that the loop is compiled in this crate, for speed, whatever its callers are compiled for.
    pub fn run_until(&mut self, end: Time, watch: &mut dyn FnMut(Time) -> ControlFlow<()>) -> bool {
        self.begin_once();
        if let Some(mut threads) = self.threads.take() {
            let goes_on = self.run_with(&mut threads, end, watch);
            self.threads = Some(threads);
            return goes_on;
        }
        while let Some((at, node, event)) = self.net.common.queue.pop_until(end) {
            self.look_ahead();
            self.advance(at, node, event);
            if self.events.is_multiple_of(CHECK_EVERY) {
                self.keep_up();
                if self.net.common.recorder.failed() || watch(at).is_break() {
                    return false;
                }
            }
        }
        self.now = end;
        true
    }

    /// Writes what was recorded so far to files. Its driver calls it about once a second of the
    /// wall clock; [`Simulation::run`] does it itself.
    pub fn keep_up(&mut self) {
        let Common { flows, recorder, .. } = &mut self.net.common;
        flows.of_programs.take_new().for_each(|flow| recorder.flow_began(flow));
        recorder.keep_up(None);
    }

    /// Tells the run directory what is known before the run, in case that it is killed.
    pub fn introduce(&mut self, scenario: &Resolved, world: &str) {
        if self.net.common.recorder.wants_outcomes() {
            let mut summary = self.summary(scenario, &self.audit(|_| ()), 0.0);
            world.clone_into(&mut summary.world);
            summary.name_nodes(&scenario.names);
            self.net.common.recorder.begin(summary);
        }
    }

    /// Has the memory of events that have just come near fetched at once, instead of one after the other.
    #[inline]
    pub(crate) fn look_ahead(&mut self) {
        let Net { nodes, common } = &mut self.net;
        if let Some(near) = common.queue.come_near() {
            let applications = common.applications.as_deref();
            look_ahead(near, nodes, &self.media, applications);
        }
    }

    pub(crate) fn begin_once(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            self.begin();
        }
    }

    #[inline]
    pub(crate) fn advance(&mut self, at: Time, node: u32, event: Event) {
        debug_assert!(at >= self.now || self.net.common.row_order.is_some(), "time went back");
        if at >= self.next_look {
            self.look_until(at);
        }
        self.now = at;
        self.step(at, node, event);
        self.events += 1;
    }

    fn begin(&mut self) {
        self.record_positions();
        self.net.start_nodes();
        for node in 0..self.net.nodes.len() as u32 {
            if self.net.nodes[node as usize].interests().position.is_some() {
                self.net.common.queue.push(Time::ZERO, node, Event::Position);
            }
        }
        for (number, s) in self.stalls.iter().enumerate() {
            self.net.common.queue.push(s.from, s.node.0, Event::Stall(number as u32, true));
        }
        self.expect_outage(0);
        self.media.set_jammers(&mut self.net);
        self.media.begin(&mut self.net);
        if !self.supplies.is_empty() {
            self.media.set_supplies(&self.supplies, &mut self.net);
        }
        for &(at, node, event) in &self.first_changes {
            self.net.common.queue.push(at, node, event);
        }
        self.net.begin_applications();
        self.net.send_answers(Time::ZERO);
        self.net.begin_flows();
    }

    fn step(&mut self, at: Time, node: u32, event: Event) {
        let net = &mut self.net;
        match event {
            Event::Radio(_, RadioEvent::Battery) => self.battery(at, node),
            Event::Radio(k, e) => self.media.radio_due(at, node, k, e, net),
            Event::Wire(k, e) => self.media.wire_due(at, node, k, e, net),
            Event::Timer(engine, key) => net.timer(at, node, engine, key),
            Event::Down(stage, handle) => {
                net.frame_due(at, node, stage, handle);
                self.media.wake(at, node, net);
            }
            Event::Resolution(iface) => {
                net.call(at, node, |n, w| n.resolve_due(w, at, iface));
                self.media.wake(at, node, net);
            }
            Event::Up(handle) => net.arrive(handle),
            Event::Position => self.tell_position(at, node),
            Event::Stall(number, stalled) => self.stall(at, node, number, stalled),
            Event::Ingress(handle) => {
                net.ingress(at, node, handle);
                self.media.wake(at, node, net);
            }
            Event::Order(number) => self.order(at, number),
            Event::Loss(table, step) => self.loss(table, step),
            Event::Power(number, on) => self.power(at, node, number, on),
            Event::Streams(flow) if !net.nodes[node as usize].is_up() => {
                if let Some(until) = self.outages.down_until(node).filter(|t| *t < Time::NEVER) {
                    net.common.put_off(until, (node, flow));
                }
            }
            Event::Application(number, key) if !net.nodes[node as usize].is_up() => {
                net.common.leave_out(at, number, key);
            }
            Event::Streams(flow) => {
                net.common.streams_timer(at, (node, flow));
                net.send_answers(at);
            }
            Event::Application(number, key) => net.application_timer(at, number, key),
        }
        self.settle(at);
    }

    /// A GPS receiver tells its node where it is.
    fn tell_position(&mut self, at: Time, node: u32) {
        let net = &mut self.net;
        let fix = self.gps.fix(&net.common.movers.leg(node, at), at);
        net.call(at, node, |n, w| n.position(w, at, &fix));
        net.applications_position(at, node, &fix);
        if let Some(every) = self.fix_every {
            net.common.queue.push(at + every.max(FASTEST_GPS), node, Event::Position);
        }
    }

    /// A driver stops serving its interface queue, or goes on.
    fn stall(&mut self, at: Time, node: u32, number: u32, stalled: bool) {
        let s = self.stalls[number as usize];
        self.media.set_stalled(at, node, s.interface, stalled, &mut self.net);
        if stalled {
            self.net.common.queue.push(at + s.length, node, Event::Stall(number, false));
        } else if let Some(every) = s.every {
            self.net.common.queue.push(at - s.length + every, node, Event::Stall(number, true));
        }
    }

    /// Nodes are told to do something.
    fn order(&mut self, at: Time, number: u32) {
        let order = &self.orders[number as usize];
        // Nobody can tell a node that is down anything.
        for node in &order.nodes {
            if !self.net.nodes[node.index()].is_up() {
                continue;
            }
            let done = self.net.call(at, node.0, |n, w| n.command(w, at, 0, &order.command));
            if let Err(why) = done {
                debug_assert!(false, "scenarios only give commands that every protocol knows: {why}");
            }
        }
        if let Some(every) = order.every {
            self.net.common.queue.push(at + every, order.nodes[0].0, Event::Order(number));
        }
    }

    /// The path loss of a link changes.
    fn loss(&mut self, number: u32, step: u32) {
        let table = &self.losses[number as usize];
        let ([a, b], db) = (table.nodes, table.steps[step as usize].1);
        for (from, to) in [(a, b), (b, a)] {
            self.media.set_link(table.at, from.0, to.0, Some(LinkOverride::PathLoss(db)));
        }
        if let Some((next, _)) = table.steps.get(step as usize + 1) {
            self.net.common.queue.push(*next, a.0, Event::Loss(number, step + 1));
        }
    }

    /// Lets the radio begin its next packets, after a protocol has had the chance to take some out of the queue.
    pub(crate) fn settle(&mut self, at: Time) {
        self.media.fetch(at, &mut self.net);
    }

    /// Closes the books on every packet, and tells what became of each.
    fn audit(&self, tell: impl FnMut(PacketOutcome)) -> Audit {
        let mut census = Census::default();
        let net = &self.net;
        for n in net.nodes.active() {
            n.inspect(self.now, &mut census);
            n.held(|f| census.count(&f.packet));
        }
        self.media.count_held(net.nodes.len() as u32, &mut census);
        net.common.tx_pending.iter().for_each(|f| census.count(&f.packet));
        net.common.rx_pending.iter().for_each(|a| census.count(&a.packet));
        // Their flows' books know them already.
        census.packets += net.common.external.as_ref().map_or(0, |o| o.packets() as u64);
        let (flows, in_hosts) = (&net.common.flows, net.common.external.is_some());
        // A library may broadcast data, which nobody acknowledges.
        let is_foreign = wayhop_protocols::library(self.outages.protocol.description()).is_some();
        let lossy_air = self.media.may_lose_unnoticed() || is_foreign;
        let facts = |flow| FlowFacts {
            receivers: flows.receivers(flow),
            lossy_air: lossy_air || flows.is_to_all(flow),
            in_hosts,
        };
        Audit {
            ends: net.common.ledger.close(census.tags.iter().copied(), facts, tell),
            counted: (0..flows.len() as u32).map(|flow| flows.counts(flow)).collect(),
            in_hosts,
            buffers_in_use: net.common.work.pool.live(),
            packets_found: census.packets,
        }
    }

    /// The figures of the run so far, with `wall_s` seconds of wall time, and the recorder, to be finished with them.
    pub fn finish(mut self, scenario: &Resolved, wall_s: f64) -> (Summary, Audit, Recorder) {
        (0..self.net.nodes.len() as u32).for_each(|node| self.net.common.expire(self.now, node));
        self.write_rows(u128::MAX);
        let mut outcomes = Vec::new();
        let wanted = self.net.common.recorder.wants_outcomes();
        let audit = self.audit(|outcome| {
            if wanted {
                outcomes.push(outcome);
            }
        });
        for outcome in &outcomes {
            self.net.common.recorder.outcome(outcome);
        }
        self.look_until(self.now);
        self.record_moves();
        self.record_counters();
        self.net.common.end_applications(self.now);
        let bundles = self.net.common.bundles.take().map(|books| books.close());
        let mut summary = Summary { bundles, ..self.summary(scenario, &audit, wall_s) };
        summary.name_nodes(&scenario.names);
        (summary, audit, self.net.common.recorder)
    }

    /// Writes down every leg of every node's motion.
    fn record_positions(&mut self) {
        for (i, track) in self.net.common.movers.tracks.iter().enumerate() {
            for leg in track.legs().iter().take_while(|l| l.from <= self.end) {
                self.net.common.recorder.position(&position(i as u32, leg));
            }
        }
    }

    /// Writes down where nodes were that somebody put elsewhere.
    fn record_moves(&mut self) {
        let Common { movers, recorder, .. } = &mut self.net.common;
        for (node, leg) in movers.moved_legs() {
            recorder.position(&position(node, &leg));
        }
    }
}

/// Reads what events at nodes will need, one after the other: first what leads to the rest.
#[inline(never)]
fn look_ahead(
    events: impl Iterator<Item = (u32, Event)> + Clone,
    nodes: &Nodes,
    media: &Media,
    applications: Option<&Applications>,
) {
    let hosted = |event| match event {
        Event::Application(number, _) => applications.map(|a| &a.all[number as usize]),
        _ => None,
    };
    let touch = |(node, event)| {
        let in_application = hosted(event).is_some_and(|h| h.network.is_some());
        nodes.get(node).map_or(0, Node::touch) ^ u8::from(media.touch(node) ^ in_application)
    };
    black_box(events.clone().map(touch).fold(0, |all, read| all ^ read));
    let rest = |(node, event)| {
        nodes.get(node).map_or(0, Node::look_ahead_own) ^ hosted(event).map_or(0, Hosted::look_ahead)
    };
    black_box(events.map(rest).fold(0, |all, read| all ^ read));
}

/// When wires change, and the first steps of path losses and the first orders are due.
fn first_changes(scenario: &Resolved) -> Vec<(Time, u32, Event)> {
    let losses = (0..).zip(&scenario.path_losses);
    let losses = losses.map(|(number, l)| (l.steps[0].0, l.nodes[0].0, Event::Loss(number, 0)));
    let orders = (0..).zip(&scenario.orders);
    let orders = orders.map(|(number, o)| (o.from, o.nodes[0].0, Event::Order(number)));
    Media::wire_changes(&scenario.interfaces.wires).chain(losses).chain(orders).collect()
}

fn position(node: u32, leg: &Leg) -> PositionEvent {
    let Leg { from: time, until, start: at, velocity: [x, y, z] } = *leg;
    PositionEvent { time, until, node: NodeId(node), at, velocity: Position::new(x, y, z) }
}

/// The nodes' IPv6 addresses; none without IPv6.
fn addresses6(scenario: &Resolved) -> &[Ipv6Addr] {
    scenario.ipv6.as_ref().map_or(&[], |plan| &plan.addresses)
}

fn flows(scenario: &Resolved) -> Result<(Flows, Vec<Hosted>), String> {
    let (addrs, addrs6) = (&scenario.addresses, addresses6(scenario));
    let homes = home_addresses(scenario);
    let end = |flow: &FlowConfig, node: NodeId| match (addrs6.get(node.index()), homes.get(&node)) {
        (Some(&a), _) if flow.ip6 => Addr::from(a),
        (_, Some(&home)) => home.into(),
        _ => addrs[node.index()].into(),
    };
    Flows::new(&scenario.flows, addrs.len(), end, scenario.seed).map_err(|e| e.to_string())
}

/// The addresses by which others know mobile nodes.
fn home_addresses(scenario: &Resolved) -> FxHashMap<NodeId, Ipv4Addr> {
    let home = |a: &ApplicationPlan| Some((a.node, a.application.parameters.home_address()?));
    scenario.applications.iter().filter_map(home).collect()
}

/// Has the radios tell what becomes of the frames that somebody asks for.
fn watched(scenario: &Resolved, recorder: &Recorder, media: &mut Media) -> Watched {
    let watched = Watched::new(scenario, recorder.wants_receptions(), recorder.wants_frames());
    if let Some(watched) = &watched {
        media.watch(&watched.at_stations());
    }
    watched.unwrap_or_default()
}

/// The nodes of a run, before their start.
fn make_nodes(scenario: &Resolved, ports: &Ports, attackers: Option<&Attackers>) -> Nodes {
    let kinds = media::interfaces(&scenario.interfaces, scenario.limits);
    let protocol = Arc::new(scenario.protocol.clone());
    if are_alike(scenario) {
        let alike = Alike::new(protocol, Arc::clone(&kinds[0]), scenario.seed);
        return Nodes::alike(scenario.addresses.len(), alike);
    }
    let node = |(i, &addr)| {
        let rng = stream(scenario.seed, Purpose::Protocol, i as u64);
        let at = ports.context(i as u32, scenario.seed);
        let edge = (scenario.edge.as_ref(), at);
        let engine = outside::engine(&protocol, attackers, edge, rng);
        let mut own = ports.of(i as u32).iter().map(|&a| Arc::clone(&kinds[usize::from(ports.segment(a))]));
        let first = own.next().unwrap_or_else(|| Arc::clone(&kinds[0]));
        let mut node = Node::new(addr, engine, first);
        for config in own {
            node.add_interface(None, config);
        }
        node
    };
    let mut nodes: Vec<Node> = scenario.addresses.iter().enumerate().map(node).collect();
    configure(&mut nodes, scenario);
    Nodes::different(nodes)
}

/// Whether nodes differ in nothing but their addresses.
fn are_alike(scenario: &Resolved) -> bool {
    let has_plain_nodes = scenario.edge.is_none()
        && scenario.ipv6.is_none()
        && scenario.keys.is_none()
        && scenario.routes.is_empty()
        && scenario.attacks.is_empty();
    has_plain_nodes && scenario.interfaces.is_single() && scenario.protocol.parameters().starts_again()
}

/// Gives nodes their IPv6 addresses, static routes and keys.
fn configure(nodes: &mut [Node], scenario: &Resolved) {
    outside::set_edges(nodes, scenario);
    if let Some(plan) = &scenario.ipv6 {
        for (node, addr) in nodes.iter_mut().zip(&plan.addresses) {
            node.set_ipv6(*addr, plan.prefix_len);
        }
    }
    for (i, node) in nodes.iter_mut().enumerate() {
        let own = scenario.routes.iter().filter(|(n, _)| n.index() == i);
        node.set_static_routes(own.map(|(_, route)| *route).collect());
        if let Some(keys) = &scenario.keys {
            let rng = stream(scenario.seed, Purpose::Authentication, i as u64);
            let attack = scenario.attacks.iter().find(|a| a.node.index() == i && !a.insider);
            let auth = match attack.map(|a| a.kind) {
                None => Auth::for_protocol,
                // What it sends again has the tag with which it was heard.
                Some(AttackKind::Replay) => continue,
                Some(_) => Auth::outsider,
            };
            node.set_auth(auth(keys, scenario.protocol.description(), node.addr(), rng));
        }
    }
}

/// Which node has which address, link-local ones included.
fn stations(nodes: &Nodes, scenario: &Resolved) -> AddrMap<u32> {
    let mut stations = AddrMap::default();
    for (i, &addr) in (0..).zip(&scenario.addresses) {
        stations.insert(addr.into(), i);
        let n = &nodes[i as usize];
        if let Some(addr6) = n.addr6() {
            let local = (0..n.interfaces()).map(|k| n.link_local(IfaceId(k)));
            std::iter::once(addr6).chain(local).for_each(|a| stations.insert(a.into(), i));
        }
    }
    for (node, home) in home_addresses(scenario) {
        stations.insert(home.into(), node.0);
    }
    stations
}
