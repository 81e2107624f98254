//! A run: built from a scenario, driven event by event, closed with a summary.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, HeldPackets, Pool, Protocol, Purpose, Span, Time, TxStatus, stream};
use wayhop_radio::{FrameKind, Radio, RadioConfig};
use wayhop_trace::Recorder;
use wayhop_world::Track;

use crate::event::Event;
use crate::flows::{Flows, Quick};
use crate::ledger::{Ends, Ledger};
use crate::motion::Movers;
use crate::net::Net;
use crate::node::Node;
use crate::queue::EventQueue;
use crate::slab::Slab;

/// What a run is made of.
pub struct Setup {
    /// The seed of all random streams.
    pub seed: u64,
    /// How long it runs.
    pub duration: Span,
    /// The nodes' addresses.
    pub addrs: Vec<Addr>,
    /// The nodes' motion.
    pub tracks: Vec<Track>,
    /// Their radio.
    pub radio: RadioConfig,
    pub flows: Vec<Quick>,
}

/// A run under way.
pub struct Simulation {
    radio: Radio,
    net: Net,
    end: Time,
    now: Time,
    events: u64,
}

/// Events between two looks at the clock on the wall, the user and the writer.
const CHECK_EVERY: u64 = 8192;

impl Simulation {
    /// A run that has not begun. `protocol` makes one node's protocol.
    pub fn new(setup: Setup, protocol: &dyn Fn() -> Box<dyn Protocol>, recorder: Recorder) -> Self {
        let mut radio = Radio::new(&setup.radio, setup.addrs.len(), setup.seed);
        let node = |(i, &addr): (usize, &Addr)| {
            Node::new(addr, protocol(), stream(setup.seed, Purpose::Protocol, i as u64))
        };
        let nodes: Vec<Node> = setup.addrs.iter().enumerate().map(node).collect();
        radio.set_overhear(nodes.iter().any(|n| n.interests.overhear));
        radio.set_capturing(recorder.wants_frames());
        let rate = |k| (radio.phy().rate_mbps(k) * 10.0) as u16;
        let net = Net {
            queue: EventQueue::new(),
            stations: setup.addrs.iter().enumerate().map(|(i, &a)| (a, i as u32)).collect::<FxHashMap<_, _>>(),
            nodes,
            movers: Movers::new(setup.tracks),
            pool: Pool::new(),
            next_id: 0,
            ledger: Ledger::new(setup.flows.len()),
            flows: Flows::new(setup.flows),
            recorder,
            going: Slab::new(),
            coming: Slab::new(),
            recalls: VecDeque::new(),
            link_delay: Span::from_micros(u64::from(setup.radio.link_delay_us)),
            arp: setup.radio.arp,
            channel_mhz: setup.radio.frequency_mhz as u16,
            data_rate_100kbps: rate(FrameKind::Data),
            basic_rate_100kbps: rate(FrameKind::Broadcast),
            frame: Vec::new(),
            spare_effects: Vec::new(),
        };
        Self { radio, net, end: Time::ZERO + setup.duration, now: Time::ZERO, events: 0 }
    }

    /// Runs to the end, or until `watch`, which is called now and then with the run's time, breaks off.
    pub fn run(&mut self, mut watch: impl FnMut(Time) -> ControlFlow<()>) {
        for node in 0..self.net.nodes.len() as u32 {
            self.net.call(Time::ZERO, node, |p, cx| p.start(cx));
        }
        for f in 0..self.net.flows.list.len() {
            let at = self.net.flows.first(f);
            let src = self.net.flows.list[f].src;
            self.net.queue.push(at, src, Event::Departure(f as u32));
        }
        while let Some(at) = self.net.queue.next_time() {
            if at > self.end {
                break;
            }
            let Some((at, node, event)) = self.net.queue.pop() else { break };
            debug_assert!(at >= self.now, "time went back");
            self.now = at;
            self.step(at, node, event);
            self.events += 1;
            if self.events.is_multiple_of(CHECK_EVERY) && (self.net.recorder.failed() || watch(at).is_break()) {
                return;
            }
        }
        self.now = self.end;
    }

    fn step(&mut self, at: Time, node: u32, event: Event) {
        match event {
            Event::Radio(e) => self.radio.handle(at, node, e, &mut self.net),
            Event::Timer(key) => self.net.timer(at, node, key),
            Event::Down(handle) => {
                let out = self.net.going.take(handle);
                if let Some(out) = self.net.resolve(at, node, out) {
                    self.enqueue(at, node, out);
                }
            }
            Event::Enqueue(handle) => {
                let out = self.net.going.take(handle);
                self.enqueue(at, node, out);
            }
            Event::Up(handle) => {
                let (p, rx) = self.net.coming.take(handle);
                self.net.up(at, node, p, rx);
            }
            Event::Departure(f) => {
                let flow = &self.net.flows.list[f as usize];
                let dst = self.net.nodes[flow.dst as usize].addr;
                let src = self.net.nodes[node as usize].addr;
                let p = self.net.flows.build(f as usize, at, src, dst, &mut self.net.pool, &mut self.net.next_id);
                let next = self.net.flows.next(f as usize, at);
                self.net.queue.push(next, node, Event::Departure(f));
                self.net.originate(at, node, p);
            }
        }
        self.settle(at);
    }

    fn enqueue(&mut self, at: Time, node: u32, out: wayhop_radio::Outgoing) {
        if let Err(out) = self.radio.enqueue(at, node, out, &mut self.net) {
            self.net.failed(at, node, out, TxStatus::QueueFull);
        }
    }

    /// Gives protocols the packets they want back, and only then lets the MAC fetch its next one.
    fn settle(&mut self, at: Time) {
        while let Some((node, next_hop)) = self.net.recalls.pop_front() {
            let mut taken = Vec::new();
            self.radio.recall(node, next_hop, |out| taken.push(out));
            for out in taken {
                self.net.failed(at, node, out, TxStatus::Recalled);
            }
        }
        self.radio.fetch(at, &mut self.net);
    }

    /// Closes the books.
    pub fn ends(&self) -> Ends {
        let mut held = HeldPackets::default();
        let mut tags = Vec::new();
        for n in &self.net.nodes {
            n.protocol.inspect(self.now, &mut held);
        }
        let _ = (&held, &mut tags);
        self.net.ledger.close(tags.into_iter(), false)
    }
    pub fn print(&mut self) {
        let rx: u64 = self.net.flows.received.iter().sum();
        let d = &mut self.net.flows.delays;
        d.sort_unstable();
        let n = d.len().max(1);
        println!("received {} mean hops {:.3} mean {:.2} ms median {:.2} ms p95 {:.1} routing {} bytes {} by type {:?} events {} hash {} recv/live {}", rx, self.net.flows.hops as f64 / n as f64,
            d.iter().sum::<u64>() as f64 / n as f64 / 1e6, d[n / 2] as f64 / 1e6, d[n * 95 / 100] as f64 / 1e6,
            self.net.ledger.routing_packets, self.net.ledger.routing_bytes, self.net.ledger.messages, self.events, self.net.recorder.hash().hex(), self.net.pool.live());
        let e = self.ends();
        println!("{:?}", e.dropped.iter().zip(wayhop_core::DropReason::ALL).filter(|x| *x.0 > 0).map(|x| (x.1.name(), *x.0)).collect::<Vec<_>>());
        println!("lost {}", e.lost_track_of.len());
    }
}
