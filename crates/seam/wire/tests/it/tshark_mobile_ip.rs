//! tshark reads the messages of Mobile IP that we write, and sees in each field what we put there.

use std::net::Ipv4Addr;

use crate::common::{Case, RAW_IP, assert_tshark_agrees, shows};
use wayhop_wire::mobile_ip::{
    Advertisement, AgentFlags, AuthKind, Authentication, Code, Discovery, Extension, MobilityAgent, PORT,
    Reply, Request, RequestFlags,
};
use wayhop_wire::{icmp, ip_in_ip, ipv4, udp};

const HOME: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 9);
const HA: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
const COA: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 7);

fn in_ip(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut p = vec![0; ipv4::HEADER_LEN];
    ipv4::Repr::new(COA, HA, protocol, payload.len() as u16).emit(&mut p);
    p.extend_from_slice(payload);
    p
}

fn registration(fixed: &[u8], extensions: &[Extension<'_>]) -> Vec<u8> {
    let mut message = fixed.to_vec();
    for e in extensions {
        let at = message.len();
        message.resize(at + e.buffer_len(), 0);
        e.emit(&mut message[at..]).unwrap();
    }
    let header = udp::Repr { src_port: PORT, dst_port: PORT, payload_len: message.len() as u16 };
    let mut datagram = vec![0; header.buffer_len()];
    datagram[udp::HEADER_LEN..].copy_from_slice(&message);
    header.emit(&mut datagram, COA, HA);
    in_ip(ipv4::protocol::UDP, &datagram)
}

fn auth(kind: AuthKind, spi: u32) -> Extension<'static> {
    Extension::Authentication(Authentication { kind, spi, authenticator: &[0x5a; 16], protects: &[] })
}

#[test]
fn requests_and_replies() {
    let request = Request {
        flags: RequestFlags::CO_LOCATED | RequestFlags::REVERSE_TUNNEL,
        lifetime_s: 300,
        home: HOME,
        home_agent: HA,
        care_of: COA,
        // 1 January 1970, and a quarter of a second.
        identification: 2_208_988_800 << 32 | 1 << 30,
    };
    let mut fixed = [0; Request::LEN];
    request.emit(&mut fixed);
    let reply = Reply {
        code: Code::ACCEPTED,
        lifetime_s: 120,
        home: HOME,
        home_agent: HA,
        identification: request.identification,
    };
    let mut answer = [0; Reply::LEN];
    reply.emit(&mut answer);
    let all = [
        auth(AuthKind::MobileHome, 256),
        Extension::EncapsulatingDelivery,
        auth(AuthKind::MobileForeign, 512),
    ];
    assert_tshark_agrees(
        RAW_IP,
        &[
            Case {
                bytes: registration(&fixed, &all),
                expected: shows! {
                    "mip.type" => 1, "mip.s" => 0, "mip.b" => 0, "mip.d" => 1, "mip.m" => 0, "mip.g" => 0,
                    "mip.t" => 1, "mip.life" => 300, "mip.homeaddr" => HOME, "mip.haaddr" => HA, "mip.coa" => COA,
                    "mip.ext.type" => "32,130,33", "mip.ext.len" => "20,0,20", "mip.auth.spi" => "256,512",
                },
            },
            Case {
                bytes: registration(
                    &answer,
                    &[auth(AuthKind::MobileHome, 256), auth(AuthKind::ForeignHome, 1_000)],
                ),
                expected: shows! {
                    "mip.type" => 3, "mip.code" => 0, "mip.life" => 120, "mip.homeaddr" => HOME, "mip.haaddr" => HA,
                    "mip.ext.type" => "32,34", "mip.ext.len" => "20,20", "mip.auth.spi" => "256,1000",
                },
            },
        ],
    );
}

#[test]
fn advertisements_and_solicitations() {
    let flags = AgentFlags::FOREIGN_AGENT | AgentFlags::REVERSE_TUNNEL | AgentFlags::REGISTRATION_REQUIRED;
    let (entry, lengths, care_of) = (Advertisement::entry(HA, 0), [24], COA.octets());
    let mut a = Advertisement::new(3, &entry).unwrap().with_prefix_lengths(&lengths).unwrap();
    a.agent = Some(MobilityAgent::new(258, 300, flags, &care_of).unwrap());
    let case = |message: Discovery<'_>, expected| {
        let mut octets = vec![0; message.buffer_len()];
        message.emit(&mut octets);
        Case { bytes: in_ip(ipv4::protocol::ICMP, &octets), expected }
    };
    assert_tshark_agrees(
        RAW_IP,
        &[
            case(
                Discovery::Advertisement(a),
                shows! {
                    "icmp.type" => 9, "icmp.code" => 0, "icmp.checksum.status" => 1, "icmp.num_addrs" => 1,
                    "icmp.addr_entry_size" => 2, "icmp.lifetime" => 3,
                    "icmp.mip.type" => "16,19", "icmp.mip.length" => "10,1", "icmp.mip.seq" => 258,
                    "icmp.mip.life" => 300, "icmp.mip.r" => 1, "icmp.mip.b" => 0, "icmp.mip.h" => 0,
                    "icmp.mip.f" => 1, "icmp.mip.rt" => 1, "icmp.mip.coa" => COA, "icmp.mip.prefixlength" => 24,
                },
            ),
            case(
                Discovery::Solicitation,
                shows! { "icmp.type" => 10, "icmp.code" => 0, "icmp.checksum.status" => 1 },
            ),
        ],
    );
}

#[test]
fn a_ping_in_a_tunnel() {
    let echo = icmp::Repr::EchoRequest { ident: 7, seq: 9, data: &[1, 2, 3, 4] };
    let mut message = vec![0; echo.buffer_len()];
    echo.emit(&mut message);
    let inner = in_ip(ipv4::protocol::ICMP, &message);
    let view = ipv4::Packet::new_checked(&inner).unwrap();
    let outer = ip_in_ip::Repr { src: HA, dst: HOME, ttl: 64, id: 3 };
    let mut bytes = vec![0; outer.buffer_len(&view)];
    outer.emit(&view, &mut bytes).unwrap();
    let expected = shows! {
        "ip.src" => format!("{HA},{COA}"), "ip.dst" => format!("{HOME},{HA}"), "ip.proto" => "4,1",
        "ip.ttl" => "64,64", "ip.checksum.status" => "1,1", "icmp.type" => 8, "icmp.seq" => 9,
    };
    assert_tshark_agrees(RAW_IP, &[Case { bytes, expected }]);
}
