//! Replays captures of ns-3 (captures/ns3) to one node: it hears what ns-3's node heard, at the
//! same times, forwards the same packets, loses the same links, and must then have the routes that
//! RFC 3561 requires. The expected tables are derived by hand from the messages, in the comments;
//! where ns-3 differs from the RFC, the README beside the captures says so.
//!
//! ns-3 leaves IP header checksums zero; the right one is put in.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::Path;

use wayhop_aodv::{Engine, Params};
use wayhop_core::{
    Cx, DropReason, Effect, IfaceId, Interface, Mac, Packet, Pool, Protocol, Purpose, Rng, RouteUse, RxMeta,
    Time, TimerKey, TxReport, TxStatus, stream,
};
use wayhop_testkit::Tables;
use wayhop_wire::{dot11, ipv4, llc};

use crate::support::{Kind, Said, kind, secs};

/// ns-3's node `n`, counted from 1.
const fn ns3(n: u8) -> Ipv4Addr {
    Ipv4Addr::new(10, 1, 1, n)
}
/// The one whose MAC address this is: they count from 1, too.
fn owner(m: Mac) -> Ipv4Addr {
    ns3(m.0[5])
}

/// A data frame of a capture.
struct Heard {
    at: Time,
    head: dot11::Data,
    ip: Vec<u8>,
}

/// The frames with IP packets, and when they were heard, counted from the first frame.
fn capture(name: &str) -> Vec<Heard> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../captures/ns3");
    let file = std::fs::read(folder.join(name).with_extension("pcap")).expect("the capture is there");
    let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four octets"));
    let time_us = |at: usize| u64::from(word(at)) * 1_000_000 + u64::from(word(at + 4));
    let (mut at, mut frames) = (24, Vec::new());
    while at < file.len() {
        let time = Time::from_nanos((time_us(at) - time_us(24)) * 1_000);
        let bytes = &file[at + 16..at + 16 + word(at + 8) as usize];
        at += 16 + bytes.len();
        let Ok(dot11::Repr::Data(head)) = dot11::Repr::parse(bytes) else { continue };
        let payload = dot11::Frame::new_checked(bytes).expect("whole").payload().to_vec();
        if llc::Repr::parse(&payload).expect("LLC").ether_type == llc::IPV4 {
            frames.push(Heard { at: time, head, ip: with_checksum(&payload[llc::LEN..]) });
        }
    }
    frames
}

fn with_checksum(packet: &[u8]) -> Vec<u8> {
    let mut p = packet.to_vec();
    p[10..12].fill(0);
    let sum = !wayhop_wire::checksum::sum(0, &p[..20]);
    p[10..12].copy_from_slice(&sum.to_be_bytes());
    p
}

fn packet_of(cx: &mut Cx<'_>, bytes: &[u8]) -> Packet {
    let mut p = cx.alloc(bytes.len());
    p.bytes_mut().copy_from_slice(bytes);
    p
}

/// A node under test, with just enough of a host around it.
struct Node {
    engine: Engine,
    own: Ipv4Addr,
    now: Time,
    rng: Rng,
    pool: Pool,
    next_id: u64,
    timers: BTreeMap<TimerKey, Time>,
    said: Vec<Said>,
    dropped: Vec<DropReason>,
}

impl Node {
    fn new(own: Ipv4Addr) -> Self {
        let mut node = Self {
            engine: Engine::new(Params::rfc()),
            own,
            now: Time::ZERO,
            rng: stream(1, Purpose::Protocol, 0),
            pool: Pool::new(),
            next_id: 1,
            timers: BTreeMap::new(),
            said: Vec::new(),
            dropped: Vec::new(),
        };
        node.call(Protocol::start);
        node
    }

    fn call(&mut self, f: impl FnOnce(&mut Engine, &mut Cx<'_>)) {
        let mut effects = Vec::new();
        let interface = Interface { queued: 0, acknowledges: true };
        let (pool, id) = (&mut self.pool, &mut self.next_id);
        let mut cx = Cx::new(self.now, self.own, interface, &mut self.rng, pool, id, &mut effects);
        f(&mut self.engine, &mut cx);
        for e in effects {
            match e {
                Effect::Send(p, spec) => {
                    if let Some((ip, what)) = kind(p.bytes()) {
                        let at = self.now + spec.delay;
                        self.said.push(Said {
                            at,
                            next_hop: spec.next_hop.v4().expect("AODV sends to IPv4 addresses only"),
                            ip,
                            what,
                        });
                    }
                    self.pool.recycle(p);
                }
                Effect::Drop(p, why) => {
                    self.dropped.push(why);
                    self.pool.recycle(p);
                }
                Effect::Consume(p) | Effect::Deliver(p) => self.pool.recycle(p),
                Effect::SetTimer(key, at) => {
                    self.timers.insert(key, at.max(self.now));
                }
                Effect::ClearTimer(key) => {
                    self.timers.remove(&key);
                }
                _ => {}
            }
        }
    }

    /// Lets time pass.
    fn until(&mut self, end: Time) {
        while let Some((&key, &at)) = self.timers.iter().min_by_key(|(_, at)| **at).filter(|t| *t.1 <= end) {
            self.timers.remove(&key);
            self.now = at;
            self.call(|e, cx| e.on_timer(cx, key));
        }
        self.now = end;
    }

    /// Hears and does what the capture says, up to a time.
    fn replay(&mut self, frames: &[Heard], end: Time) {
        // Who gave the node the data packet that it forwards next, and how often it has sent the one at hand.
        let (mut giver, mut tries) = (None, 0);
        for f in frames.iter().filter(|f| f.at <= end) {
            if f.at < self.now {
                continue;
            }
            self.until(f.at);
            let (from, to) = (owner(f.head.transmitter), f.head.receiver);
            let packet = ipv4::Packet::new_checked(&f.ip).expect("whole");
            let is_data = packet.protocol() == ipv4::protocol::ICMP;
            if from == self.own && is_data {
                tries = if f.head.retry { tries + 1 } else { 1 };
                self.forward(f, giver.filter(|_| packet.src() != self.own), tries);
            } else if is_data {
                giver = Some(from);
            } else if from != self.own && (to == Mac::BROADCAST || owner(to) == self.own) {
                assert!(!f.head.retry, "the captures have no message to the node twice");
                let rx = RxMeta::from(from, to == Mac::BROADCAST).with_signal(-60.0);
                self.call(|e, cx| {
                    let p = packet_of(cx, &f.ip);
                    e.on_frame(cx, p, &rx);
                });
            }
            // What ns-3 said in the node's place is not heard; the tests look at what the engine says.
        }
        self.until(end);
    }

    /// The host sends a data packet to its next hop, for the `tries`th time.
    fn forward(&mut self, f: &Heard, previous_hop: Option<Ipv4Addr>, tries: u8) {
        const LAST_TRY: u8 = 7;
        let packet = ipv4::Packet::new_checked(&f.ip).expect("whole");
        let next_hop = owner(f.head.receiver);
        let (source, destination, iface) = (packet.src(), packet.dst(), IfaceId(0));
        let used = RouteUse {
            source: source.into(),
            destination: destination.into(),
            next_hop: next_hop.into(),
            iface,
            previous_hop: previous_hop.map(Into::into),
        };
        if tries == 1 {
            self.call(|e, cx| e.on_route_used(cx, &used));
        }
        if tries == LAST_TRY {
            self.call(|e, cx| {
                let p = packet_of(cx, &f.ip);
                let status = TxStatus::NoAck { tries };
                e.on_tx_status(
                    cx,
                    TxReport { id: None, next_hop: next_hop.into(), iface, status, packet: Some(p) },
                );
            });
        }
    }

    fn tables(&self) -> Tables {
        let mut t = Tables::default();
        self.engine.inspect(self.now, &mut t);
        t
    }

    /// The routing table: destination, state, next hop, hops, number; by destination.
    fn routes(&self) -> Vec<String> {
        let columns = ["destination", "state", "next_hop", "hops", "seq"];
        let value = |row: &[(&str, String)], c: &str| {
            row.iter().find(|(name, _)| *name == c).map(|(_, v)| v.clone()).expect("a column")
        };
        let tables = self.tables();
        let mut rows: Vec<String> =
            tables.table("routes").map(|r| columns.map(|c| value(r, c)).join(" ")).collect();
        rows.sort();
        rows
    }

    fn lifetime_ms(&self, to: Ipv4Addr) -> u64 {
        let t = self.tables();
        let cell = t.cell("routes", "destination", &to.to_string(), "expires_in_ms").expect("a route");
        cell.parse().expect("a number")
    }

    fn precursors(&self, to: Ipv4Addr) -> String {
        let t = self.tables();
        t.cell("routes", "destination", &to.to_string(), "precursors").expect("a route").to_owned()
    }
}

#[test]
fn the_first_node_of_ns3s_chain_learns_what_rfc_3561_says() {
    let frames = capture("ns3-chain-0");
    let mut node = Node::new(ns3(1));

    // Frame 3, 0.097 s: a Hello of 10.1.1.2, number 0. Section 6.9: a route to the neighbour, for
    // ALLOWED_HELLO_LOSS * HELLO_INTERVAL = 2 s.
    node.replay(&frames, secs(0.1));
    assert_eq!(node.routes(), ["10.1.1.2 valid 10.1.1.2 1 0"]);
    assert_eq!(node.lifetime_ms(ns3(2)), 1_997);

    // Frame 5: its own request, passed on by 10.1.1.2: ignored, no route to itself (6.5).
    // Frame 11, 0.265457 s: a reply for 10.1.1.5, number 0, hop count 3, lifetime 2826 ms, over 10.1.1.2. Section 6.7: the
    // hop count goes up; the route ends at 3.091457 s. The reply came from 10.1.1.2, whose route lives for another
    // ACTIVE_ROUTE_TIMEOUT (10 s, as this node trusts its link layer: section 10).
    node.replay(&frames, secs(0.2659));
    assert_eq!(node.routes(), ["10.1.1.2 valid 10.1.1.2 1 0", "10.1.1.5 valid 10.1.1.2 4 0"]);
    assert_eq!(node.lifetime_ms(ns3(5)), 2_825);

    // Frame 16, 0.266021 s, a ping for 10.1.1.5: using the route renews it and the next hop's (6.2).
    node.replay(&frames, secs(0.267));
    assert_eq!(node.lifetime_ms(ns3(5)), 9_999);
    assert_eq!(node.lifetime_ms(ns3(2)), 9_999);

    // Frame 57, 4.011 s: a Route Error of 10.1.1.2 for 10.1.1.3 and 10.1.1.5, both with number 0. There is no route to
    // 10.1.1.3; that to 10.1.1.5 goes over the sender and becomes invalid (6.11). ns-3 did not raise its number
    // when the link broke, and 0 may as well mean "unknown": it rises here. The hop count stays, for the next search (6.4).
    node.replay(&frames, secs(4.05));
    assert_eq!(node.routes(), ["10.1.1.2 valid 10.1.1.2 1 0", "10.1.1.5 invalid 10.1.1.2 4 1"]);

    // Until 9.454 s: Hellos of 10.1.1.2 and the node's own requests, which come back and are ignored. The invalid entry is
    // kept for DELETE_PERIOD.
    node.replay(&frames, secs(9.5));
    assert_eq!(node.routes(), ["10.1.1.2 valid 10.1.1.2 1 0", "10.1.1.5 invalid 10.1.1.2 4 1"]);

    // It sends no messages: it was asked for nothing, and has no precursors.
    assert_eq!(node.said.iter().map(|s| &s.what).collect::<Vec<_>>(), [] as [&Kind; 0]);
    assert_eq!(node.dropped, []);
}

#[test]
fn the_second_node_of_ns3s_chain_forwards_and_reports_what_rfc_3561_says() {
    let frames = capture("ns3-chain-1");
    let mut node = Node::new(ns3(2));

    // Frame 1, 0 s: a request of 10.1.1.1 itself (number 1) with TTL 1: a reverse route, and nothing to pass on (6.5).
    node.replay(&frames, secs(0.01));
    assert_eq!(node.routes(), ["10.1.1.1 valid 10.1.1.1 1 1"]);
    assert_eq!(node.said.len(), 0);

    // Frames 2 and 3: Hellos of 10.1.1.3 (number 0) and 10.1.1.1 (number 1).
    // Frame 5, 0.247 s: the request again with number 2, id 2 and TTL 3: passed on with TTL 2 and hop count 1, with U, for
    // nobody knows a number of 10.1.1.5. Frame 7 is that request from 10.1.1.3: seen before.
    node.replay(&frames, secs(0.26));
    assert_eq!(node.routes(), ["10.1.1.1 valid 10.1.1.1 1 2", "10.1.1.3 valid 10.1.1.3 1 0"]);
    let Kind::Rreq(passed) = node.said[0].what.clone() else { panic!("{:?}", node.said) };
    assert_eq!((node.said.len(), node.said[0].ip.ttl), (1, 2));
    assert_eq!((passed.id, passed.hop_count, passed.unknown_seq, passed.gratuitous), (2, 1, true, true));
    assert_eq!((passed.originator, passed.originator_seq, passed.destination), (ns3(1), 2, ns3(5)));

    // Frame 13, 0.261664 s: the reply for 10.1.1.5, number 0, hop count 2, lifetime 2826 ms, from 10.1.1.3: a route of 3
    // hops, and the reply goes on to 10.1.1.1 with hop count 3, as ns-3's frame 21 does. 10.1.1.1 is a precursor of
    // 10.1.1.5 and of 10.1.1.3 (6.7).
    node.replay(&frames, secs(0.2621));
    let known = ["10.1.1.1 valid 10.1.1.1 1 2", "10.1.1.3 valid 10.1.1.3 1 0", "10.1.1.5 valid 10.1.1.3 3 0"];
    assert_eq!(node.routes(), known);
    assert_eq!((node.precursors(ns3(5)), node.precursors(ns3(3))), ("10.1.1.1".into(), "10.1.1.1".into()));
    let Kind::Rrep(reply) = node.said[1].what.clone() else { panic!("{:?}", node.said) };
    assert_eq!((node.said[1].next_hop, reply.hop_count, reply.lifetime_ms), (ns3(1), 3, 2_826));
    assert_eq!((reply.destination, reply.destination_seq, reply.originator), (ns3(5), 0, ns3(1)));

    // Until 3.3 s pings go and answers come; each renews the routes to both ends (6.2). Frame 72, the last answer, went on
    // to 10.1.1.1 at 2.9999 s.
    node.replay(&frames, secs(3.9));
    assert_eq!(node.routes(), known);
    assert_eq!(node.lifetime_ms(ns3(5)), 9_099);

    // Frames 80 to 86: a ping for 10.1.1.5 that 10.1.1.3 does not acknowledge. Section 6.11 i: both routes over it become
    // invalid, their numbers go up by one, and the one precursor hears of both in a unicast Route Error. ns-3's frame 87 is
    // that error, with the numbers that were not raised.
    node.replay(&frames, secs(4.1));
    let broken =
        ["10.1.1.1 valid 10.1.1.1 1 2", "10.1.1.3 invalid 10.1.1.3 1 1", "10.1.1.5 invalid 10.1.1.3 3 1"];
    assert_eq!(node.routes(), broken);
    let Kind::Rerr { no_delete, mut unreachable } = node.said[2].what.clone() else {
        panic!("{:?}", node.said)
    };
    unreachable.sort_by_key(|u| u.destination);
    let lost: Vec<_> = unreachable.iter().map(|u| (u.destination, u.seq)).collect();
    assert_eq!((no_delete, lost), (false, vec![(ns3(3), 1), (ns3(5), 1)]));
    assert_eq!((node.said[2].next_hop, node.said[2].ip.ttl), (ns3(1), 1));

    // Frame 91, 5 s: 10.1.1.1 asks again, with TTL 6, number 3, and 0 for the number of 10.1.1.5. What is passed on has the
    // newer number that this node knows, 1 (6.5); ns-3's frame 92 has 0.
    node.replay(&frames, secs(5.1));
    let Kind::Rreq(passed) = node.said[3].what.clone() else { panic!("{:?}", node.said) };
    assert_eq!((node.said[3].ip.ttl, passed.hop_count, passed.unknown_seq), (5, 1, false));
    assert_eq!((passed.destination_seq, passed.originator_seq), (1, 3));

    // Two more requests, the last of number 5, and Hellos of 10.1.1.1.
    node.replay(&frames, secs(9.5));
    assert_eq!(node.routes()[0], "10.1.1.1 valid 10.1.1.1 1 5");
    assert_eq!(node.routes()[1..], broken[1..]);
    assert_eq!(node.said.len(), 6);
}

#[test]
fn the_third_node_of_ns3s_chain_acknowledges_and_forgets_what_rfc_3561_says() {
    let frames = capture("ns3-chain-2");
    let mut node = Node::new(ns3(3));

    // Frames 1 and 3: Hellos of 10.1.1.4 and 10.1.1.2, numbers 0.
    // Frame 4, 0.243 s: the request of 10.1.1.1 (number 2), hop count 1, over 10.1.1.2, TTL 2: two hops, and passed on.
    node.replay(&frames, secs(0.2537));
    let start = ["10.1.1.1 valid 10.1.1.2 2 2", "10.1.1.2 valid 10.1.1.2 1 0", "10.1.1.4 valid 10.1.1.4 1 0"];
    assert_eq!(node.routes(), start);

    // Frame 12, 0.254 s: the reply of 10.1.1.4, hop count 1, with flag A: a route of two hops; acknowledged (6.8) and
    // passed on to 10.1.1.2, as ns-3 does in frames 17 and 22.
    node.replay(&frames, secs(0.26));
    assert_eq!(node.routes()[..3], start);
    assert_eq!(node.routes()[3], "10.1.1.5 valid 10.1.1.4 2 0");
    let to_neighbours: Vec<_> = node.said[1..].iter().map(|s| (s.next_hop, s.what.clone())).collect();
    assert_eq!(to_neighbours[0], (ns3(4), Kind::Ack));
    let Kind::Rrep(reply) = to_neighbours[1].1.clone() else { panic!("{to_neighbours:?}") };
    assert_eq!((to_neighbours[1].0, reply.hop_count, reply.originator), (ns3(2), 2, ns3(1)));
    assert!(!reply.ack_required, "A asks one neighbour, and its own links acknowledge");

    // The last that is heard of 10.1.1.4 is the Hello of 3.004 s, of 10.1.1.2 that of 3.244 s.
    // After ALLOWED_HELLO_LOSS * HELLO_INTERVAL = 2 s of silence each link counts as broken (6.9):
    // first 10.1.1.4, with 10.1.1.5 behind it, whose precursor 10.1.1.2 is notified; then 10.1.1.2,
    // with 10.1.1.1 behind it. Every number goes up by one (6.11 i).
    node.replay(&frames, secs(5.15));
    let rows = node.routes();
    assert_eq!(rows[..2], start[..2]);
    assert_eq!(rows[2..], ["10.1.1.4 invalid 10.1.1.4 1 1", "10.1.1.5 invalid 10.1.1.4 2 1"]);
    let Kind::Rerr { unreachable, .. } = node.said[3].what.clone() else { panic!("{:?}", node.said) };
    assert!(unreachable.iter().any(|u| (u.destination, u.seq) == (ns3(5), 1)), "{unreachable:?}");
    assert_eq!(node.said[3].next_hop, ns3(2));
    node.replay(&frames, secs(9.8));
    let end = [
        "10.1.1.1 invalid 10.1.1.2 2 3",
        "10.1.1.2 invalid 10.1.1.2 1 1",
        "10.1.1.4 invalid 10.1.1.4 1 1",
        "10.1.1.5 invalid 10.1.1.4 2 1",
    ];
    assert_eq!(node.routes(), end);
}

#[test]
fn a_source_in_ns3s_line_of_three_searches_again_with_the_number_that_rfc_3561_says() {
    let frames = capture("ns3-bug-606-0");
    let mut node = Node::new(ns3(1));

    // Frame 3: a Hello of 10.1.1.2. Frame 10, 0.251236 s: 10.1.1.2 answers for 10.1.1.3 from its table, hop count 1, number
    // 0, lifetime 2815 ms, flag A. Frame 13, its gratuitous reply, is for 10.1.1.3. The RREP-ACK is ns-3's frame 16.
    node.replay(&frames, secs(0.2515));
    let known = ["10.1.1.2 valid 10.1.1.2 1 0", "10.1.1.3 valid 10.1.1.2 2 0"];
    assert_eq!(node.routes(), known);
    assert_eq!(node.lifetime_ms(ns3(3)), 2_814);
    let said: Vec<_> = node.said.iter().map(|s| (s.next_hop, s.ip.ttl, s.what.clone())).collect();
    assert_eq!(said, [(ns3(2), 1, Kind::Ack)]);

    // Frames 49 to 55: the ping of 3.998 s that 10.1.1.2 does not acknowledge. Both routes go, with numbers raised (6.11 i).
    // The packet is the node's own and waits; its request asks for the raised number, 1, with a TTL of the last distance
    // plus two, 4 (6.4). ns-3's frame 57 has that TTL, and the number 0.
    node.replay(&frames, secs(4.1));
    assert_eq!(node.routes(), ["10.1.1.2 invalid 10.1.1.2 1 1", "10.1.1.3 invalid 10.1.1.2 2 1"]);
    let Kind::Rreq(asked) = node.said[1].what.clone() else { panic!("{:?}", node.said) };
    assert_eq!((node.said[1].ip.ttl, asked.destination_seq, asked.unknown_seq), (4, 1, false));
    assert_eq!(node.tables().held.len(), 1);
}
