//! tshark reads the AODV messages that we write, and sees in each field what we put there.
//!
//! tshark 4.0.17 does not know section 9.1's extension type 1 (it shows type and length, and no interval).

use crate::common::{A, B, Case, RAW_IP, REPLY, REQUEST, assert_tshark_agrees, shows};
use wayhop_wire::aodv::{Extension, Message, PORT, Rerr, Rrep, Rreq, Unreachable};
use wayhop_wire::{ipv4, udp};

fn case(m: &Message<'_>, e: Option<Extension<'_>>, expected: Vec<(&'static str, String)>) -> Case {
    let extension_len = e.map_or(0, |e| e.buffer_len());
    let payload_len = m.buffer_len() + extension_len;
    let mut p = vec![0; ipv4::HEADER_LEN + udp::HEADER_LEN + payload_len];
    let (ip, datagram) = p.split_at_mut(ipv4::HEADER_LEN);
    let payload = &mut datagram[udp::HEADER_LEN..];
    m.emit(payload).expect("its fields fit");
    if let Some(e) = e {
        e.emit(&mut payload[m.buffer_len()..]).expect("it fits");
    }
    udp::Repr { src_port: PORT, dst_port: PORT, payload_len: payload_len as u16 }.emit(datagram, A, B);
    ipv4::Repr::new(A, B, ipv4::protocol::UDP, datagram.len() as u16).emit(ip);
    Case { bytes: p, expected }
}

#[test]
fn route_request_with_each_flag() {
    let plain = Rreq { destination_seq: 4_000_000_000, ..REQUEST };
    let flagged = |r: Rreq, flags: [u8; 5]| {
        case(
            &Message::Rreq(r),
            None,
            shows! {
                "aodv.type" => 1, "aodv.hopcount" => 3, "aodv.rreq_id" => 0x0102_0304,
                "aodv.dest_ip" => B, "aodv.dest_seqno" => 4_000_000_000_u32,
                "aodv.orig_ip" => A, "aodv.orig_seqno" => 7,
                "aodv.flags.rreq_join" => flags[0], "aodv.flags.rreq_repair" => flags[1],
                "aodv.flags.rreq_gratuitous" => flags[2], "aodv.flags.rreq_destinationonly" => flags[3],
                "aodv.flags.rreq_unknown" => flags[4],
            },
        )
    };
    assert_tshark_agrees(
        RAW_IP,
        &[
            flagged(plain, [0; 5]),
            flagged(Rreq { join: true, ..plain }, [1, 0, 0, 0, 0]),
            flagged(Rreq { repair: true, ..plain }, [0, 1, 0, 0, 0]),
            flagged(Rreq { gratuitous: true, ..plain }, [0, 0, 1, 0, 0]),
            flagged(Rreq { destination_only: true, ..plain }, [0, 0, 0, 1, 0]),
            flagged(Rreq { unknown_seq: true, ..plain }, [0, 0, 0, 0, 1]),
        ],
    );
}

#[test]
fn route_reply_and_hello() {
    let hello = Rrep { repair: true, ack_required: false, prefix_size: 0, hop_count: 0, ..REPLY };
    assert_tshark_agrees(
        RAW_IP,
        &[
            case(
                &Message::Rrep(REPLY),
                None,
                shows! {
                    "aodv.type" => 2, "aodv.flags.rrep_repair" => 0, "aodv.flags.rrep_ack" => 1,
                    "aodv.prefix_sz" => 24, "aodv.hopcount" => 2, "aodv.dest_ip" => B, "aodv.dest_seqno" => 9,
                    "aodv.orig_ip" => A, "aodv.lifetime" => 6_000,
                },
            ),
            case(
                &Message::Rrep(hello),
                Some(Extension::HelloInterval { millis: 1_000 }),
                shows! {
                    "aodv.type" => 2, "aodv.flags.rrep_repair" => 1, "aodv.flags.rrep_ack" => 0,
                    "aodv.prefix_sz" => 0, "aodv.hopcount" => 0, "aodv.dest_ip" => B, "aodv.dest_seqno" => 9,
                    "aodv.orig_ip" => A, "aodv.lifetime" => 6_000,
                    "aodv.ext_type" => 1, "aodv.ext_length" => 4,
                },
            ),
        ],
    );
}

#[test]
fn route_error_and_acknowledgement() {
    let list = [Unreachable { destination: B, seq: 5 }, Unreachable { destination: A, seq: 6 }];
    let error = Rerr { no_delete: true, unreachable: (&list[..]).into() };
    assert_tshark_agrees(
        RAW_IP,
        &[
            case(
                &Message::Rerr(error),
                None,
                shows! {
                    "aodv.type" => 3, "aodv.flags.rerr_nodelete" => 1, "aodv.destcount" => 2,
                    "aodv.unreach_dest_ip" => "192.168.3.4,10.0.0.1", "aodv.dest_seqno" => "5,6",
                },
            ),
            case(&Message::RrepAck, None, shows! { "aodv.type" => 4 }),
        ],
    );
}
