//! What the scenario tests share. Packets are written octet by octet from the figures of RFC 4728, so that the code under
//! test is not its own oracle.

pub(crate) mod flow;

use std::net::Ipv4Addr;

use wayhop_core::{DropReason, Span, Time};
use wayhop_dsr::{Engine, Params};
use wayhop_testkit::{Net, addr};

pub(crate) const RREQ: u8 = 1;
pub(crate) const RREP: u8 = 2;
pub(crate) const RERR: u8 = 3;
pub(crate) const ACK: u8 = 32;
pub(crate) const SOURCE_ROUTE: u8 = 96;
pub(crate) const ACK_REQUEST: u8 = 160;

/// `n` nodes with these parameters and no links.
pub(crate) fn net(n: usize, params: &Params) -> Net {
    Net::new(n, |_| Box::new(Engine::new(params.clone())))
}

/// `n` nodes one second after their start, on no links.
pub(crate) fn isolated(n: usize, params: &Params) -> Net {
    linked(n, params, &[])
}

/// `n` nodes on these links, one second after their start.
pub(crate) fn linked(n: usize, params: &Params, links: &[(usize, usize)]) -> Net {
    let mut net = net(n, params);
    for &(a, b) in links {
        net.up(a, b);
    }
    net.run_until(at(1.0));
    net
}

/// 0 - 1 - ... - (n - 1), one second after their start.
pub(crate) fn line_of(n: usize, params: &Params) -> Net {
    let mut net = isolated(n, params);
    net.line();
    net
}

/// `n` nodes that all hear each other, one second after their start.
pub(crate) fn full_mesh(n: usize, params: &Params) -> Net {
    let mut net = isolated(n, params);
    net.full();
    net
}

/// Nodes on links that report nothing.
pub(crate) fn unreported(n: usize, params: &Params) -> Net {
    let mut net = net(n, params);
    net.config.acknowledged = false;
    net
}

/// 0 - 1 - 2 - ... on links that report nothing; node 0 knows the way to the end, and it is 0.9 s.
pub(crate) fn unreported_line(n: usize, params: &Params) -> Net {
    let mut net = unreported(n, params);
    net.line();
    net.run_until(at(0.9));
    teach(&mut net, 0, &(1..n).collect::<Vec<_>>());
    net
}

/// The named set of parameters.
pub(crate) fn profile(name: &str) -> Params {
    Params::profile(name).expect("a known profile")
}

/// The moment `s` seconds after the start.
pub(crate) fn at(s: f64) -> Time {
    Time::from_secs_f64(s)
}

/// The octets of the addresses of these nodes.
pub(crate) fn addrs(nodes: &[usize]) -> Vec<u8> {
    nodes.iter().flat_map(|&n| addr(n).octets()).collect()
}

/// An option: type, length, data.
pub(crate) fn option(kind: u8, data: &[u8]) -> Vec<u8> {
    let mut o = vec![kind, data.len() as u8];
    o.extend_from_slice(data);
    o
}

/// A Route Request option (6.2).
pub(crate) fn request(id: u16, target: usize, passed: &[usize]) -> Vec<u8> {
    let mut d = id.to_be_bytes().to_vec();
    d.extend(addrs(&[target]));
    d.extend(addrs(passed));
    option(RREQ, &d)
}

/// A Route Reply option (6.3).
pub(crate) fn reply(route: &[usize]) -> Vec<u8> {
    let mut d = vec![0];
    d.extend(addrs(route));
    option(RREP, &d)
}

/// A Route Error option of type NODE_UNREACHABLE (6.4.1).
pub(crate) fn error(salvage: u8, from: usize, tell: usize, unreachable: usize) -> Vec<u8> {
    let mut d = vec![1, salvage];
    d.extend(addrs(&[from, tell, unreachable]));
    option(RERR, &d)
}

/// A Source Route option (6.7); `flags` are F (0x80) and L (0x40).
pub(crate) fn source_route(flags: u8, salvage: u8, left: u8, nodes: &[usize]) -> Vec<u8> {
    let mut d = vec![flags | salvage >> 2, salvage << 6 | left];
    d.extend(addrs(nodes));
    option(SOURCE_ROUTE, &d)
}

/// What an IP packet is made of.
pub(crate) struct Ip {
    pub(crate) from: Ipv4Addr,
    pub(crate) to: Ipv4Addr,
    pub(crate) ttl: u8,
    pub(crate) id: u16,
}

impl Ip {
    pub(crate) fn new(from: usize, to: usize) -> Self {
        Self { from: addr(from), to: addr(to), ttl: 60, id: 0x77 }
    }
    pub(crate) fn broadcast(from: usize, ttl: u8) -> Self {
        Self { from: addr(from), to: Ipv4Addr::BROADCAST, ttl, id: 0x78 }
    }
}

/// An IP packet with a DSR header of these options (padded to a multiple of four octets) and a payload (UDP when there is
/// any).
pub(crate) fn packet(ip: &Ip, options: &[Vec<u8>], payload: &[u8]) -> Vec<u8> {
    let mut opts = options.concat();
    match opts.len() % 4 {
        1 => opts.extend([0, 1, 0]),
        2 => opts.extend([0, 0]),
        3 => opts.push(224),
        _ => {}
    }
    let mut p = vec![0x45, 0];
    p.extend(((20 + 4 + opts.len() + payload.len()) as u16).to_be_bytes());
    p.extend(ip.id.to_be_bytes());
    p.extend([0, 0, ip.ttl, 48, 0, 0]);
    p.extend(ip.from.octets());
    p.extend(ip.to.octets());
    fix_checksum(&mut p);
    p.extend([if payload.is_empty() { 59 } else { 17 }, 0]);
    p.extend((opts.len() as u16).to_be_bytes());
    p.extend(opts);
    p.extend_from_slice(payload);
    p
}

/// The DSR options of a packet as (type, data), padding left out.
pub(crate) fn options(p: &[u8]) -> Vec<(u8, Vec<u8>)> {
    let mut out = Vec::new();
    // A Flow State header (F = 1) may stand before the options, or alone.
    let at = match (p[9], p[21] & 0x80, p[20]) {
        (48, 0, _) => 20,
        (48, _, 48) => 24,
        _ => return out,
    };
    let len = usize::from(u16::from_be_bytes([p[at + 2], p[at + 3]]));
    let mut rest = &p[at + 4..at + 4 + len];
    while let Some(&kind) = rest.first() {
        if kind == 224 {
            rest = &rest[1..];
            continue;
        }
        let n = usize::from(rest[1]);
        if kind != 0 {
            out.push((kind, rest[2..2 + n].to_vec()));
        }
        rest = &rest[2 + n..];
    }
    out
}

/// The data of the packet's first option of this type.
pub(crate) fn option_of(p: &[u8], kind: u8) -> Option<Vec<u8>> {
    options(p).into_iter().find(|o| o.0 == kind).map(|o| o.1)
}

/// The frames that node `n` sent with an option of this type: (seconds, next hop, packet).
pub(crate) fn sent_with(net: &Net, n: usize, kind: u8) -> Vec<(f64, Ipv4Addr, Vec<u8>)> {
    net.sent_by(n)
        .filter(|(_, _, p)| option_of(p, kind).is_some())
        .map(|(r, to, p)| (r.at.as_secs_f64(), to, p.to_vec()))
        .collect()
}

/// The routes in a node's cache, as node numbers, and whether a hop is External.
pub(crate) fn cached(net: &Net, n: usize) -> Vec<(Vec<usize>, bool)> {
    let number =
        |a: &str| a.rsplit('.').next().and_then(|o| o.parse::<usize>().ok()).map_or(usize::MAX, |o| o - 1);
    let cell = |row: &[(&'static str, String)], name: &str| {
        row.iter().find(|c| c.0 == name).map(|c| c.1.clone()).unwrap_or_default()
    };
    let tables = net.inspect(n);
    let route = |row: &Vec<(&'static str, String)>| {
        (cell(row, "route").split(' ').map(number).collect(), cell(row, "external") == "true")
    };
    tables.table("route_cache").map(route).collect()
}

/// The same without the flags.
pub(crate) fn routes(net: &Net, n: usize) -> Vec<Vec<usize>> {
    cached(net, n).into_iter().map(|r| r.0).collect()
}

/// A UDP datagram of four octets.
pub(crate) const UDP: [u8; 12] = [0, 7, 0, 7, 0, 12, 0, 0, 1, 2, 3, 4];

/// Node `n` learns this route by a Route Reply to it.
pub(crate) fn teach(net: &mut Net, n: usize, route: &[usize]) {
    net.inject(n, addr(route[0]), false, &packet(&Ip::new(*route.last().unwrap(), n), &[reply(route)], &[]));
    net.run_for(Span::from_millis(1));
}

/// Why packets were dropped so far.
pub(crate) fn reasons(net: &Net) -> Vec<DropReason> {
    net.drops().iter().map(|d| d.1).collect()
}

/// What node `n` handed to its local stack.
pub(crate) fn delivered_at(net: &Net, n: usize) -> Vec<Vec<u8>> {
    net.delivered_at(n).map(<[u8]>::to_vec).collect()
}

/// Recomputes the IP header checksum after a change by hand.
pub(crate) fn fix_checksum(p: &mut [u8]) {
    p[10..12].fill(0);
    let mut sum: u32 = p[..20].chunks(2).map(|c| u32::from(u16::from_be_bytes([c[0], c[1]]))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    p[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
}
