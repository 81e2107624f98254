//! A network with keys, and an outsider who hears everything and sends anything: the network works
//! as without it.

use std::net::Ipv4Addr;
use std::sync::Arc;

use wayhop_auth::{Auth, Key, Keys};
use wayhop_core::{
    Addr, BROADCAST, Claim, Description, FlowTag, Mac, Packet, PacketMeta, Pool, Purpose, Rng, stream,
};
use wayhop_protocols::{ALL, classify, decode, find};
use wayhop_testkit::{EventKind, Net, addr, ms, secs};
use wayhop_wire::auth::{Block, Format};

const NODES: usize = 4;
/// Frames of the outsider against each protocol.
const FRAMES: usize = 1_000_000;
/// They come in bursts, every 10 ms for a minute.
const BURSTS: usize = 6_000;

/// A routing packet that was heard.
#[derive(Clone)]
struct Heard {
    from: Ipv4Addr,
    broadcast: bool,
    octets: Vec<u8>,
}

/// How the protocols carry what authenticates their packets.
fn formats() -> impl Iterator<Item = Format> {
    ALL.iter().filter_map(|d| Format::of(&d.messages))
}
fn take_block(p: &mut Packet) -> Option<Block> {
    formats().find_map(|f| f.remove(p))
}

fn keys(octet: u8) -> Keys {
    keys_with(octet, true)
}
/// With `data`, they cover DSR's packets with data, too.
fn keys_with(octet: u8, data: bool) -> Keys {
    Keys::new(vec![Key::new(1, &[octet; 32]).unwrap()], data).unwrap()
}

/// 0 - 1 - 2 - 3, with packets from each end to the other all the time.
fn network(protocol: &'static Description, keys: Option<&Keys>) -> Net {
    let parameters =
        (protocol.read)((protocol.profile)("rfc").or((protocol.profile)("ns2")).unwrap()).unwrap();
    let mut net = Net::new(NODES, |_| Arc::clone(&parameters).engine());
    for i in 0..NODES {
        let rng = stream(1, Purpose::Authentication, i as u64);
        net.node_mut(i).set_auth(keys.and_then(|k| Auth::for_protocol(k, protocol, addr(i), rng)));
    }
    net.line();
    net.send_every(secs(20.0), ms(100), 900, 0, 3, 1);
    net.send_every(secs(20.03), ms(100), 900, 3, 0, 2);
    net
}

/// The packets of flows as they leave their nodes, in each node's order: (node, flow, next hop, packet without its block).
fn decisions(net: &Net) -> Vec<Vec<(FlowTag, Addr, Vec<u8>)>> {
    let mut pool = Pool::new();
    let mut of = |node: usize| {
        let sent = net.of(node).filter_map(|r| match &r.what {
            EventKind::Sent { flow: Some(flow), next_hop, bytes, .. } => Some((*flow, *next_hop, bytes)),
            _ => None,
        });
        sent.map(|(flow, next_hop, bytes)| {
            let mut p = pool.packet(bytes, PacketMeta::default());
            take_block(&mut p);
            (flow, next_hop, p.bytes().to_vec())
        })
        .collect()
    };
    (0..NODES).map(&mut of).collect()
}

/// Where each node sends what is for each destination.
fn routes(net: &Net) -> Vec<Vec<String>> {
    let of = |n| net.routes(n).iter().map(|r| format!("{} by {}", r.destination, r.next_hop)).collect();
    (0..NODES).map(of).collect()
}

/// The routing packets so far.
fn heard(net: &Net) -> Vec<Heard> {
    let routing = net.record().iter().filter_map(|r| match &r.what {
        EventKind::Sent { bytes, next_hop, .. } => Some((r.node, bytes, *next_hop == BROADCAST)),
        _ => None,
    });
    let is_sealed = |bytes: &[u8]| formats().find_map(|f| f.find(bytes)).is_some();
    routing
        .filter(|(_, bytes, _)| classify(bytes).0.is_some() || is_sealed(bytes))
        .map(|(node, bytes, broadcast)| Heard { from: addr(node.index()), broadcast, octets: bytes.clone() })
        .collect()
}

/// What the protocol's forger makes of what it heard, without blocks: better routes, broken ones, floods.
fn forgeries(protocol: &Description, heard: &[Heard], rng: &mut Rng) -> Vec<Heard> {
    let mut forger = protocol.forger.unwrap()();
    let mut pool = Pool::new();
    let mut all = Vec::new();
    for h in heard {
        let mut p = pool.packet(&h.octets, PacketMeta::default());
        take_block(&mut p);
        forger.hear(p.bytes());
        let speaker = if rng.below(2) == 0 { addr(76) } else { addr(rng.below(4) as usize) };
        let claim = Claim { speaker, hops: 1, ahead: 1 + rng.below(1 << 20) as u32 };
        let lure = forger.lure(p.bytes(), h.from, &claim).map(|l| l.message);
        let flood = forger.flood(speaker, addr(rng.below(4) as usize), rng.bits() as u32);
        for f in lure.into_iter().chain(flood) {
            all.push(Heard { from: speaker, broadcast: f.to == Addr::BROADCAST, octets: f.packet });
        }
    }
    all
}

/// An outsider's next frame: forged, replayed or changed, a third each.
fn frame(i: usize, heard: &[Heard], forged: &[Heard], outsider: &mut Auth, rng: &mut Rng) -> Heard {
    let any = |from: &[Heard], rng: &mut Rng| from[rng.below(from.len() as u64) as usize].clone();
    match i % 3 {
        0 => any(heard, rng),
        // One whose change makes it data is left out: keys do not cover data of AODV and DSDV.
        1 => loop {
            let mut h = any(heard, rng);
            let octet = rng.below(h.octets.len() as u64) as usize;
            h.octets[octet] ^= 1 << rng.below(8);
            if outsider.concerns(&h.octets) {
                break h;
            }
        },
        _ => {
            let mut h = any(forged, rng);
            if rng.below(2) == 0 {
                let mut p: Packet = Pool::new().packet(&h.octets, PacketMeta::default());
                let to = if h.broadcast { Ipv4Addr::BROADCAST } else { addr(rng.below(4) as usize) };
                outsider.seal(&mut p, Mac::from_addr(h.from), to);
                h.octets = p.bytes().to_vec();
            }
            h
        }
    }
}

/// The networks with and without the outsider's million frames, at the same time.
fn attacked(protocol: &'static Description) {
    let (mut net, mut quiet) = (network(protocol, Some(&keys(7))), network(protocol, Some(&keys(7))));
    let mut rng = stream(5, Purpose::Host, 0);
    // The outsider has a key of its own, under the network's number, and the address of a node.
    let mut outsider = Auth::for_protocol(&keys(8), protocol, addr(76), rng.clone()).unwrap();
    net.run_until(secs(40.0));
    quiet.run_until(secs(40.0));
    let (heard, before) = (heard(&net), routes(&net));
    let forged = forgeries(protocol, &heard, &mut rng);
    let (mut sent, mut refused) = (0, 0);
    let mut delivered = net.delivered(1).len() + net.delivered(2).len();
    net.clear_record();
    quiet.clear_record();
    for burst in 0..BURSTS {
        while sent < FRAMES * (burst + 1) / BURSTS {
            let f = frame(sent, &heard, &forged, &mut outsider, &mut rng);
            net.inject(rng.below(NODES as u64) as usize, f.from, f.broadcast, &f.octets);
            sent += 1;
        }
        net.run_for(ms(10));
        quiet.run_for(ms(10));
        if burst % 100 == 99 {
            assert_eq!(routes(&net), before, "{} after {sent} frames", protocol.name);
            assert!(decisions(&net) == decisions(&quiet), "{} after {sent} frames", protocol.name);
            refused += net.drops().iter().filter(|(_, why)| why.name().starts_with("AUTH_")).count();
            delivered += net.delivered(1).len() + net.delivered(2).len();
            net.clear_record();
            quiet.clear_record();
        }
    }
    net.run_until(secs(120.0));
    delivered += net.delivered(1).len() + net.delivered(2).len();
    assert_eq!((sent, delivered), (FRAMES, 1_800), "{}", protocol.name);
    assert!(refused > FRAMES * 9 / 10, "{}: {refused}", protocol.name);
}

#[test]
fn a_million_frames_of_an_outsider_change_no_route_and_no_way_of_a_packet_of_dsr() {
    attacked(find("dsr").unwrap());
}
#[test]
fn a_million_frames_of_an_outsider_change_no_route_and_no_way_of_a_packet_of_aodv() {
    attacked(find("aodv").unwrap());
}
#[test]
fn a_million_frames_of_an_outsider_change_no_route_and_no_way_of_a_packet_of_dsdv() {
    attacked(find("dsdv").unwrap());
}

/// The same forgeries do what they are meant to where there are no keys.
#[test]
fn without_keys_a_few_of_the_same_frames_lead_packets_astray() {
    for name in ["dsr", "aodv", "dsdv"] {
        let protocol = find(name).unwrap();
        let (mut net, mut quiet) = (network(protocol, None), network(protocol, None));
        net.run_until(secs(40.0));
        quiet.run_until(secs(60.0));
        let mut rng = stream(5, Purpose::Host, 0);
        let forged = forgeries(protocol, &heard(&net), &mut rng);
        for _ in 0..200 {
            let f = &forged[rng.below(forged.len() as u64) as usize];
            net.inject(rng.below(NODES as u64) as usize, f.from, f.broadcast, &f.octets);
            net.run_for(ms(100));
        }
        let [ways, honest] = [&net, &quiet].map(|n| decisions(n).concat());
        let astray = ways.iter().filter(|way| !honest.contains(way)).count();
        assert!(astray > 0, "{name}: {astray} of {} packets", ways.len());
    }
}

/// A packet that names its whole way, from somebody without a key.
#[test]
fn a_forged_source_route_leads_a_packet_only_where_keys_do_not_cover_data() {
    const MARK: u8 = 0xa5;
    let is_marked = |bytes: &[u8]| bytes.last() == Some(&MARK);
    for covers_data in [true, false] {
        let mut net = network(find("dsr").unwrap(), Some(&keys_with(7, covers_data)));
        net.run_until(secs(40.0));
        let of_node_1 = net.of(1).find_map(|r| match &r.what {
            EventKind::Sent { flow: Some(flow), bytes, .. } if flow.flow == 1 => Some(bytes.clone()),
            _ => None,
        });
        let mut p = Pool::new().packet(&of_node_1.unwrap(), PacketMeta::default());
        take_block(&mut p);
        let mut forged = p.bytes().to_vec();
        *forged.last_mut().unwrap() = MARK;
        net.clear_record();
        net.inject(2, addr(1), false, &forged);
        net.run_for(ms(500));
        let passes = net
            .of(2)
            .any(|r| matches!(&r.what, EventKind::Sent { flow: None, bytes, .. } if is_marked(bytes)));
        assert_eq!(passes, !covers_data);
        let refused = net.drops().iter().any(|(_, why)| why.name() == "AUTH_MISSING");
        assert_eq!(refused, covers_data);
    }
}

/// Keys hide nothing: who listens reads the messages, and who signed them.
#[test]
fn who_listens_reads_what_is_sealed() {
    for name in ["dsr", "aodv", "dsdv"] {
        let mut net = network(find(name).unwrap(), Some(&keys(7)));
        net.run_until(secs(40.0));
        let (mut messages, mut exchanges) = (0, 0);
        for h in heard(&net) {
            let told = |octets: &[u8]| {
                let mut messages = decode(octets).map_or_else(Vec::new, |(_, messages)| messages);
                // The length of DSR's header counts the block.
                for m in &mut messages {
                    m.fields.remove("dsr_payload_len");
                }
                messages
            };
            let sealed = told(&h.octets);
            let mut plain = Pool::new().packet(&h.octets, PacketMeta::default());
            take_block(&mut plain);
            let (last, rest) = sealed.split_last().unwrap();
            assert_eq!(last.kind, "authentication", "{name}");
            assert_eq!(last.fields["transmitter"], h.from.to_string(), "{name}");
            if last.fields["kind"] == "exchange" {
                exchanges += 1;
            } else {
                assert_eq!(format!("{rest:?}"), format!("{:?}", told(plain.bytes())), "{name}");
                messages += rest.len();
            }
        }
        assert!(messages > 0 && exchanges > 0, "{name}: {messages} messages, {exchanges} exchanges");
    }
}
