//! tshark reads the DSR packets that we write, and sees in each field what we put there.
//!
//! tshark 4.0.17's own faults are kept out, not copied: it shows only the high octet of a Flow State header's flow
//! (`dsr.fs.id`), loses its place after an option that it does not know, and gives the hops of a source route as
//! `dsr.option.ack.address`.

use std::net::Ipv4Addr;

use crate::common::{Case, RAW_IP, assert_tshark_agrees, shows};
use wayhop_wire::dsr::{
    AddrList, Builder, DsrOption, FlowState, RouteError, RouteErrorKind, RouteReply, RouteRequest,
    SourceRoute,
};
use wayhop_wire::{ipv4, udp};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const C: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);
const D: Ipv4Addr = Ipv4Addr::new(192, 168, 3, 4);

/// An IP packet of protocol 48 with this payload.
fn ip_packet(payload: &[u8]) -> Vec<u8> {
    let mut p = vec![0; ipv4::HEADER_LEN];
    ipv4::Repr::new(A, D, ipv4::protocol::DSR, payload.len() as u16).emit(&mut p);
    p.extend_from_slice(payload);
    p
}

fn udp_datagram() -> Vec<u8> {
    let mut d = vec![0x55; 12];
    udp::Repr { src_port: 40001, dst_port: 40002, payload_len: 4 }.emit(&mut d, A, D);
    d
}

fn control(o: &[DsrOption<'_>], expected: Vec<(&'static str, String)>) -> Case {
    let mut scratch = Vec::new();
    let mut b = Builder::new(&mut scratch, ipv4::protocol::NO_NEXT_HEADER);
    for o in o {
        b.push(o).expect("it fits");
    }
    Case { bytes: ip_packet(b.finish()), expected }
}

#[test]
fn route_request_and_reply() {
    let hops = [B, C];
    assert_tshark_agrees(
        RAW_IP,
        &[
            control(
                &[DsrOption::RouteRequest(RouteRequest {
                    id: 0x1234,
                    target: D,
                    addresses: (&hops[..]).into(),
                })],
                shows! {
                    "dsr.nexthdr" => 59, "dsr.flowstate" => 0, "dsr.len" => 16,
                    "dsr.option.type" => 1, "dsr.option.len" => 14,
                    "dsr.option.rreq.id" => 0x1234, "dsr.option.rreq.targetaddress" => D,
                    "dsr.option.rreq.address" => "10.0.0.2,10.0.0.3",
                },
            ),
            control(
                &[DsrOption::RouteReply(RouteReply {
                    last_hop_external: true,
                    addresses: (&hops[..]).into(),
                })],
                shows! {
                    "dsr.nexthdr" => 59, "dsr.flowstate" => 0, "dsr.len" => 12,
                    "dsr.option.type" => "2,224", "dsr.option.len" => 9,
                    "dsr.option.rrep.lasthopex" => 1, "dsr.option.rrep.address" => "10.0.0.2,10.0.0.3",
                },
            ),
        ],
    );
}

#[test]
fn route_errors_of_every_type() {
    let error = |kind, padding: &str, len: u8, mut info: Vec<(&'static str, String)>| {
        let option = DsrOption::RouteError(RouteError { salvage: 11, source: B, destination: C, kind });
        info.extend(shows! {
            "dsr.option.type" => format!("3{padding}"), "dsr.option.err.type" => kind.kind(),
            "dsr.option.err.salvage" => 11, "dsr.option.err.src" => B, "dsr.option.err.dest" => C,
            "dsr.len" => len,
        });
        control(&[option], info)
    };
    assert_tshark_agrees(
        RAW_IP,
        &[
            error(
                RouteErrorKind::NodeUnreachable(D),
                "",
                16,
                shows! { "dsr.option.err.unreachablenode" => D },
            ),
            error(RouteErrorKind::FlowStateNotSupported, "", 12, vec![]),
            error(
                RouteErrorKind::OptionNotSupported(160),
                ",0",
                16,
                shows! { "dsr.option.err.unsupportedoption" => 160 },
            ),
            error(
                RouteErrorKind::UnknownFlow { destination: D, flow_id: 0xabcd },
                ",0",
                20,
                shows! {
                    "dsr.option.err.unknownflow.dest" => D, "dsr.option.err.unknownflow.id" => 0xabcd,
                },
            ),
            error(
                RouteErrorKind::DefaultFlowUnknown { destination: D },
                "",
                16,
                shows! { "dsr.option.err.defaultflowunknown.dest" => D },
            ),
        ],
    );
}

#[test]
fn acknowledgements_and_their_requests() {
    assert_tshark_agrees(
        RAW_IP,
        &[
            control(
                &[DsrOption::AckRequest { id: 0xbeef, source: None }],
                shows! { "dsr.option.type" => 160, "dsr.option.ackreq.id" => 0xbeef },
            ),
            control(
                &[DsrOption::AckRequest { id: 1, source: Some(B) }],
                shows! { "dsr.option.type" => 160, "dsr.option.ackreq.id" => 1, "dsr.option.ackreq.address" => B },
            ),
            control(
                &[DsrOption::Ack { id: 0xbeef, source: B, destination: C }],
                shows! {
                    "dsr.option.type" => 32, "dsr.option.ack.id" => 0xbeef,
                    "dsr.option.ack.source" => B, "dsr.option.ack.dest" => C,
                },
            ),
        ],
    );
}

#[test]
fn source_route_in_front_of_a_datagram() {
    let hops = [B, C];
    let mut scratch = Vec::new();
    let mut b = Builder::new(&mut scratch, ipv4::protocol::UDP);
    let route = SourceRoute {
        first_hop_external: true,
        last_hop_external: false,
        salvage: 5,
        segments_left: 2,
        addresses: AddrList::from(&hops[..]),
    };
    b.push(&DsrOption::SourceRoute(route)).expect("it fits");
    b.push(&DsrOption::AckRequest { id: 9, source: None }).expect("it fits");
    let packet = [b.finish(), &udp_datagram()].concat();
    assert_tshark_agrees(
        RAW_IP,
        &[Case {
            bytes: ip_packet(&packet),
            expected: shows! {
                "dsr.nexthdr" => 17, "dsr.len" => 16, "dsr.option.type" => "96,160",
                "dsr.option.srcrt.firsthopext" => 1, "dsr.option.srcrt.lasthopext" => 0,
                "dsr.option.srcrt.salvage" => 5, "dsr.option.srcrt.segsleft" => 2,
                "dsr.option.ack.address" => "10.0.0.2,10.0.0.3", "dsr.option.ackreq.id" => 9,
                "udp.srcport" => 40001, "udp.dstport" => 40002, "ip.proto" => 48,
            },
        }],
    );
}

#[test]
fn flow_options_and_flow_state_header() {
    let mut scratch = Vec::new();
    let state = FlowState { hop_count: 77, flow_id: 0x0102 };
    let header = Builder::flow_state(&mut scratch, ipv4::protocol::UDP, state).to_vec();
    assert_tshark_agrees(
        RAW_IP,
        &[
            control(
                &[
                    DsrOption::Timeout { seconds: 3600 },
                    DsrOption::FlowId { flow_id: 0x0102, destination: D },
                ],
                shows! {
                    "dsr.flowstate" => 0, "dsr.nexthdr" => 59, "dsr.option.type" => "128,129", "dsr.option.timeout.timeout" => 3600,
                    "dsr.option.destflowid.id" => 0x0102, "dsr.option.destflowid.dest" => D,
                },
            ),
            Case {
                bytes: ip_packet(&[&header[..], &udp_datagram()].concat()),
                expected: shows! {
                    "dsr.flowstate" => 1, "dsr.nexthdr" => 17, "dsr.fs.hopcount" => 77, "udp.dstport" => 40002,
                },
            },
        ],
    );
}

#[test]
fn padding_of_each_length() {
    let reply = DsrOption::RouteReply(RouteReply { last_hop_external: false, addresses: AddrList::EMPTY });
    let cases = [(1, "2,224"), (2, "2,2,0"), (3, "2,2,2,0"), (4, "2,2,2,2")].map(|(n, types)| {
        control(&vec![reply; n], shows! { "dsr.option.type" => types, "dsr.len" => (3 * n).div_ceil(4) * 4 })
    });
    assert_tshark_agrees(RAW_IP, &cases);
}
