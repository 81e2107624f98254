//! A run: built from a scenario, driven event by event, closed with a summary.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use rustc_hash::FxHashMap;
use wayhop_core::{Interface, NodeId, Pool, Position, Purpose, Span, Time, TxStatus, stream};
use wayhop_radio::{FrameKind, Outgoing, Radio};
use wayhop_scenario::{Order, QueueStall, Resolved};
use wayhop_trace::{PositionEvent, Recorder, Summary};
use wayhop_world::Gps;

use crate::audit::{Audit, Census};
use crate::event::Event;
use crate::flows::Flows;
use crate::ledger::Ledger;
use crate::motion::Movers;
use crate::net::Net;
use crate::node::Node;
use crate::queue::{EventQueue, MAX_NODES};
use crate::slab::Slab;
use crate::summary;

/// A run under way.
pub struct Simulation {
    pub(crate) radio: Radio,
    pub(crate) net: Net,
    pub(crate) end: Time,
    pub(crate) now: Time,
    pub(crate) events: u64,
    pub(crate) gps: Gps,
    stalls: Vec<QueueStall>,
    orders: Vec<Order>,
    begun: bool,
    /// For the packets that one recall takes out, for reuse.
    recalled: Vec<Outgoing>,
}

/// Events between two looks at the user and the writer: some tens of microseconds apart each.
const CHECK_EVERY: u64 = 8192;
/// No GPS receiver tells its place more often, whatever a protocol asks for.
const FASTEST_GPS: Span = Span::from_millis(10);

impl Simulation {
    /// A run of `scenario` that has not begun. What happens goes to `recorder`.
    pub fn new(scenario: &Resolved, recorder: Recorder) -> Result<Self, String> {
        let nodes = scenario.tracks.len();
        if nodes > MAX_NODES {
            return Err(format!("{nodes} nodes are more than the simulator can number ({MAX_NODES})"));
        }
        let mut radio = Radio::new(&scenario.radio, nodes, scenario.seed);
        for (node, card) in &scenario.cards {
            radio.set_card(node.0, *card);
        }
        let addrs = &scenario.addresses;
        let flows = Flows::new(&scenario.flows, addrs, scenario.seed).map_err(|e| e.to_string())?;
        let node = |(i, &addr)| {
            let rng = stream(scenario.seed, Purpose::Protocol, i as u64);
            let interface = Interface { queued: 0, acknowledges: scenario.radio.acknowledge };
            Node::new(addr, scenario.protocol.engine(), interface, rng)
        };
        let nodes: Vec<Node> = addrs.iter().enumerate().map(node).collect();
        radio.set_overhear(nodes.iter().any(|n| n.interests.overhear));
        radio.set_capturing(recorder.wants_frames());
        let rate = |k| (radio.phy().rate_mbps(k) * 10.0) as u16;
        let mut captures = vec![false; nodes.len()];
        scenario.captures.nodes.iter().for_each(|n| captures[n.index()] = true);
        let net = Net {
            queue: EventQueue::new(),
            stations: addrs.iter().enumerate().map(|(i, &a)| (a, i as u32)).collect::<FxHashMap<_, _>>(),
            nodes,
            movers: Movers::new(scenario.tracks.clone()),
            pool: Pool::new(),
            next_id: 0,
            ledger: Ledger::new(flows.len()),
            flows,
            recorder,
            going: Slab::new(),
            coming: Slab::new(),
            arriving: None,
            spare_receivers: Vec::new(),
            recalls: VecDeque::new(),
            link_delay: Span::from_micros(u64::from(scenario.radio.link_delay_us)),
            arp: scenario.radio.arp,
            channel_mhz: scenario.radio.frequency_mhz as u16,
            data_rate_100kbps: rate(FrameKind::Data),
            basic_rate_100kbps: rate(FrameKind::Broadcast),
            captures,
            frame: Vec::new(),
            spare_effects: Vec::new(),
            tcp_spare: crate::tcp::Spare::default(),
            outside: None,
        };
        Ok(Self {
            radio,
            net,
            gps: Gps::new(scenario.origin),
            stalls: scenario.stalls.clone(),
            orders: scenario.orders.clone(),
            end: scenario.duration,
            now: Time::ZERO,
            events: 0,
            begun: false,
            recalled: Vec::new(),
        })
    }

    /// Runs to the end, or until `watch` breaks off. `watch` is called now and then with the run's time. Returns whether
    /// the end was reached; a writer that fails breaks off too.
    pub fn run(&mut self, watch: impl FnMut(Time) -> ControlFlow<()>) -> bool {
        self.run_until(self.end, watch)
    }

    /// [`Simulation::run`], but only to `end`; it may be called again for a later one.
    pub fn run_until(&mut self, end: Time, mut watch: impl FnMut(Time) -> ControlFlow<()>) -> bool {
        self.begin_once();
        while let Some((at, node, event)) = self.net.queue.pop_until(end) {
            self.advance(at, node, event);
            if self.events.is_multiple_of(CHECK_EVERY) && (self.net.recorder.failed() || watch(at).is_break())
            {
                return false;
            }
        }
        self.now = end;
        true
    }

    pub(crate) fn begin_once(&mut self) {
        if !std::mem::replace(&mut self.begun, true) {
            self.begin();
        }
    }

    pub(crate) fn advance(&mut self, at: Time, node: u32, event: Event) {
        debug_assert!(at >= self.now, "time went back");
        self.now = at;
        self.step(at, node, event);
        self.events += 1;
    }

    fn begin(&mut self) {
        self.record_positions();
        for node in 0..self.net.nodes.len() as u32 {
            self.net.call(Time::ZERO, node, |p, cx| p.start(cx));
        }
        for node in 0..self.net.nodes.len() as u32 {
            if self.net.nodes[node as usize].interests.position.is_some() {
                self.net.queue.push(Time::ZERO, node, Event::Position);
            }
        }
        for (number, s) in self.stalls.iter().enumerate() {
            self.net.queue.push(s.from, s.node.0, Event::Stall(number as u32, true));
        }
        for (number, order) in self.orders.iter().enumerate() {
            self.net.queue.push(order.from, order.nodes[0].0, Event::Order(number as u32));
        }
        for flow in 0..self.net.flows.len() as u32 {
            if let Some(at) = self.net.flows.first_departure(flow) {
                self.net.queue.push(at, self.net.flows.source_node(flow), Event::Departure(flow));
            }
        }
    }

    fn step(&mut self, at: Time, node: u32, event: Event) {
        let net = &mut self.net;
        match event {
            Event::Radio(e) => {
                self.radio.handle(at, node, e, net);
                net.lift();
            }
            Event::Timer(key) => net.timer(at, node, key),
            Event::Down(handle) => {
                let out = net.going.take(handle);
                if let Some(out) = net.resolve(at, node, out) {
                    self.enqueue(at, node, out);
                }
            }
            Event::Enqueue(handle) => {
                let out = net.going.take(handle);
                self.enqueue(at, node, out);
            }
            Event::Up(handle) => net.arrive(handle),
            Event::Position => self.tell_position(at, node),
            Event::Stall(number, stalled) => self.stall(at, node, number, stalled),
            Event::Enter(handle) => net.entered(at, node, handle),
            Event::Order(number) => self.order(at, number),
            Event::Tcp(flow, end) => net.tcp_timer(at, flow, end),
            Event::Departure(flow) if net.flows.is_tcp(flow) => net.tcp_start(at, flow),
            Event::Departure(flow) => {
                let (p, next) = net.flows.depart(at, flow, &mut net.pool, &mut net.next_id);
                if let Some(next) = next {
                    net.queue.push(next, node, Event::Departure(flow));
                }
                match &mut net.outside {
                    Some(outside) => outside.send(at, node, p),
                    None => net.start(at, node, p),
                }
            }
        }
        self.settle(at);
    }

    /// A GPS receiver tells its node where it is.
    fn tell_position(&mut self, at: Time, node: u32) {
        let net = &mut self.net;
        let fix = self.gps.fix(&net.movers.leg(node, at), at);
        net.call(at, node, |p, cx| p.on_position(cx, &fix));
        if let Some(every) = net.nodes[node as usize].interests.position {
            net.queue.push(at + every.max(FASTEST_GPS), node, Event::Position);
        }
    }

    /// A driver stops serving its interface queue, or goes on.
    fn stall(&mut self, at: Time, node: u32, number: u32, stalled: bool) {
        self.radio.set_stalled(at, node, stalled, &mut self.net);
        let s = self.stalls[number as usize];
        if stalled {
            self.net.queue.push(at + s.length, node, Event::Stall(number, false));
        } else if let Some(every) = s.every {
            self.net.queue.push(at - s.length + every, node, Event::Stall(number, true));
        }
    }

    /// Nodes are told to do something.
    fn order(&mut self, at: Time, number: u32) {
        let order = &self.orders[number as usize];
        for node in &order.nodes {
            self.net.call(at, node.0, |p, cx| {
                if let Err(why) = p.on_command(cx, &order.command) {
                    debug_assert!(false, "scenarios give only orders that every protocol knows: {why}");
                }
            });
        }
        if let Some(every) = order.every {
            self.net.queue.push(at + every, order.nodes[0].0, Event::Order(number));
        }
    }

    fn enqueue(&mut self, at: Time, node: u32, out: Outgoing) {
        if let Err(out) = self.radio.enqueue(at, node, out, &mut self.net) {
            self.net.failed(at, node, out, TxStatus::QueueFull);
        }
    }

    /// Gives protocols the packets that they want back, and only then lets the MAC fetch its next one.
    pub(crate) fn settle(&mut self, at: Time) {
        while let Some((node, next_hop)) = self.net.recalls.pop_front() {
            let mut taken = std::mem::take(&mut self.recalled);
            self.radio.recall(node, next_hop, |out| taken.push(out), &mut self.net);
            for out in taken.drain(..) {
                self.net.failed(at, node, out, TxStatus::Recalled);
            }
            self.recalled = taken;
        }
        self.radio.fetch(at, &mut self.net);
    }

    /// Closes the books on every packet.
    pub fn audit(&self) -> Audit {
        let mut census = Census::default();
        let net = &self.net;
        for (i, n) in net.nodes.iter().enumerate() {
            n.protocol.inspect(self.now, &mut census);
            let queued = self.radio.held(i as u32).chain(n.arp.held());
            queued.for_each(|out| census.count(&out.packet));
        }
        net.going.iter().for_each(|out| census.count(&out.packet));
        net.coming.iter().for_each(|a| census.count(&a.packet));
        // Their flows' books know them already.
        census.packets +=
            net.outside.as_ref().map_or(0, |o| (o.leaving.len() + o.entering.iter().count()) as u64);
        let lossy_air = !self.radio.config().acknowledge;
        Audit {
            ends: net
                .ledger
                .close(census.tags.iter().copied(), |flow| lossy_air || net.flows.is_to_all(flow)),
            buffers_in_use: net.pool.live(),
            packets_found: census.packets,
        }
    }

    /// The figures of the run so far, with `wall_s` seconds of wall time, and the recorder, to be finished with them.
    pub fn finish(mut self, scenario: &Resolved, wall_s: f64) -> (Summary, Audit, Recorder) {
        let audit = self.audit();
        summary::record_counters(&mut self);
        let summary = summary::build(&self, scenario, &audit, wall_s);
        (summary, audit, self.net.recorder)
    }

    /// Writes down every leg of every node's motion.
    fn record_positions(&mut self) {
        for (i, track) in self.net.movers.tracks().iter().enumerate() {
            for leg in track.legs().iter().take_while(|l| l.from <= self.end) {
                let [x, y, z] = leg.velocity;
                self.net.recorder.position(&PositionEvent {
                    time: leg.from,
                    until: leg.until,
                    node: NodeId(i as u32),
                    at: leg.start,
                    velocity: Position::new(x, y, z),
                });
            }
        }
    }
}
