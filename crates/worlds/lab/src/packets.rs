//! From a daemon's packet events to rows of the run's table.
//!
//! Each daemon numbers its packets by itself and does not know flows. Packets of flows are
//! recognised by the stamp in their payload, and get the same number everywhere; others have a
//! number for each node that sees them.

use std::sync::Arc;

use wayhop_control::Event;
use wayhop_core::{Addr, DropReason, FlowTag, IfaceId, NodeId, PacketId, SendState, Time, from_hex};
use wayhop_protocols::{CLASSIFIER, classify};
use wayhop_scenario::{FlowConfig, Resolved};
use wayhop_trace::{HopEvent, HopKind, Identity, PacketClass, Recent, SendEvent};
use wayhop_transport::{GROUP, Stamp};
use wayhop_wire::{ip, ipv4, ipv6};

/// The most packets of flows whose number at a daemon is remembered.
const MOST_REMEMBERED: usize = 8_192;
/// Begins the numbers of packets that belong to no flow.
const NO_FLOW: u64 = 1 << 62;

/// Octets of a UDP header, and of an echo message's (RFC 768, RFC 792).
const TRANSPORT: usize = 8;

/// Where a flow's packets come from and go to.
#[derive(Copy, Clone, Debug)]
pub(super) struct FlowEnds {
    pub(super) flow: u32,
    pub(super) class: PacketClass,
    pub(super) from: Addr,
    pub(super) to: Addr,
    /// UDP ports, or the identifier of a ping.
    pub(super) ports: (u16, u16),
}

impl FlowEnds {
    /// Those of all flows of a scenario.
    pub(super) fn of(s: &Resolved) -> Arc<[Self]> {
        let one = |(i, config): (usize, &FlowConfig)| Self {
            flow: i as u32,
            class: PacketClass::of_flow(config.kind.name()),
            from: address(s, config, config.src),
            to: if config.is_to_all() { GROUP.into() } else { address(s, config, config.dst) },
            ports: (config.src_port, config.dst_port),
        };
        s.flows.iter().enumerate().map(one).collect()
    }

    /// Whether a packet with these ends and this transport header is of this flow, or answers one of it.
    fn is(&self, from: Addr, to: Addr, header: [u8; TRANSPORT]) -> bool {
        let number = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        if self.class == PacketClass::Ping {
            // Echo request or reply (RFC 792, RFC 4443).
            let kinds: [u8; 2] = if from.is_v4() { [0, 8] } else { [128, 129] };
            let ends = [(self.from, self.to), (self.to, self.from)];
            kinds.contains(&header[0]) && number(4) == self.ports.0 && ends.contains(&(from, to))
        } else {
            (from, to) == (self.from, self.to) && (number(0), number(2)) == self.ports
        }
    }
}

/// The address of a node in a flow's family.
fn address(s: &Resolved, config: &FlowConfig, node: NodeId) -> Addr {
    match s.ipv6.as_ref().filter(|_| config.ip6) {
        Some(plan) => plan.addresses[node.index()].into(),
        None => s.addresses[node.index()].into(),
    }
}

/// The name of a flow's packet in the run's tables.
pub(super) fn packet_id(flow: u32, seq: u32) -> PacketId {
    PacketId(u64::from(flow) << 32 | u64::from(seq))
}

/// One daemon's packets.
pub(super) struct Packets {
    node: u32,
    flows: Arc<[FlowEnds]>,
    /// The daemon's numbers of packets of flows, with the run's.
    known: Recent<u64, PacketId>,
}

impl Packets {
    pub(super) fn new(node: u32, flows: Arc<[FlowEnds]>) -> Self {
        Self { node, flows, known: Recent::of(MOST_REMEMBERED) }
    }

    /// The row of an event, and what a packet of no flow is known by at other nodes. The lab itself writes where packets of flows begin and
    /// end.
    pub(super) fn row(&mut self, time: Time, event: &Event) -> Option<(HopEvent, Option<Identity>)> {
        let Event::Packet { event, packet, bytes, head, interface, peer, signal_dbm, reason, .. } = event
        else {
            return None;
        };
        let kind = HopKind::ALL.into_iter().find(|k| k.name() == event)?;
        // Only complete headers; the rest of the packet is not needed.
        let mut octets = from_hex(head).filter(|head| head.len() >= ipv4::HEADER_LEN)?;
        octets.resize((*bytes).min(u16::MAX.into()) as usize, 0);
        let ip = ip::Packet::new_checked(&octets).ok()?;
        let (source, destination, ttl) = (ip.src, ip.dst, ip.ttl);
        let (class, messages) = classify(&octets);
        let control = class.map(PacketClass::Control);
        let find = |(header, seq)| {
            let ends = self.flows.iter().find(|f| f.is(source, destination, header))?;
            Some((FlowTag { flow: ends.flow, seq }, ends.class))
        };
        let flow = if control.is_none() { stamped(&octets).find_map(find) } else { None };
        if let Some((tag, _)) = flow {
            self.known.put(*packet, packet_id(tag.flow, tag.seq));
            if matches!(kind, HopKind::Originate | HopKind::Deliver) {
                return None;
            }
        }
        let identity =
            if flow.is_none() && control.is_none() { Identity::of(&octets, CLASSIFIER) } else { None };
        let row = HopEvent {
            iface: interface.map_or(IfaceId::ANY, IfaceId),
            time,
            packet: self.number(*packet),
            flow: flow.map(|(tag, _)| tag),
            node: NodeId(self.node),
            bytes: *bytes,
            source,
            destination,
            peer: peer.map_or(Addr::UNSPECIFIED, Into::into),
            signal_dbm: signal_dbm.unwrap_or(f32::NAN),
            kind,
            class: control.or(flow.map(|(_, class)| class)).unwrap_or(PacketClass::Data),
            messages,
            ttl,
            reason: reason.as_ref().and_then(|r| DropReason::ALL.into_iter().find(|d| d.name() == r)),
        };
        Some((row, identity))
    }

    /// The row of a state.
    pub(super) fn sent(&self, time: Time, state: SendState) -> SendEvent {
        let state = SendState { packet: self.number(state.packet.0), ..state };
        SendEvent { time, node: NodeId(self.node), state }
    }

    fn number(&self, own: u64) -> PacketId {
        let unique = NO_FLOW | u64::from(self.node) << 40 | own & ((1 << 40) - 1);
        self.known.get(&own).unwrap_or(PacketId(unique))
    }
}

/// The transport headers that a packet may have, and the number in the stamp behind each: routing protocols put headers
/// of their own in front, and the stamp tells where those end.
fn stamped(packet: &[u8]) -> impl Iterator<Item = ([u8; TRANSPORT], u32)> {
    let header =
        if packet.first().is_some_and(|b| b >> 4 == 6) { ipv6::HEADER_LEN } else { ipv4::HEADER_LEN };
    let behind_ip = packet.get(header..).unwrap_or_default();
    (TRANSPORT..behind_ip.len()).filter_map(|at| {
        let (front, payload) = behind_ip.split_at(at);
        Some((*front.last_chunk()?, Stamp::parse(payload)?.seq))
    })
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use wayhop_wire::udp;

    use super::*;

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    fn flows() -> Arc<[FlowEnds]> {
        [FlowEnds { flow: 3, class: PacketClass::Cbr, from: A.into(), to: B.into(), ports: (5_000, 9_000) }]
            .into()
    }

    /// A datagram of the flow with this stamp, truncated to `kept` bytes as in a daemon's event.
    fn event(what: &str, port: u16, seq: u32, packet: u64, kept: usize) -> Event {
        let mut payload = [0; 100];
        Stamp { seq, sent: Time::ZERO }.emit(&mut payload);
        let mut p = vec![0; ipv4::HEADER_LEN + udp::HEADER_LEN + payload.len()];
        ipv4::Repr::new(A, B, ipv4::protocol::UDP, (udp::HEADER_LEN + payload.len()) as u16).emit(&mut p);
        let segment = &mut p[ipv4::HEADER_LEN..];
        segment[..2].copy_from_slice(&5_000_u16.to_be_bytes());
        segment[2..4].copy_from_slice(&port.to_be_bytes());
        segment[4..6].copy_from_slice(&108_u16.to_be_bytes());
        segment[8..].copy_from_slice(&payload);
        Event::Packet {
            time_s: 1.0,
            node: 0,
            event: what.to_owned(),
            packet,
            flow: None,
            seq: None,
            bytes: p.len() as u32,
            head: wayhop_core::hex(&p[..kept]),
            interface: Some(1),
            peer: Some(B.into()),
            signal_dbm: None,
            reason: None,
        }
    }

    #[test]
    fn a_flows_packet_has_one_number_at_all_nodes_and_others_have_one_for_each() {
        let (mut at_0, mut at_1) = (Packets::new(0, flows()), Packets::new(1, flows()));
        let (sent, _) = at_0.row(Time::ZERO, &event("send", 9_000, 7, 50, 60)).unwrap();
        let (came, _) = at_1.row(Time::ZERO, &event("receive", 9_000, 7, 8, 60)).unwrap();
        assert_eq!(sent.packet, came.packet);
        assert_eq!((sent.flow, sent.class), (Some(FlowTag { flow: 3, seq: 7 }), PacketClass::Cbr));
        assert_eq!((came.kind, came.bytes, came.peer), (HopKind::Receive, 128, B.into()));
        assert_eq!(came.iface, IfaceId(1));
        let (other, known) = at_0.row(Time::ZERO, &event("send", 9_001, 7, 51, 60)).unwrap();
        let (elsewhere, there) = at_1.row(Time::ZERO, &event("send", 9_001, 7, 51, 60)).unwrap();
        assert_eq!((other.flow, other.class), (None, PacketClass::Data));
        assert_ne!(other.packet, elsewhere.packet);
        assert!(known.is_some() && known == there, "by this they are found to be one");
    }

    #[test]
    fn the_lab_writes_the_ends_of_flows_and_the_daemons_those_of_programs() {
        let mut packets = Packets::new(0, flows());
        for what in ["originate", "deliver"] {
            assert!(packets.row(Time::ZERO, &event(what, 9_000, 7, 50, 60)).is_none());
            assert!(packets.row(Time::ZERO, &event(what, 9_001, 7, 51, 60)).is_some());
        }
        assert!(packets.row(Time::ZERO, &event("nonsense", 9_000, 7, 50, 60)).is_none());
        assert!(packets.row(Time::ZERO, &event("send", 9_000, 7, 50, 10)).is_none(), "half a header");
    }
}
