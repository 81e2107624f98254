//! What the tests of flow state share.

use wayhop_core::Span;
use wayhop_dsr::Params;
use wayhop_testkit::{EventKind, Net, Record};

use super::{Ip, UDP, addrs, at, fix_checksum, line_of, option, packet, profile, source_route, teach};

pub(crate) const TIMEOUT: u8 = 128;
pub(crate) const FLOW_ID: u8 = 129;

/// Profile `rfc` with flow state.
pub(crate) fn params() -> Params {
    Params { flow_state: true, ..profile("rfc") }
}

/// A chain of four with a packet every 100 ms from node 0 to node 3.
pub(crate) fn chain(p: &Params, packets: u32) -> Net {
    line(4, p, packets)
}

/// A chain of `n` with a packet every 100 ms from its first to its last node, from 1.1 s on.
pub(crate) fn line(n: usize, p: &Params, packets: u32) -> Net {
    let mut net = line_of(n, p);
    teach(&mut net, 0, &(1..n).collect::<Vec<_>>());
    net.send_every(at(1.1), Span::from_millis(100), packets, 0, n - 1, 1);
    net.run_until(at(1.1 + 0.1 * f64::from(packets) + 0.05));
    net
}

/// The data packets that a node sent.
pub(crate) fn data(net: &Net, n: usize) -> Vec<Vec<u8>> {
    let sent = |r: &Record| match &r.what {
        EventKind::Sent { flow: Some(_), bytes, .. } => Some(bytes.clone()),
        _ => None,
    };
    net.of(n).filter_map(sent).collect()
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
    fix_checksum(&mut p);
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
    fix_checksum(&mut p);
    p
}
