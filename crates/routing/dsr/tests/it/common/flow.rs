//! What the tests of flow state share.

use wayhop_core::Span;
use wayhop_dsr::Params;
use wayhop_testkit::{EventKind, Net, Record, addr};

use super::{Ip, addrs, at, net, option, packet, profile, reply, source_route};

pub(crate) const UDP: [u8; 12] = [0, 7, 0, 7, 0, 12, 0, 0, 1, 2, 3, 4];
pub(crate) const TIMEOUT: u8 = 128;
pub(crate) const FLOW_ID: u8 = 129;

/// Profile `rfc` with flow state.
pub(crate) fn params() -> Params {
    Params { flow_state: true, ..profile("rfc") }
}

/// Node `n` learns this route by a Route Reply to it.
pub(crate) fn teach(net: &mut Net, n: usize, route: &[usize]) {
    net.inject(n, addr(route[0]), false, &packet(&Ip::new(*route.last().unwrap(), n), &[reply(route)], &[]));
    net.run_for(Span::from_millis(1));
}

/// A chain of four with a packet every 100 ms from node 0 to node 3.
pub(crate) fn chain(p: &Params, packets: u32) -> Net {
    line(4, p, packets)
}

/// A chain of `n` with a packet every 100 ms from its first to its last node, from 1.1 s on.
pub(crate) fn line(n: usize, p: &Params, packets: u32) -> Net {
    let mut net = net(n, p);
    net.line();
    net.run_until(at(1.0));
    teach(&mut net, 0, &(1..n).collect::<Vec<_>>());
    net.send_every(at(1.1), Span::from_millis(100), packets, 0, n - 1, 1);
    net.run_until(at(1.1 + 0.1 * f64::from(packets) + 0.05));
    net
}

/// The data packets that a node sent.
pub(crate) fn data(net: &Net, n: usize) -> Vec<Vec<u8>> {
    let is_data = |r: &Record| matches!(r.what, EventKind::Sent { flow: Some(_), .. });
    net.of(n)
        .filter(|r| is_data(r))
        .filter_map(|r| match &r.what {
            EventKind::Sent { bytes, .. } => Some(bytes.clone()),
            _ => None,
        })
        .collect()
}

/// A packet that announces a flow of node 0 for 60 s along this route, as it leaves its source with a TTL of 60.
pub(crate) fn announcement(id: u8, between: &[usize], to: usize) -> Vec<u8> {
    let route = source_route(0, 0, between.len() as u8, between);
    with_flow_header(packet(&Ip::new(0, to), &[option(TIMEOUT, &[0, 60]), route], &UDP), 0, id)
}

/// A Destination and Flow ID option (7.2.2).
pub(crate) fn change(id: u8, to: usize) -> Vec<u8> {
    option(FLOW_ID, &[vec![0, id], addrs(&[to])].concat())
}

/// A UDP packet without options; with a Flow State header (Hop Count, flow) or without one.
pub(crate) fn on_flow(state: Option<(u8, u8)>, ip: &Ip) -> Vec<u8> {
    let mut p = packet(ip, &[], &UDP);
    // Without DSR header: protocol 17, four octets less.
    p.drain(20..24);
    p[9] = 17;
    p[2..4].copy_from_slice(&32u16.to_be_bytes());
    fix(&mut p);
    match state {
        Some((hops, id)) => with_flow_header(p, hops, id),
        None => p,
    }
}

/// Puts a Flow State header behind the IP header (7.1).
pub(crate) fn with_flow_header(mut p: Vec<u8>, hops: u8, id: u8) -> Vec<u8> {
    let next = p[9];
    p.splice(20..20, [next, 0x80 | hops, 0, id]);
    p[9] = 48;
    let len = p.len() as u16;
    p[2..4].copy_from_slice(&len.to_be_bytes());
    fix(&mut p);
    p
}

/// Corrects the IP header checksum.
fn fix(p: &mut [u8]) {
    p[10..12].fill(0);
    let mut sum: u32 = p[..20].chunks(2).map(|c| u32::from(u16::from_be_bytes([c[0], c[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    p[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}
