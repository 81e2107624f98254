//! What each golden packet means, in our own terms.

use std::net::Ipv4Addr;

use wayhop_wire::dsr::{
    AddrList, DsrOption, FlowState, RouteError, RouteErrorKind, RouteReply, RouteRequest, SourceRoute,
};
use wayhop_wire::ipv4::{self, protocol};
use wayhop_wire::udp;

/// A packet: IP header, Flow State header, options, and what follows.
#[derive(Clone)]
pub(crate) struct Sent {
    pub(crate) ip: ipv4::Repr,
    pub(crate) flow: Option<FlowState>,
    pub(crate) options: Option<Vec<DsrOption<'static>>>,
    pub(crate) next: u8,
    pub(crate) payload: Vec<u8>,
}

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const C: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);
const D: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 4);
const E: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 5);
const OUTSIDE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 9);
const GROUP: Ipv4Addr = Ipv4Addr::new(224, 0, 1, 140);
const ALL: Ipv4Addr = Ipv4Addr::BROADCAST;
const IP_IN_IP: u8 = 4;

/// The packets of a capture, in order.
///
/// # Panics
/// If there is no such capture.
pub(crate) fn meaning(name: &str) -> Vec<Sent> {
    match name {
        "ack" => vec![from(B, A, 0x0404).options([ack(0xbeef, B, A)])],
        "ack-and-ack-request" => {
            vec![from(B, D, 0x0405).options([ack(0xbeef, B, D), ack_request(7, None), route(&[C], 1)]).udp()]
        }
        "ack-request" => vec![
            from(A, B, 0x0401).options([ack_request(0xbeef, None)]),
            from(A, C, 0x0402).options([route(&[B], 1), ack_request(0xbef0, None)]).udp(),
        ],
        "ack-request-with-source" => {
            vec![from(A, D, 0x0403).options([ack_request(0xbef1, Some(B))]).udp()]
        }
        "fragments" => fragments(),
        "pad1" => {
            let pad = DsrOption::Pad1;
            vec![from(B, A, 0x0601).options([pad, ack_request(0xbeef, None), pad, pad, pad])]
        }
        "padn" => {
            let pad = DsrOption::PadN;
            vec![from(B, A, 0x0602).options([pad(0), pad(1), ack_request(0xbeef, None), pad(5)])]
        }
        "route-reply" => vec![
            from(B, A, 0x0201).options([reply(&[B], false), DsrOption::Pad1]),
            from(D, A, 0x0202).options([route(&[C, B], 2), reply(&[B, C, D], false), DsrOption::Pad1]),
        ],
        "route-reply-external" => {
            vec![from(B, A, 0x0203).options([reply(&[B, OUTSIDE], true), DsrOption::Pad1])]
        }
        "route-request" => vec![
            from(A, ALL, 0x0102).ttl(255).options([request(0x1235, D, &[])]),
            from(A, ALL, 0x0102).ttl(253).options([request(0x1235, D, &[B, C])]),
        ],
        "route-request-non-propagating" => {
            vec![from(A, ALL, 0x0101).ttl(1).options([request(0x1234, D, &[])])]
        }
        "route-request-with-data" => {
            vec![from(A, ALL, 0x0103).ttl(255).options([request(0x1236, GROUP, &[])]).udp()]
        }
        "route-request-with-error" => vec![
            from(A, ALL, 0x0104)
                .ttl(255)
                .options([request(0x1237, D, &[]), error(0, C, A, RouteErrorKind::NodeUnreachable(D))]),
        ],
        "source-route" => vec![
            from(A, D, 0x0501).options([route(&[B, C], 2)]).udp(),
            from(A, D, 0x0501).ttl(62).options([route(&[B, C], 0)]).udp(),
            from(A, B, 0x0502).options([route(&[], 0)]).udp(),
        ],
        "source-route-external" => vec![
            from(A, OUTSIDE, 0x0503).options([marked(&[B], 1, (false, true), 0)]).udp(),
            from(OUTSIDE, A, 0x0504).options([marked(&[B], 0, (true, false), 0)]).udp(),
        ],
        "source-route-salvaged" => vec![
            from(A, D, 0x0505).ttl(63).options([marked(&[B, E], 1, (false, false), 1)]).udp(),
            from(A, D, 0x0506).ttl(63).options([marked(&[B, E], 1, (true, true), 10)]).udp(),
        ],
        "unknown-options" => [(0x0a01, 0x1f), (0x0a02, 0xbf), (0x0a03, 0x5f), (0x0a04, 0x7f)]
            .map(|(id, kind)| {
                from(A, B, id)
                    .options([DsrOption::Unknown { kind, data: &[1, 2] }, ack_request(0xbeef, None)])
            })
            .into(),
        other => flow_state(other).unwrap_or_else(|| vec![route_error(other)]),
    }
}

/// The packets of a capture of the flow state extension.
fn flow_state(name: &str) -> Option<Vec<Sent>> {
    Some(match name {
        "destination-and-flow-id" => {
            let change = DsrOption::FlowId { flow_id: 0x0207, destination: E };
            vec![from(A, C, 0x0704).flow(0, 0x0106).options([change]).udp_to(E)]
        }
        "flow-establishment" => {
            let timeout = DsrOption::Timeout { seconds: 60 };
            vec![
                from(A, D, 0x0701).flow(0, 0x0105).options([timeout, route(&[B, C], 2)]).udp(),
                from(A, D, 0x0701).ttl(63).flow(1, 0x0105).options([timeout, route(&[B, C], 1)]).udp(),
            ]
        }
        "flow-state" => {
            vec![from(A, D, 0x0702).flow(0, 0x0106).udp(), from(A, D, 0x0702).ttl(1).flow(127, 0x0106).udp()]
        }
        "flow-state-ack-request" => {
            vec![from(A, D, 0x0703).ttl(63).flow(1, 0x0106).options([ack_request(9, Some(B))]).udp()]
        }
        _ => return None,
    })
}

fn route_error(name: &str) -> Sent {
    let e = |salvage, kind| error(salvage, C, A, kind);
    match name {
        "route-error-node-unreachable" => {
            from(C, A, 0x0301).options([e(2, RouteErrorKind::NodeUnreachable(D))])
        }
        "route-error-flow-state-not-supported" => {
            from(C, A, 0x0302).options([e(0, RouteErrorKind::FlowStateNotSupported)])
        }
        "route-error-option-not-supported" => {
            from(C, A, 0x0303).options([e(0, RouteErrorKind::OptionNotSupported(191)), DsrOption::PadN(1)])
        }
        "route-error-unknown-flow" => {
            let kind = RouteErrorKind::UnknownFlow { destination: D, flow_id: 0x0105 };
            from(C, A, 0x0304).options([e(0, kind), DsrOption::PadN(0)])
        }
        "route-error-default-flow-unknown" => {
            from(C, A, 0x0305).options([e(0, RouteErrorKind::DefaultFlowUnknown { destination: D })])
        }
        "route-error-nested" => from(C, A, 0x0801).options([
            route(&[B], 1),
            e(0, RouteErrorKind::NodeUnreachable(D)),
            error(1, A, D, RouteErrorKind::NodeUnreachable(E)),
        ]),
        _ => panic!("{name}: not described here"),
    }
}

/// A datagram of 24 octets in two fragments, each in an IP packet of its own.
fn fragments() -> Vec<Sent> {
    let datagram = datagram(b"0123456789abcdef", A, D);
    [(0x0902, 0, true, 0..16), (0x0903, 2, false, 16..24)]
        .map(|(id, fragment_offset, more_fragments, part)| {
            let inner = ipv4::Repr {
                id: 0x0901,
                fragment_offset,
                more_fragments,
                ..ipv4::Repr::new(A, D, protocol::UDP, part.len() as u16)
            };
            let mut payload = vec![0; ipv4::HEADER_LEN];
            inner.emit(&mut payload);
            payload.extend_from_slice(&datagram[part]);
            let outer = from(A, D, id).options([marked(&[B], 1, (false, false), 1)]);
            Sent { payload, next: IP_IN_IP, ..outer }
        })
        .into()
}

fn datagram(data: &[u8], from: Ipv4Addr, to: Ipv4Addr) -> Vec<u8> {
    let mut d = vec![0; udp::HEADER_LEN];
    d.extend_from_slice(data);
    udp::Repr { src_port: 7000, dst_port: 7001, payload_len: data.len() as u16 }.emit(&mut d, from, to);
    d
}

fn from(src: Ipv4Addr, dst: Ipv4Addr, id: u16) -> Sent {
    let ip = ipv4::Repr { id, ..ipv4::Repr::new(src, dst, protocol::DSR, 0) };
    Sent { ip, flow: None, options: None, next: protocol::NO_NEXT_HEADER, payload: Vec::new() }
}

impl Sent {
    fn ttl(mut self, ttl: u8) -> Self {
        self.ip.ttl = ttl;
        self
    }
    fn flow(mut self, hop_count: u8, flow_id: u16) -> Self {
        self.flow = Some(FlowState { hop_count, flow_id });
        self
    }
    fn options(mut self, options: impl IntoIterator<Item = DsrOption<'static>>) -> Self {
        self.options = Some(options.into_iter().collect());
        self
    }
    fn udp(self) -> Self {
        let to = self.ip.dst;
        self.udp_to(to)
    }
    fn udp_to(mut self, to: Ipv4Addr) -> Self {
        self.next = protocol::UDP;
        self.payload = datagram(b"DSR!", self.ip.src, to);
        self
    }
}

fn request(id: u16, target: Ipv4Addr, addresses: &'static [Ipv4Addr]) -> DsrOption<'static> {
    DsrOption::RouteRequest(RouteRequest { id, target, addresses: AddrList::from(addresses) })
}
fn reply(addresses: &'static [Ipv4Addr], last_hop_external: bool) -> DsrOption<'static> {
    DsrOption::RouteReply(RouteReply { last_hop_external, addresses: AddrList::from(addresses) })
}
fn error(
    salvage: u8,
    source: Ipv4Addr,
    destination: Ipv4Addr,
    kind: RouteErrorKind<'static>,
) -> DsrOption<'static> {
    DsrOption::RouteError(RouteError { salvage, source, destination, kind })
}
fn ack(id: u16, source: Ipv4Addr, destination: Ipv4Addr) -> DsrOption<'static> {
    DsrOption::Ack { id, source, destination }
}
fn ack_request(id: u16, source: Option<Ipv4Addr>) -> DsrOption<'static> {
    DsrOption::AckRequest { id, source }
}
fn route(addresses: &'static [Ipv4Addr], segments_left: u8) -> DsrOption<'static> {
    marked(addresses, segments_left, (false, false), 0)
}
/// A Source Route with its F and L bits and its salvage count.
fn marked(
    addresses: &'static [Ipv4Addr],
    segments_left: u8,
    (first_hop_external, last_hop_external): (bool, bool),
    salvage: u8,
) -> DsrOption<'static> {
    DsrOption::SourceRoute(SourceRoute {
        first_hop_external,
        last_hop_external,
        salvage,
        segments_left,
        addresses: AddrList::from(addresses),
    })
}
