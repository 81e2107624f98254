//! Nets of AODV nodes, and their messages.

use std::net::Ipv4Addr;

use wayhop_aodv::{Engine, Params};
use wayhop_core::{BROADCAST, Time};
use wayhop_testkit::{Net, TestPacket, addr, among_mutes, data_packet};
pub(crate) use wayhop_testkit::{held, ms, own_seq, route, secs};
use wayhop_wire::aodv::{self, Message, Rrep, Rreq, Unreachable};
use wayhop_wire::{datagram, ipv4, udp};

/// The default profile.
pub(crate) fn rfc() -> Params {
    Params::rfc()
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

/// `n` nodes in a line at 2 s. The first has a route to the last.
pub(crate) fn line_with_route(n: usize, params: &Params) -> Net {
    let mut net = line(n, params);
    net.send_at(secs(1.0), 0, n - 1, 1);
    net.run_until(secs(2.0));
    net
}

/// A message that a node sent: when, to whom, IP header, and its fields.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) at: Time,
    pub(crate) next_hop: Ipv4Addr,
    pub(crate) ip: ipv4::Repr,
    pub(crate) what: Kind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    Rreq(Rreq),
    Rrep(Rrep),
    Rerr { no_delete: bool, unreachable: Vec<Unreachable> },
    Ack,
}

pub(crate) fn kind(bytes: &[u8]) -> Option<(ipv4::Repr, Kind)> {
    let ip = ipv4::Repr::parse(bytes).ok()?;
    let packet = ipv4::Packet::new_checked(bytes).ok()?;
    let datagram = udp::Packet::new_checked(packet.payload()).ok()?;
    if datagram.dst_port() != aodv::PORT {
        return None;
    }
    let what = match Message::parse(datagram.payload()).ok()? {
        Message::Rreq(m) => Kind::Rreq(m),
        Message::Rrep(m) => Kind::Rrep(m),
        Message::Rerr(m) => {
            Kind::Rerr { no_delete: m.no_delete, unreachable: m.unreachable.iter().collect() }
        }
        Message::RrepAck => Kind::Ack,
    };
    Some((ip, what))
}

/// The AODV messages that a node sent, in order.
pub(crate) fn said(net: &Net, node: usize) -> Vec<Said> {
    net.sent_by(node)
        .filter_map(|(r, next_hop, bytes)| {
            kind(bytes).map(|(ip, what)| Said { at: r.at, next_hop, ip, what })
        })
        .collect()
}
/// The requests that a node sent: (record, fields).
pub(crate) fn rreqs(net: &Net, node: usize) -> Vec<(Said, Rreq)> {
    said(net, node)
        .into_iter()
        .filter_map(|s| if let Kind::Rreq(m) = s.what { Some((s, m)) } else { None })
        .collect()
}
/// The replies that a node sent.
pub(crate) fn rreps(net: &Net, node: usize) -> Vec<(Said, Rrep)> {
    said(net, node)
        .into_iter()
        .filter_map(|s| if let Kind::Rrep(m) = s.what { Some((s, m)) } else { None })
        .collect()
}
/// The Route Errors that a node sent: (record, N flag, destinations).
pub(crate) fn rerrs(net: &Net, node: usize) -> Vec<(Said, bool, Vec<Unreachable>)> {
    said(net, node)
        .into_iter()
        .filter_map(|s| match s.what.clone() {
            Kind::Rerr { no_delete, unreachable } => Some((s, no_delete, unreachable)),
            _ => None,
        })
        .collect()
}

/// A message as a neighbour would put it on the air.
pub(crate) fn frame(from: Ipv4Addr, to: Ipv4Addr, ttl: u8, message: &Message<'_>) -> Vec<u8> {
    datagram(from, to, aodv::PORT, ttl, &octets(message))
}
/// The octets of a message.
pub(crate) fn octets(message: &Message<'_>) -> Vec<u8> {
    let mut payload = vec![0; message.buffer_len()];
    message.emit(&mut payload).expect("a sound message");
    payload
}

/// Lets `node` hear a message from `from` (broadcast for requests and Route Errors, unicast for the rest).
pub(crate) fn hear(net: &mut Net, node: usize, from: Ipv4Addr, message: &Message<'_>) {
    let unicast = matches!(message, Message::Rrep(_) | Message::RrepAck);
    let to = if unicast { addr(node) } else { BROADCAST };
    net.inject(node, from, !unicast, &frame(from, to, 9, message));
    net.run_for(ms(1));
}

pub(crate) fn request(
    id: u32,
    originator: Ipv4Addr,
    originator_seq: u32,
    destination: Ipv4Addr,
    destination_seq: Option<u32>,
) -> Rreq {
    Rreq::new((destination, destination_seq), id, (originator, originator_seq))
}
pub(crate) fn reply(
    destination: Ipv4Addr,
    destination_seq: u32,
    hop_count: u8,
    originator: Ipv4Addr,
) -> Rrep {
    Rrep { hop_count, ..Rrep::new(destination, destination_seq, originator, 60_000) }
}
/// A Route Error for one destination.
pub(crate) fn hear_rerr(
    net: &mut Net,
    node: usize,
    from: Ipv4Addr,
    no_delete: bool,
    list: &[(Ipv4Addr, u32)],
) {
    let list: Vec<Unreachable> =
        list.iter().map(|&(destination, seq)| Unreachable { destination, seq }).collect();
    let message = Message::Rerr(aodv::Rerr { no_delete, unreachable: list.as_slice().into() });
    hear(net, node, from, &message);
}

/// Lets `node` hear a data packet of a neighbour for another node.
pub(crate) fn transit(net: &mut Net, node: usize, from: usize, to: Ipv4Addr) {
    let t = TestPacket { source: addr(from), destination: to, ttl: 64, ident: 1, port: 9_000 };
    net.inject(node, addr(from), false, &data_packet(t, &[0; 10]));
    net.run_for(ms(20));
}

/// One node of the protocol, 0, among mute stations 1 to 9, all in its range; a second has passed.
pub(crate) fn alone(params: &Params) -> Net {
    among_mutes(|| Box::new(Engine::new(params.clone())))
}
