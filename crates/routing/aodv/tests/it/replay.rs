//! A run of ns-2.35, replayed through the engine: every node gets the inputs of its counterpart in
//! ns-2, and must send the same.
//!
//! The trace gives each node's input (messages and data packets that arrive, packets that the MAC gave up) and its output
//! (messages with their fields and TTL, data packets with their next hop). ns-2's message fields differ from RFC 3561's in
//! the hop count only, which starts at 1 there. The destinations of a Route Error are not all in the trace: the one that this engine's own
//! twin of the sender made is heard in its place.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use wayhop_aodv::{Engine, Params};
use wayhop_core::{
    BROADCAST, Cx, Effect, IfaceId, Interface, NodeId, Packet, PacketId, PacketMeta, Pool, Protocol, Purpose,
    Rng, RouteUse, RxMeta, Span, Time, TimerKey, TxReport, TxStatus, stream,
};
use wayhop_testkit::{TestPacket, addr, data_packet};
use wayhop_wire::aodv::{Message, Rrep, Rreq};
use wayhop_wire::{ipv4, udp};

use crate::support::{frame, reply, request};

const TRACE: &str = include_str!("../data/ns2-9-nodes.tr");
/// Data packets have ns-2's numbers; messages have larger ones.
const FIRST_MESSAGE_ID: u64 = 1_000_000;
/// Two random delays of up to 10 ms, ours and theirs.
const TOLERANCE: Span = Span::from_millis(11);

struct Node {
    engine: Engine,
    rng: Rng,
    table: BTreeMap<Ipv4Addr, Ipv4Addr>,
    timers: BTreeMap<TimerKey, Time>,
}

/// What a node said or sent: (node, text), and when.
type Said = BTreeMap<(usize, String), Vec<Time>>;

struct World {
    nodes: Vec<Node>,
    due: BTreeSet<(Time, usize, TimerKey)>,
    pool: Pool,
    next_id: u64,
    now: Time,
    ours: Said,
    errors: Vec<(Time, usize, Vec<u8>)>,
}

fn number(a: Ipv4Addr) -> u32 {
    NodeId::from_default_addr(a).map_or(u32::MAX, |n| n.0)
}

/// A message in the words that the trace allows.
fn describe(bytes: &[u8]) -> String {
    let ip = ipv4::Packet::new_checked(bytes).unwrap();
    let datagram = udp::Packet::new_checked(ip.payload()).unwrap();
    match Message::parse(datagram.payload()).unwrap() {
        Message::Rreq(m) => {
            let (d, o) = (number(m.destination), number(m.originator));
            rreq_text(ip.ttl(), m.hop_count, m.id, (d, m.destination_seq), (o, m.originator_seq))
        }
        Message::Rrep(m) => {
            let d = (number(m.destination), m.destination_seq);
            rrep_text(m.hop_count, d, number(m.originator), m.lifetime_ms / 1_000)
        }
        Message::Rerr(m) => format!("RERR of {}", m.unreachable.len()),
        Message::RrepAck => "RREP-ACK".to_owned(),
    }
}
fn rreq_text(ttl: u8, hops: u8, id: u32, to: (u32, u32), from: (u32, u32)) -> String {
    format!("RREQ ttl {ttl} hops {hops} id {id} for {to:?} by {from:?}")
}
fn rrep_text(hops: u8, of: (u32, u32), to: u32, lifetime_s: u32) -> String {
    format!("RREP hops {hops} of {of:?} to {to} for {lifetime_s} s")
}
fn data_text(id: u64, next_hop: u32) -> String {
    format!("data {id} to {next_hop}")
}

impl World {
    fn new(n: usize) -> Self {
        let node = |k| Node {
            engine: Engine::new(Params::ns2()),
            rng: stream(1, Purpose::Protocol, k),
            table: BTreeMap::new(),
            timers: BTreeMap::new(),
        };
        Self {
            nodes: (0..n as u64).map(node).collect(),
            due: BTreeSet::new(),
            pool: Pool::new(),
            next_id: FIRST_MESSAGE_ID,
            now: Time::ZERO,
            ours: Said::new(),
            errors: Vec::new(),
        }
    }

    fn say(&mut self, node: usize, text: String, at: Time) {
        self.ours.entry((node, text)).or_default().push(at);
    }

    fn call(&mut self, k: usize, f: impl FnOnce(&mut Engine, &mut Cx<'_>)) {
        let mut effects = Vec::new();
        let node = &mut self.nodes[k];
        let interface = Interface { queued: 0, acknowledges: true };
        let mut cx = Cx::new(
            self.now,
            addr(k),
            interface,
            &mut node.rng,
            &mut self.pool,
            &mut self.next_id,
            &mut effects,
        );
        f(&mut node.engine, &mut cx);
        for e in effects {
            self.apply(k, e);
        }
    }

    fn apply(&mut self, k: usize, e: Effect) {
        match e {
            Effect::Send(p, spec) => {
                let at = self.now + spec.delay;
                if p.meta.id.0 < FIRST_MESSAGE_ID {
                    self.say(
                        k,
                        data_text(
                            p.meta.id.0,
                            number(spec.next_hop.v4().expect("AODV sends to IPv4 addresses only")),
                        ),
                        at,
                    );
                } else {
                    let text = describe(p.bytes());
                    if text.starts_with("RERR") {
                        self.errors.push((at, k, p.bytes().to_vec()));
                    }
                    self.say(k, text, at);
                }
                self.pool.recycle(p);
            }
            Effect::Drop(p, _) | Effect::Consume(p) | Effect::Deliver(p) => self.pool.recycle(p),
            Effect::SetTimer(key, at) => {
                let at = at.max(self.now);
                if let Some(old) = self.nodes[k].timers.insert(key, at) {
                    self.due.remove(&(old, k, key));
                }
                self.due.insert((at, k, key));
            }
            Effect::ClearTimer(key) => {
                if let Some(old) = self.nodes[k].timers.remove(&key) {
                    self.due.remove(&(old, k, key));
                }
            }
            Effect::Install(r) => {
                self.nodes[k].table.insert(
                    r.destination.addr.v4().expect("AODV sends to IPv4 addresses only"),
                    r.next_hop.v4().expect("AODV sends to IPv4 addresses only"),
                );
            }
            Effect::Uninstall(a) => {
                self.nodes[k].table.remove(&a.addr.v4().expect("AODV sends to IPv4 addresses only"));
            }
            Effect::ReplaceRoutes(_) | Effect::Refuse(_) => panic!("AODV asks for neither"),
            Effect::Open(_) | Effect::Recall(..) | Effect::Note(_) | Effect::State(_) => {}
        }
    }

    fn advance(&mut self, to: Time) {
        while let Some(&(at, k, key)) = self.due.first().filter(|d| d.0 <= to) {
            self.due.pop_first();
            self.nodes[k].timers.remove(&key);
            self.now = at;
            self.call(k, |e, cx| e.on_timer(cx, key));
        }
        self.now = to;
    }

    fn packet(&mut self, bytes: &[u8], id: u64) -> Packet {
        self.pool.packet(bytes, PacketMeta { id: PacketId(id), flow: None, born: self.now })
    }

    fn hear(&mut self, k: usize, from: Ipv4Addr, bytes: &[u8]) {
        let p = self.packet(bytes, FIRST_MESSAGE_ID);
        let rx = RxMeta::from(from, false).with_signal(-50.0);
        self.call(k, |e, cx| e.on_frame(cx, p, &rx));
    }

    /// The host's part: the forwarding table.
    fn forward(&mut self, k: usize, line: &Line<'_>, ttl: u8, previous_hop: Option<Ipv4Addr>) {
        let (source, destination) = (addr(line.source), addr(line.destination as usize));
        if let Some(&next_hop) = self.nodes[k].table.get(&destination) {
            self.say(k, data_text(line.uid, number(next_hop)), self.now);
            let used = RouteUse {
                source: source.into(),
                destination: destination.into(),
                next_hop: next_hop.into(),
                iface: IfaceId(0),
                previous_hop: previous_hop.map(Into::into),
            };
            self.call(k, |e, cx| e.on_route_used(cx, &used));
        } else {
            let p = self.packet(&line.data(ttl), line.uid);
            self.call(k, |e, cx| e.on_outbound(cx, p));
        }
    }
}

/// A line of the trace.
struct Line<'a> {
    op: &'a str,
    at: Time,
    node: usize,
    layer: &'a str,
    why: &'a str,
    uid: u64,
    kind: &'a str,
    /// MAC destination and source.
    mac: [usize; 2],
    source: usize,
    destination: i64,
    ttl: u8,
    next_hop: u32,
    rest: Vec<&'a str>,
}

impl<'a> Line<'a> {
    fn parse(text: &'a str) -> Self {
        let is_separator = |c: char| c.is_whitespace() || c == '[' || c == ']';
        let f: Vec<&str> = text.split(is_separator).filter(|w| !w.is_empty()).collect();
        let (s, ns) = f[1].split_once('.').unwrap();
        let at = Time::from_nanos(s.parse::<u64>().unwrap() * 1_000_000_000 + ns.parse::<u64>().unwrap());
        let ip = f.iter().position(|w| *w == "-------").unwrap();
        let host = |w: &str| w.split(':').next().unwrap().parse::<i64>().unwrap();
        let mac = |w: &str| usize::from_str_radix(w, 16).unwrap();
        Self {
            op: f[0],
            at,
            node: f[2].trim_matches('_').parse().unwrap(),
            layer: f[3],
            why: f[4],
            uid: f[5].parse().unwrap(),
            kind: f[6],
            mac: [mac(f[ip - 3]), mac(f[ip - 2])],
            source: host(f[ip + 1]) as usize,
            destination: host(f[ip + 2]),
            ttl: f[ip + 3].parse().unwrap(),
            next_hop: f[ip + 4].parse().unwrap(),
            rest: f[ip + 5..].to_vec(),
        }
    }

    fn data(&self, ttl: u8) -> Vec<u8> {
        let (source, destination) = (addr(self.source), addr(self.destination as usize));
        data_packet(TestPacket { source, destination, ttl, ident: 1, port: 9_000 }, &[0; 64])
    }

    /// The `i`th number behind the IP fields.
    fn field(&self, i: usize) -> u32 {
        self.rest[i].parse().unwrap()
    }

    fn rreq(&self) -> (u8, Rreq) {
        let known = Some(self.field(4)).filter(|&s| s != 0);
        let m = request(
            self.field(2),
            addr(self.field(5) as usize),
            self.field(6),
            addr(self.field(3) as usize),
            known,
        );
        let hops = self.field(1) as u8 - 1;
        (hops, Rreq { hop_count: hops, ..m })
    }
    fn rrep(&self) -> (u32, Rrep) {
        let lifetime_s: f64 = self.rest[4].parse().unwrap();
        let hops = self.field(1) as u8 - 1;
        let m = reply(addr(self.field(2) as usize), self.field(3), hops, addr(self.destination as usize));
        (lifetime_s as u32, Rrep { lifetime_ms: (lifetime_s * 1_000.0) as u32, ..m })
    }

    fn text(&self) -> String {
        match *self.rest.last().unwrap() {
            "(REQUEST)" => {
                let (hops, m) = self.rreq();
                let to = (self.field(3), m.destination_seq);
                rreq_text(self.ttl, hops, m.id, to, (self.field(5), m.originator_seq))
            }
            "(REPLY)" => {
                let (lifetime_s, m) = self.rrep();
                let of = (self.field(2), m.destination_seq);
                rrep_text(m.hop_count, of, self.destination as u32, lifetime_s)
            }
            _ => format!("RERR of {}", self.field(1)),
        }
    }
}

#[test]
fn every_message_and_every_next_hop_is_ns2s() {
    let lines: Vec<Line<'_>> = TRACE.lines().filter(|l| !l.starts_with('#')).map(Line::parse).collect();
    let mut world = World::new(9);
    let mut theirs = Said::new();
    for line in &lines {
        world.advance(line.at);
        let k = line.node;
        let transmitter = addr(line.mac[1]);
        match (line.kind, line.op, line.layer, line.why) {
            ("AODV", "s" | "f", ..) => theirs.entry((k, line.text())).or_default().push(line.at),
            ("cbr", "s" | "f", ..) => {
                theirs.entry((k, data_text(line.uid, line.next_hop))).or_default().push(line.at);
            }
            ("AODV", "r", ..) => {
                let bytes = match *line.rest.last().unwrap() {
                    "(REQUEST)" => frame(transmitter, BROADCAST, line.ttl, &Message::Rreq(line.rreq().1)),
                    "(REPLY)" => frame(transmitter, addr(k), line.ttl, &Message::Rrep(line.rrep().1)),
                    _ => {
                        let (first, count) = (addr(line.field(2) as usize).octets(), line.field(1));
                        let is_it = |(_, from, b): &&(Time, usize, Vec<u8>)| {
                            *from == line.source
                                && u32::from(b[31]) == count
                                && b[32..].chunks(8).any(|c| c[..4] == first)
                        };
                        let said = world.errors.iter().rev().find(is_it);
                        said.expect("the sender's twin has sent this Route Error").2.clone()
                    }
                };
                world.hear(k, transmitter, &bytes);
            }
            ("cbr", "D", "MAC", "RET") => {
                let p = world.packet(&line.data(line.ttl), line.uid);
                let (next_hop, status) = (addr(line.mac[0]), TxStatus::NoAck { tries: 7 });
                let report = TxReport {
                    id: None,
                    next_hop: next_hop.into(),
                    iface: IfaceId(0),
                    status,
                    packet: Some(p),
                };
                world.call(k, |e, cx| e.on_tx_status(cx, report));
            }
            ("cbr", "r", ..) if line.source == k && line.field(1) == 0 => world.forward(k, line, 30, None),
            ("cbr", "r", ..) if line.source != k && line.destination != k as i64 => {
                world.forward(k, line, line.ttl - 1, Some(transmitter));
            }
            _ => {}
        }
    }

    let total: usize = theirs.values().map(Vec::len).sum();
    assert!(total > 500 && theirs.keys().any(|k| k.1.starts_with("RERR")), "the trace is there: {total}");
    for ((node, text), at) in &theirs {
        let empty = Vec::new();
        let mut ours = world.ours.get(&(*node, text.clone())).unwrap_or(&empty).clone();
        ours.sort_unstable();
        assert_eq!(ours.len(), at.len(), "node {node}: {text}; ns-2 at {at:?}, we at {ours:?}");
        for (a, b) in at.iter().zip(&ours) {
            let apart = a.since(*b).max(b.since(*a));
            assert!(apart <= TOLERANCE, "node {node}: {text}; ns-2 at {a}, we at {b}");
        }
    }
    for ((node, text), at) in &world.ours {
        // What we said at the very end may have come too late for the trace.
        let is_late = at.iter().all(|t| *t + TOLERANCE > lines[lines.len() - 1].at);
        assert!(
            is_late || theirs.contains_key(&(*node, text.clone())),
            "node {node}, ours only: {text} at {at:?}"
        );
    }
}
