//! Nodes under arbitrary frames, timers, links and commands, all read from bytes: the invariants
//! after each of them.
//!
//! The property tests call [`engine`] with random bytes, the fuzz target with bytes that a fuzzer found interesting.

use std::net::Ipv4Addr;

use wayhop_core::{BROADCAST, Command, Span};
use wayhop_dsdv::{Engine, Params};
use wayhop_testkit::{Link, Net, Octets, TestPacket, addr, data_packet};
use wayhop_wire::datagram;
use wayhop_wire::dsdv::{PORT, Update, UpdateEntry};

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
    let mut p = if choice & 1 == 0 { Params::rfc() } else { Params::ns2() };
    if choice & 0x10 != 0 {
        p.link_feedback ^= true;
        p.buffer_transit ^= true;
        p.trigger_with_newer ^= true;
    }
    if choice & 0x20 != 0 {
        p.max_routes = 3;
        p.buffer_packets = 2;
        p.mtu_bytes = 52;
        p.delete_period_ms = Some(45_000);
    }
    p.failure_notices = choice & 8 != 0;
    p.wait_after_reboot = choice & 0x40 != 0;
    p
}

/// No route to oneself, none of no hops, none over oneself; odd numbers for what is lost and for nothing else; bounds kept;
/// the host's table is the protocol's.
fn check(net: &Net, p: &Params) {
    for node in 0..NODES {
        let own = addr(node).to_string();
        let tables = net.inspect(node);
        assert!(tables.held.len() <= p.buffer_packets, "node {node} holds {}", tables.held.len());
        let mut valid = 0;
        let mut rows = 0;
        for row in tables.table("routes") {
            let get = |c: &str| row.iter().find(|(k, _)| *k == c).map_or("", |(_, v)| v.as_str());
            rows += 1;
            assert_ne!(get("destination"), own, "a route to oneself");
            let odd = get("seq").parse::<u32>().expect("a number") % 2 == 1;
            assert_eq!(odd, get("state") == "lost", "{row:?}");
            assert_eq!(odd, get("hops") == "250", "{row:?}");
            let host = net.route(node, get("destination").parse().expect("an address"));
            let shown = (get("next_hop").parse().expect("an address"), get("hops").to_owned());
            assert_eq!(host.map(|r| (r.next_hop, r.metric.to_string())), (!odd).then_some(shown), "{row:?}");
            assert!(get("hops") != "0" && get("next_hop") != own, "{row:?}");
            valid += usize::from(!odd);
        }
        assert!(rows <= p.max_routes, "node {node} has {rows} entries");
        assert_eq!(net.routes(node).len(), valid, "the host has a route of its own");
    }
}

fn event(net: &mut Net, input: &mut Octets<'_>) -> Option<()> {
    let what = input.octet()?;
    let (to, from) = (usize::from(what >> 4) % NODES, input.address()?);
    match what & 0x0f {
        0 => net.inject(to, from, true, input.some()?),
        1 => {
            let payload = input.some()?.to_vec();
            inject(net, to, from, &payload);
        }
        2..=8 => {
            let n = input.octet()? % 5 + 1;
            let list: Option<Vec<_>> = (0..n).map(|_| entry(input)).collect();
            let list = list?;
            let update = Update::from(&list[..]);
            let mut payload = vec![0; update.buffer_len()];
            update.emit(&mut payload).expect("there are entries");
            inject(net, to, from, &payload);
        }
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
            net.command(to, &Command::PurgeRoutes { destination }).expect("DSDV knows this order");
        }
    }
    Some(())
}

fn inject(net: &mut Net, to: usize, from: Ipv4Addr, payload: &[u8]) {
    net.inject(to, from, true, &datagram(from, BROADCAST, PORT, 1, payload));
}

fn entry(input: &mut Octets<'_>) -> Option<UpdateEntry> {
    let destination = input.address()?;
    let hops = input.octet()?;
    let hop_count = if hops == 255 { u32::MAX } else { hops.into() };
    Some(UpdateEntry { destination, hop_count, seq: input.number()? })
}
