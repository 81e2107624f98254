//! Nodes under arbitrary frames, timers, links and commands, all read from bytes: the invariants
//! after each of them.
//!
//! The property tests call [`engine`] with random bytes, the fuzz target with bytes that a fuzzer found interesting.

use std::net::Ipv4Addr;

use wayhop_aodv::{Engine, LocalRepair, Params};
use wayhop_core::{BROADCAST, Command, Span};
use wayhop_testkit::{Link, Net, Octets, TestPacket, addr, data_packet};
use wayhop_wire::aodv::{Message, PORT, Rerr, Rrep, Rreq, Unreachable};
use wayhop_wire::datagram;

const NODES: usize = 4;

/// Runs the events that these bytes stand for.
pub(crate) fn engine(bytes: &[u8]) {
    let mut input = Octets(bytes);
    let Some(choice) = input.octet() else { return };
    let p = params(choice);
    let mut net = Net::new(NODES, |_| Box::new(Engine::new(p.clone())));
    net.line();
    net.run_for(Span::from_millis(1));
    while event(&mut net, &mut input).is_some() {
        net.run_for(Span::from_millis(1));
        check(&net, &p);
    }
    net.run_for(Span::from_secs(1));
    check(&net, &p);
    net.assert_conserved();
}

fn params(choice: u8) -> Params {
    let mut p = match choice % 3 {
        0 => Params::rfc(),
        1 => Params::ns2(),
        _ => Params::das(),
    };
    if choice & 0x10 != 0 {
        p.local_repair = LocalRepair::WithinTtl;
        p.rrep_ack = true;
    }
    if choice & 0x20 != 0 {
        p.max_routes = 3;
        p.max_requests_remembered = 2;
        p.buffer_packets = 2;
    }
    p.wait_after_reboot = choice & 0x40 != 0;
    p
}

/// No route to oneself, none of no hops, none over oneself; bounds kept; the host's table is the protocol's.
fn check(net: &Net, p: &Params) {
    for node in 0..NODES {
        let own = addr(node);
        let tables = net.inspect(node);
        assert!(tables.held.len() <= p.buffer_packets, "node {node} holds {}", tables.held.len());
        let mut ways = Vec::new();
        let is_subnet = |row: &Vec<(&str, String)>| row[0].1.contains('/');
        let subnets = tables.table("routes").any(is_subnet);
        let mut rows = 0;
        for row in tables.table("routes") {
            let get = |c: &str| row.iter().find(|(k, _)| *k == c).map_or("", |(_, v)| v.as_str());
            rows += 1;
            assert_ne!(get("destination"), own.to_string(), "a route to oneself");
            if get("state") != "valid" {
                continue;
            }
            assert_ne!(get("hops"), "0", "{row:?}");
            assert_ne!(get("next_hop"), own.to_string(), "{row:?}");
            let (to, bits) = get("destination").split_once('/').unwrap_or((get("destination"), "32"));
            let to: Ipv4Addr = to.parse().expect("an address");
            let bits: u32 = bits.parse().expect("a length");
            let next_hop: Ipv4Addr = get("next_hop").parse().expect("an address");
            ways.push((to, bits, next_hop));
            match net.route(node, to) {
                // The fresher news of a subnet around it decide.
                _ if subnets => {}
                Some(host) => assert_eq!(host.next_hop, next_hop, "{row:?}"),
                // Section 6.13: after a reboot nobody's packets are forwarded for a while.
                None => assert!(p.wait_after_reboot, "the host does not know {row:?}"),
            }
        }
        assert!(rows <= p.max_routes, "node {node} has {rows} entries");
        for host in net.routes(node) {
            assert_ne!(host.destination.addr, own, "a route to oneself");
            let covers = |&(to, bits, next_hop): &(Ipv4Addr, u32, Ipv4Addr)| {
                let differ = host.destination.addr.v4().expect("AODV sends to IPv4 addresses only").to_bits()
                    ^ to.to_bits();
                differ.leading_zeros() >= bits && host.next_hop == next_hop
            };
            assert!(ways.iter().any(covers), "the host has a route of its own: {host:?}, {ways:?}");
        }
    }
}

fn event(net: &mut Net, input: &mut Octets<'_>) -> Option<()> {
    let what = input.octet()?;
    let (to, from) = (usize::from(what >> 4) % NODES, input.address()?);
    match what & 0x0f {
        0 => net.inject(to, from, true, input.some()?),
        1 | 2 => {
            let broadcast = what & 0x40 != 0;
            let payload = input.some()?.to_vec();
            inject(net, to, from, broadcast, 9, &payload);
        }
        3 | 4 => {
            let m = request(input)?;
            message(net, to, from, true, &Message::Rreq(m));
        }
        5 | 6 => {
            let m = reply(input)?;
            message(net, to, from, what & 0x80 != 0, &Message::Rrep(m));
        }
        7 => {
            let n = input.octet()? % 4 + 1;
            let list: Option<Vec<_>> = (0..n).map(|_| lost(input)).collect();
            let list = list?;
            let no_delete = what & 0x80 != 0;
            let m = Message::Rerr(Rerr { no_delete, unreachable: list.as_slice().into() });
            message(net, to, from, true, &m);
        }
        8 => message(net, to, from, false, &Message::RrepAck),
        // A broadcast that nobody hears ends nowhere.
        9 | 10 if from.is_broadcast() => {}
        9 | 10 => net.send_to(to, from, 1),
        11 => {
            let t = TestPacket { source: input.address()?, destination: from, ttl: 9, ident: 3, port: 9_000 };
            net.inject(to, input.address()?, false, &data_packet(t, &[1, 2, 3]));
        }
        12 => {
            let other = usize::from(input.octet()?);
            let link = [Link::DOWN, Link::lossy(0.5), Link::UP][other / 8 % 3];
            if to != other % NODES {
                net.set_link(to, other % NODES, link);
            }
        }
        13 => net.run_for(Span::from_millis(input.octet()?.into())),
        14 => net.run_for(Span::from_millis(u64::from(input.octet()?) * 100)),
        _ => {
            let destination = (what & 0x80 != 0).then_some(from.into());
            net.command(to, &Command::PurgeRoutes { destination }).expect("AODV knows this order");
        }
    }
    Some(())
}

fn message(net: &mut Net, to: usize, from: Ipv4Addr, broadcast: bool, m: &Message<'_>) {
    let mut payload = vec![0; m.buffer_len()];
    if m.emit(&mut payload).is_ok() {
        inject(net, to, from, broadcast, 9, &payload);
    }
}

fn inject(net: &mut Net, to: usize, from: Ipv4Addr, broadcast: bool, ttl: u8, payload: &[u8]) {
    let dst = if broadcast { BROADCAST } else { addr(to) };
    net.inject(to, from, broadcast, &datagram(from, dst, PORT, ttl, payload));
}

fn request(input: &mut Octets<'_>) -> Option<Rreq> {
    let flags = input.octet()?;
    Some(Rreq {
        join: flags & 1 != 0,
        repair: flags & 2 != 0,
        gratuitous: flags & 4 != 0,
        destination_only: flags & 8 != 0,
        unknown_seq: flags & 16 != 0,
        hop_count: input.octet()?,
        id: input.octet()?.into(),
        destination: input.address()?,
        destination_seq: input.number()?,
        originator: input.address()?,
        originator_seq: input.number()?,
    })
}
fn reply(input: &mut Octets<'_>) -> Option<Rrep> {
    let flags = input.octet()?;
    let lifetime = u32::from(input.octet()?);
    Some(Rrep {
        repair: flags & 1 != 0,
        ack_required: flags & 2 != 0,
        prefix_size: flags >> 3,
        hop_count: input.octet()?,
        destination: input.address()?,
        destination_seq: input.number()?,
        originator: input.address()?,
        lifetime_ms: if lifetime == 255 { u32::MAX } else { lifetime * lifetime },
    })
}
fn lost(input: &mut Octets<'_>) -> Option<Unreachable> {
    Some(Unreachable { destination: input.address()?, seq: input.number()? })
}
