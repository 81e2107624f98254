//! Nets of DSDV nodes, and their messages.

use std::net::Ipv4Addr;

use wayhop_core::{BROADCAST, Time};
use wayhop_dsdv::{Engine, Params};
use wayhop_testkit::{Net, among_mutes};
pub(crate) use wayhop_testkit::{held, ms, own_seq, route, secs};
use wayhop_wire::dsdv::{PORT, Update, UpdateEntry};
use wayhop_wire::{ipv4, udp};

/// The profile without random times: full updates at 0 s, 15 s, 30 s, ...
pub(crate) fn regular(p: &Params) -> Params {
    Params { start_jitter_ms: 0, periodic_jitter_ms: 0, broadcast_jitter_ms: 0, ..p.clone() }
}

/// `n` unconnected nodes with these parameters.
pub(crate) fn net(n: usize, params: &Params) -> Net {
    Net::new(n, |_| Box::new(Engine::new(params.clone())))
}
/// `n` nodes in a line.
pub(crate) fn line(n: usize, params: &Params) -> Net {
    let mut net = net(n, params);
    net.line();
    net
}

/// An update that a node sent.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) at: Time,
    pub(crate) ip: ipv4::Repr,
    /// As (destination, hop count, number), in order.
    pub(crate) entries: Vec<(Ipv4Addr, u32, u32)>,
}

/// The updates that a node sent, in order.
pub(crate) fn said(net: &Net, node: usize) -> Vec<Said> {
    let update = |bytes: &[u8]| {
        let ip = ipv4::Packet::new_checked(bytes).ok()?;
        let datagram = udp::Packet::new_checked(ip.payload()).ok()?;
        let update = Update::parse(datagram.payload()).ok().filter(|_| datagram.dst_port() == PORT)?;
        let entries = update.iter().map(|e| (e.destination, e.hop_count, e.seq)).collect();
        Some((ipv4::Repr::parse(bytes).ok()?, entries))
    };
    let of = net.sent_by(node).filter_map(|(r, _, bytes)| update(bytes).map(|(ip, e)| (r.at, ip, e)));
    of.map(|(at, ip, entries)| Said { at, ip, entries }).collect()
}
/// Those since a time.
pub(crate) fn said_since(net: &Net, node: usize, from: Time) -> Vec<Said> {
    said(net, node).into_iter().filter(|s| s.at >= from).collect()
}

/// An update as a neighbour would put it on the air.
pub(crate) fn frame(from: Ipv4Addr, entries: &[(Ipv4Addr, u32, u32)]) -> Vec<u8> {
    let entries: Vec<UpdateEntry> = entries
        .iter()
        .map(|&(destination, hop_count, seq)| UpdateEntry { destination, hop_count, seq })
        .collect();
    let update = Update::from(&entries[..]);
    let mut payload = vec![0; update.buffer_len()];
    update.emit(&mut payload).expect("there are entries");
    datagram(from, &payload)
}
/// A datagram of DSDV's port.
pub(crate) fn datagram(from: Ipv4Addr, payload: &[u8]) -> Vec<u8> {
    wayhop_wire::datagram(from, BROADCAST, PORT, 1, payload)
}
/// Lets `node` hear an update from `from`.
pub(crate) fn hear(net: &mut Net, node: usize, from: Ipv4Addr, entries: &[(Ipv4Addr, u32, u32)]) {
    net.inject(node, from, true, &frame(from, entries));
    net.run_for(ms(1));
}

/// `next hop, hops, number` of a destination.
pub(crate) fn way(net: &Net, node: usize, to: Ipv4Addr) -> String {
    let get = |c| route(net, node, to, c).unwrap_or_default();
    format!("{} {} {}", get("next_hop"), get("hops"), get("seq"))
}

/// One node of the protocol, 0, among mute stations 1 to 9, all in its range; a second has passed.
pub(crate) fn alone(params: &Params) -> Net {
    among_mutes(|| Box::new(Engine::new(params.clone())))
}
