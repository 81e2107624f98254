//! What a packet costs each protocol: built in, in C, ns-3's models, and in Python. Three nodes in a row, without radio and
//! network layer; node 0 sends packets of 540 bytes to node 2. `cargo bench -p wayhop-protocols`; needs `cc`, `python3`, and
//! ns-3's models where `make ns3` or `WAYHOP_LIBRARY_PATH` has them. Each column is the median of the batches, in
//! nanoseconds per packet, with what the engine does on the acknowledgement of its frame.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "a bench measures time")]

use std::collections::BTreeMap;
use std::env;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wayhop_core::{
    Addr, Cx, DataPlane, Effect, IfaceId, Interface, NodeContext, Packet, PacketMeta, Pool, Protocol,
    Purpose, Rng, RouteUse, RxMeta, Span, Time, TimerKey, TxReport, TxStatus, stream,
};
use wayhop_testkit::flood::{Flood, wait_in_c};

const NODES: usize = 3;
/// Packets between two looks at the clock: few enough to stay in the cache.
const BATCH: usize = 32;
/// How long each protocol is measured.
const MEASURED: Duration = Duration::from_secs(2);
/// Proactive protocols have their routes by then.
const SETTLED: Time = Time::from_nanos(90_000_000_000);
/// UDP data of 512 bytes behind its headers.
const PACKET_BYTES: usize = 540;

fn addr(node: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, node as u8 + 1)
}

struct Node {
    engine: Box<dyn Protocol>,
    rng: Rng,
    effects: Vec<Effect>,
    timers: BTreeMap<TimerKey, Time>,
    /// Of a protocol whose node forwards: whether it has installed a route.
    has_route: bool,
}

/// A frame under way: when it arrives, from whom, to whom.
struct Frame {
    at: Time,
    from: usize,
    to: usize,
    is_broadcast: bool,
    packet: Packet,
}

struct Line {
    nodes: Vec<Node>,
    pool: Pool,
    next_id: u64,
    now: Time,
    air: Vec<Frame>,
    delivered: u64,
}

impl Line {
    fn new(engine: impl Fn(NodeContext) -> Box<dyn Protocol>) -> Self {
        let node = |n: usize| Node {
            engine: engine(NodeContext { nodes: NODES as u32, node: n as u32, ..NodeContext::default() }),
            rng: stream(1, Purpose::Protocol, n as u64),
            effects: Vec::new(),
            timers: BTreeMap::new(),
            has_route: false,
        };
        let nodes = (0..NODES).map(node).collect();
        let mut line =
            Self { nodes, pool: Pool::new(), next_id: 0, now: Time::ZERO, air: Vec::new(), delivered: 0 };
        for n in 0..NODES {
            line.call(n, |engine, cx| engine.start(cx));
            let reports = line.apply(n);
            line.acknowledge(n, reports);
        }
        line
    }

    fn call<R>(&mut self, n: usize, f: impl FnOnce(&mut dyn Protocol, &mut Cx<'_>) -> R) -> R {
        let node = &mut self.nodes[n];
        let interface = Interface { queued: 0, acknowledges: true };
        let (rng, effects) = (&mut node.rng, &mut node.effects);
        let mut cx = Cx::new(self.now, addr(n), interface, rng, &mut self.pool, &mut self.next_id, effects);
        f(&mut *node.engine, &mut cx)
    }

    /// Carries out what a node asked for. Returns the reports that it wants of frames, all of which arrive.
    fn apply(&mut self, n: usize) -> Vec<TxReport> {
        let mut reports = Vec::new();
        let mut effects = std::mem::take(&mut self.nodes[n].effects);
        for effect in effects.drain(..) {
            let node = &mut self.nodes[n];
            match effect {
                Effect::Send(packet, spec) => {
                    let is_broadcast = spec.next_hop == Addr::BROADCAST;
                    let status = if is_broadcast { TxStatus::Unknown } else { TxStatus::Acked };
                    let report = |id| TxReport {
                        id: Some(id),
                        next_hop: spec.next_hop,
                        iface: IfaceId(0),
                        status,
                        packet: None,
                    };
                    reports.extend(spec.report.map(report));
                    let at = self.now + spec.delay;
                    for to in (0..NODES).filter(|to| to.abs_diff(n) == 1) {
                        if is_broadcast || Addr::from(addr(to)) == spec.next_hop {
                            let packet = self.pool.copy(&packet);
                            self.air.push(Frame { at, from: n, to, is_broadcast, packet });
                        }
                    }
                    self.pool.recycle(packet);
                }
                Effect::Deliver(packet) => {
                    self.delivered += 1;
                    self.pool.recycle(packet);
                }
                Effect::Drop(packet, _) | Effect::Consume(packet) => self.pool.recycle(packet),
                Effect::SetTimer(key, at) => drop(node.timers.insert(key, at)),
                Effect::ClearTimer(key) => drop(node.timers.remove(&key)),
                Effect::Install(_) => node.has_route = true,
                Effect::ReplaceRoutes(all) => node.has_route = !all.is_empty(),
                _ => {}
            }
        }
        self.nodes[n].effects = effects;
        reports
    }

    fn acknowledge(&mut self, n: usize, reports: Vec<TxReport>) {
        for report in reports {
            self.call(n, |engine, cx| engine.on_tx_status(cx, report));
        }
        self.apply(n);
    }

    /// Frames arrive and timers fire, in order, until `end`.
    fn run_until(&mut self, end: Time) {
        loop {
            let frame = (0..self.air.len()).min_by_key(|i| self.air[*i].at);
            let frame = frame.map(|i| (self.air[i].at, i));
            let timers = self.nodes.iter().enumerate();
            let timer =
                timers.flat_map(|(n, node)| node.timers.iter().map(move |(k, at)| (*at, n, *k))).min();
            let due = frame.map(|f| f.0).into_iter().chain(timer.map(|t| t.0)).min();
            let Some(at) = due.filter(|at| *at <= end) else { break };
            self.now = self.now.max(at);
            let n = match (frame, timer) {
                (Some((arrives, i)), _) if arrives == at => {
                    let Frame { from, to, is_broadcast, packet, .. } = self.air.swap_remove(i);
                    let rx = RxMeta::from(addr(from), is_broadcast);
                    self.call(to, |engine, cx| engine.on_frame(cx, packet, &rx));
                    to
                }
                (_, Some((_, n, key))) => {
                    self.nodes[n].timers.remove(&key);
                    self.call(n, |engine, cx| engine.on_timer(cx, key));
                    n
                }
                _ => break,
            };
            let reports = self.apply(n);
            self.acknowledge(n, reports);
        }
        self.now = end;
    }

    fn packet(&mut self, number: u16) -> Packet {
        let mut octets = [0; PACKET_BYTES];
        octets[0] = 0x45;
        octets[2..4].copy_from_slice(&(PACKET_BYTES as u16).to_be_bytes());
        octets[4..6].copy_from_slice(&number.to_be_bytes());
        (octets[8], octets[9]) = (64, 17);
        octets[12..16].copy_from_slice(&addr(0).octets());
        octets[16..20].copy_from_slice(&addr(2).octets());
        octets[20..24].copy_from_slice(&[0, 9, 0, 9]);
        octets[24..26].copy_from_slice(&(PACKET_BYTES as u16 - 20).to_be_bytes());
        let sum = octets[..20].chunks(2).fold(0_u32, |s, w| s + u32::from(u16::from_be_bytes([w[0], w[1]])));
        let sum = (sum & 0xffff) + (sum >> 16);
        octets[10..12].copy_from_slice(&(!(sum + (sum >> 16)) as u16).to_be_bytes());
        self.next_id += 1;
        self.pool.packet(&octets, PacketMeta::default())
    }

    /// Nanoseconds per packet of a stage at a node, for these packets. Returns what it sends to the next node.
    fn stage(&mut self, n: usize, packets: Vec<Packet>) -> (f64, Vec<Packet>) {
        let count = packets.len().max(1) as f64;
        let is_per_packet = self.nodes[n].engine.data_plane() == DataPlane::PerPacket;
        let mut next = Vec::new();
        let begun = Instant::now();
        if is_per_packet {
            for p in packets {
                if n == 0 {
                    self.call(n, |engine, cx| engine.on_outbound(cx, p));
                } else {
                    let rx = RxMeta::from(addr(n - 1), false);
                    self.call(n, |engine, cx| engine.on_frame(cx, p, &rx));
                }
            }
        } else {
            // The node forwards, and the engine hears of it.
            let interests = self.nodes[n].engine.interests();
            let used = RouteUse {
                source: addr(0).into(),
                destination: addr(2).into(),
                next_hop: addr((n + 1).min(2)).into(),
                iface: IfaceId(0),
                previous_hop: n.checked_sub(1).map(|n| addr(n).into()),
            };
            if interests.route_used && (n < 2 || interests.arrivals) {
                for _ in &packets {
                    self.call(n, |engine, cx| engine.on_route_used(cx, &used));
                }
            }
            next = packets;
        }
        let handled = begun.elapsed();
        let others = self.air.len();
        let reports = self.apply(n);
        let begun = Instant::now();
        for report in reports {
            self.call(n, |engine, cx| engine.on_tx_status(cx, report));
        }
        let acknowledged = begun.elapsed();
        self.apply(n);
        if is_per_packet {
            for frame in self.air.split_off(others) {
                if frame.to == n + 1 {
                    next.push(frame.packet);
                } else {
                    self.pool.recycle(frame.packet);
                }
            }
        } else if n == 2 && self.nodes[0].has_route {
            self.delivered += next.len() as u64;
        }
        ((handled + acknowledged).as_nanos() as f64 / count, next)
    }

    /// Nanoseconds per packet to send, forward and deliver it.
    fn measure(&mut self) -> Option<[f64; 3]> {
        self.run_until(SETTLED);
        let first = self.packet(0);
        self.call(0, |engine, cx| engine.on_outbound(cx, first));
        let reports = self.apply(0);
        self.acknowledge(0, reports);
        self.run_until(SETTLED + Span::from_secs(2));
        let begun = Instant::now();
        let mut all = [const { Vec::new() }; 3];
        let (mut sent, before) = (0_u64, self.delivered);
        while begun.elapsed() < MEASURED || all[0].len() < 9 {
            let mut packets: Vec<Packet> =
                (0..BATCH).map(|i| self.packet((sent as usize + i) as u16)).collect();
            sent += BATCH as u64;
            for (n, times) in all.iter_mut().enumerate() {
                let (each, next) = self.stage(n, packets);
                times.push(each);
                packets = next;
            }
            for p in packets {
                self.pool.recycle(p);
            }
            let at = self.now + Span::from_millis(BATCH as u64);
            self.run_until(at);
        }
        // Without a route there is nothing to measure.
        (self.delivered - before >= sent * 9 / 10).then(|| all.map(median))
    }
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    all[all.len() / 2]
}

fn library(folder: &Path) -> PathBuf {
    let (examples, out) = (root().join("examples/c"), folder.join("libflood.so"));
    let status = Command::new("cc")
        .args(["-std=c99", "-O2", "-shared", "-fPIC", "-o"])
        .arg(&out)
        .arg(examples.join("flood.c"))
        .arg("-I")
        .arg(root().join("crates/routing/foreign/include"))
        .status()
        .expect("a C compiler");
    assert!(status.success());
    out
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// The library of a model of ns-3, if it was built.
fn ns3(model: &str) -> Option<PathBuf> {
    let file = format!("libwayhop-ns3-{model}.so");
    let named = env::var_os("WAYHOP_LIBRARY_PATH").unwrap_or_default();
    let folders = env::split_paths(&named).chain([root().join("target/ns3")]);
    folders.map(|f| f.join(&file)).find(|f| f.is_file())
}

fn main() {
    let folder = env::temp_dir().join(format!("wayhop-packet-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a directory");
    println!("{:12} {:>9} {:>9} {:>9}   ns per packet", "", "send", "forward", "deliver");
    let show = |name: &str, measured: Option<[f64; 3]>| match measured {
        Some([send, forward, deliver]) => println!("{name:12} {send:9.0} {forward:9.0} {deliver:9.0}"),
        None => println!("{name:12} packets were lost"),
    };
    show("flood, Rust", Line::new(|_| Box::new(Flood::new(wait_in_c))).measure());
    let of = |name: &str, d: &'static wayhop_core::Description| {
        let profile = d.profiles.first().map_or("", |p| p.name);
        let parameters = (d.read)((d.profile)(profile).unwrap_or_default()).expect("defaults");
        show(name, Line::new(|at| Arc::clone(&parameters).engine_at(at)).measure());
    };
    let load = |path: &Path| wayhop_protocols::load(path).expect("a protocol");
    of("flood, C", load(&library(&folder)));
    of("flood, Py", load(&root().join("examples/python/flooding.py").canonicalize().expect("the example")));
    for name in ["dsr", "aodv", "dsdv"] {
        of(name, wayhop_protocols::find(name).expect("it is built in"));
    }
    for model in ["aodv", "olsr", "dsdv"] {
        match ns3(model) {
            Some(path) => of(&format!("ns3:{model}"), load(&path)),
            None => println!("ns3:{model:8} not built: make ns3"),
        }
    }
    std::fs::remove_dir_all(&folder).expect("the bench's own directory");
}
