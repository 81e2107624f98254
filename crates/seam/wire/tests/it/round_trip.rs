//! A representation that is written and read is the same.

use std::net::Ipv4Addr;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use wayhop_core::Mac;
use wayhop_wire::aodv::{Extension, Message, Rerr, Rrep, Rreq, Unreachable, extensions};
use wayhop_wire::dsdv::{Update, UpdateEntry};
use wayhop_wire::dsr::{
    Builder, DsrOption, FlowState, LinkMetrics, Location, Packet, Probe, RouteError, RouteErrorKind,
    RouteReply, RouteRequest, SourceRoute,
};
use wayhop_wire::{arp, dot11, icmp, ipv4, llc, radiotap, udp};

fn addr() -> impl Strategy<Value = Ipv4Addr> {
    any::<u32>().prop_map(Ipv4Addr::from_bits)
}
fn mac() -> impl Strategy<Value = Mac> {
    any::<[u8; 6]>().prop_map(Mac)
}

/// A DSR option that owns what it lists.
#[derive(Debug, Clone)]
enum Owned {
    Request(u16, Ipv4Addr, Vec<Ipv4Addr>),
    Reply(bool, Vec<Ipv4Addr>),
    Error(u8, Ipv4Addr, Ipv4Addr, u8, Vec<u8>),
    AckRequest(u16, Option<Ipv4Addr>),
    Ack(u16, Ipv4Addr, Ipv4Addr),
    Route(bool, bool, u8, u8, Vec<Ipv4Addr>),
    Pad(Option<u8>),
    Timeout(u16),
    FlowId(u16, Ipv4Addr),
    Location(Location),
    Unknown(u8, Vec<u8>),
}

impl Owned {
    fn borrow(&self) -> DsrOption<'_> {
        match self {
            Self::Request(id, target, l) => {
                DsrOption::RouteRequest(RouteRequest { id: *id, target: *target, addresses: l.into() })
            }
            Self::Reply(last_hop_external, l) => DsrOption::RouteReply(RouteReply {
                last_hop_external: *last_hop_external,
                addresses: l.into(),
            }),
            Self::Error(salvage, source, destination, which, info) => {
                let word = u32::from(*salvage) * 77;
                DsrOption::RouteError(RouteError {
                    salvage: *salvage,
                    source: *source,
                    destination: *destination,
                    kind: match which % 6 {
                        0 => RouteErrorKind::NodeUnreachable(Ipv4Addr::from_bits(word)),
                        1 => RouteErrorKind::FlowStateNotSupported,
                        2 => RouteErrorKind::OptionNotSupported(*which),
                        3 => RouteErrorKind::UnknownFlow { destination: *source, flow_id: word as u16 },
                        4 => RouteErrorKind::DefaultFlowUnknown { destination: *source },
                        _ => RouteErrorKind::Unknown { kind: which % 100 + 4, info },
                    },
                })
            }
            Self::AckRequest(id, source) => DsrOption::AckRequest { id: *id, source: *source },
            Self::Ack(id, source, destination) => {
                DsrOption::Ack { id: *id, source: *source, destination: *destination }
            }
            Self::Route(first, last, salvage, segments_left, l) => DsrOption::SourceRoute(SourceRoute {
                first_hop_external: *first,
                last_hop_external: *last,
                salvage: *salvage,
                segments_left: *segments_left,
                addresses: l.into(),
            }),
            Self::Pad(None) => DsrOption::Pad1,
            Self::Pad(Some(n)) => DsrOption::PadN(*n),
            Self::Timeout(seconds) => DsrOption::Timeout { seconds: *seconds },
            Self::FlowId(flow_id, destination) => {
                DsrOption::FlowId { flow_id: *flow_id, destination: *destination }
            }
            Self::Location(l) => DsrOption::Location(*l),
            Self::Unknown(kind, data) => DsrOption::Unknown { kind: *kind, data },
        }
    }
}

fn dsr_option() -> impl Strategy<Value = Owned> {
    let known = [0, 1, 2, 3, 32, 96, 128, 129, 160, 224];
    prop_oneof![
        (any::<u16>(), addr(), vec(addr(), 0..=62)).prop_map(|(i, t, l)| Owned::Request(i, t, l)),
        (any::<bool>(), vec(addr(), 0..=63)).prop_map(|(e, l)| Owned::Reply(e, l)),
        (0u8..16, addr(), addr(), any::<u8>(), vec(any::<u8>(), 0..=245))
            .prop_map(|(s, a, b, w, i)| Owned::Error(s, a, b, w, i)),
        (any::<u16>(), option::of(addr())).prop_map(|(i, s)| Owned::AckRequest(i, s)),
        (any::<u16>(), addr(), addr()).prop_map(|(i, s, d)| Owned::Ack(i, s, d)),
        (any::<bool>(), any::<bool>(), 0u8..16, 0u8..64, vec(addr(), 0..=63))
            .prop_map(|(f, l, s, n, a)| Owned::Route(f, l, s, n, a)),
        option::of(any::<u8>()).prop_map(Owned::Pad),
        any::<u16>().prop_map(Owned::Timeout),
        (any::<u16>(), addr()).prop_map(|(f, d)| Owned::FlowId(f, d)),
        (
            -90_000_000_000i64..=90_000_000_000,
            -180_000_000_000i64..=180_000_000_000,
            0u32..360_000_000,
            any::<u32>()
        )
            .prop_map(|(latitude_ndeg, longitude_ndeg, heading_udeg, speed_mm_per_s)| {
                Owned::Location(Location { latitude_ndeg, longitude_ndeg, heading_udeg, speed_mm_per_s })
            }),
        (any::<u8>().prop_filter("unknown", move |k| !known.contains(k)), vec(any::<u8>(), 0..=255))
            .prop_map(|(k, d)| Owned::Unknown(k, d)),
    ]
}

proptest! {
    #[test]
    fn dsr_probes_and_link_metrics(
        heard in vec((addr(), any::<u8>()), 0..=60), costs in vec(any::<u32>(), 0..=70), id in any::<u16>()
    ) {
        let (mut one, mut two) = (vec![9; 3], vec![9; 3]);
        let probe = Probe::build(&mut one, heard.iter().copied());
        let metrics = LinkMetrics::build(&mut two, costs.iter().copied());
        let options = [
            DsrOption::Probe(probe),
            DsrOption::AckRequest { id, source: None },
            DsrOption::LinkMetrics(metrics),
        ];
        let mut scratch = Vec::new();
        let mut b = Builder::new(&mut scratch, 59);
        for o in &options {
            b.push(o).expect("what has no room was left out");
        }
        let p = Packet::new_checked(b.finish()).expect("it was built");
        let read: Vec<_> = p.options().take(3).map(|o| o.expect("it was built")).collect();
        prop_assert_eq!(&read[..], &options[..]);
        let (DsrOption::Probe(probe), DsrOption::LinkMetrics(metrics)) = (read[0], read[2]) else {
            panic!("they were compared")
        };
        prop_assert_eq!(probe.entries().collect::<Vec<_>>(), &heard[..heard.len().min(50)]);
        prop_assert_eq!(metrics.costs().collect::<Vec<_>>(), &costs[..costs.len().min(63)]);
    }

    #[test]
    fn dsr_header_with_options(options in vec(dsr_option(), 0..6), next in any::<u8>(), tail in vec(any::<u8>(), 0..9)) {
        let options: Vec<_> = options.iter().map(Owned::borrow).collect();
        let mut scratch = Vec::new();
        let mut b = Builder::new(&mut scratch, next);
        for o in &options {
            b.push(o).expect("its fields fit");
        }
        let bytes = [b.finish(), &tail].concat();
        let p = Packet::new_checked(&bytes).expect("it was built");
        prop_assert_eq!((p.next_header(), p.header_len() % 4, p.payload()), (next, 0, &tail[..]));
        let read: Vec<_> = p.options().map(|o| o.expect("it was built")).collect();
        prop_assert_eq!(&read[..options.len()], &options[..]);
    }

    #[test]
    fn dsr_flow_state(hop_count in 0u8..128, flow_id in any::<u16>(), next in any::<u8>()) {
        let mut scratch = Vec::new();
        let state = FlowState { hop_count, flow_id };
        let p = Packet::new_checked(Builder::flow_state(&mut scratch, next, state)).expect("it was built");
        prop_assert_eq!((p.flow_state(), p.next_header()), (Some(state), next));
    }

    #[test]
    fn aodv_route_request(flags in any::<[bool; 5]>(), hop_count in any::<u8>(), id in any::<u32>(),
                          destination in addr(), seqs in any::<[u32; 2]>(), originator in addr()) {
        aodv(&Message::Rreq(Rreq {
            join: flags[0], repair: flags[1], gratuitous: flags[2], destination_only: flags[3], unknown_seq: flags[4],
            hop_count, id, destination, destination_seq: seqs[0], originator, originator_seq: seqs[1],
        }));
    }

    #[test]
    fn aodv_route_reply(flags in any::<[bool; 2]>(), prefix_size in 0u8..32, hop_count in any::<u8>(),
                        destination in addr(), seqs in any::<[u32; 2]>(), originator in addr()) {
        aodv(&Message::Rrep(Rrep {
            repair: flags[0], ack_required: flags[1], prefix_size, hop_count, destination, destination_seq: seqs[0],
            originator, lifetime_ms: seqs[1],
        }));
    }

    #[test]
    fn aodv_route_error(no_delete in any::<bool>(), list in vec((addr(), any::<u32>()), 1..=255)) {
        let list: Vec<_> = list.into_iter().map(|(destination, seq)| Unreachable { destination, seq }).collect();
        aodv(&Message::Rerr(Rerr { no_delete, unreachable: list[..].into() }));
    }

    #[test]
    fn aodv_extensions(millis in any::<u32>(), kind in 2u8.., data in vec(any::<u8>(), 0..=255)) {
        let list = [Extension::HelloInterval { millis }, Extension::Unknown { kind, data: &data }];
        let mut out = vec![0; list[0].buffer_len() + list[1].buffer_len()];
        list[0].emit(&mut out).expect("it fits");
        list[1].emit(&mut out[list[0].buffer_len()..]).expect("it fits");
        prop_assert_eq!(extensions(&out).collect::<Result<Vec<_>, _>>(), Ok(list.to_vec()));
    }

    #[test]
    fn dsdv_update(list in vec((addr(), any::<u32>(), any::<u32>()), 1..150)) {
        let list: Vec<_> =
            list.into_iter().map(|(destination, hop_count, seq)| UpdateEntry { destination, hop_count, seq }).collect();
        let update = Update::from(&list[..]);
        let mut out = vec![0; update.buffer_len()];
        update.emit(&mut out).expect("there are entries");
        prop_assert_eq!(Update::parse(&out).map(|u| u.iter().collect::<Vec<_>>()), Ok(list));
    }

    #[test]
    fn ipv4_header(src in addr(), dst in addr(), bytes in any::<[u8; 3]>(), id in any::<u16>(), df in any::<bool>(),
                   mf in any::<bool>(), fragment_offset in 0u16..0x2000, payload in vec(any::<u8>(), 0..50)) {
        let r = ipv4::Repr {
            protocol: bytes[0], ttl: bytes[1], tos: bytes[2], id, dont_fragment: df, more_fragments: mf,
            fragment_offset, ..ipv4::Repr::new(src, dst, 0, payload.len() as u16)
        };
        let mut out = vec![0; r.buffer_len()];
        r.emit(&mut out);
        out.extend_from_slice(&payload);
        prop_assert_eq!(ipv4::Repr::parse(&out), Ok(r));
        prop_assert_eq!(ipv4::Packet::new_checked(&out).map(|p| p.payload()), Ok(&payload[..]));
    }

    #[test]
    fn udp_datagram(src in addr(), dst in addr(), ports in any::<[u16; 2]>(), payload in vec(any::<u8>(), 0..50)) {
        let r = udp::Repr { src_port: ports[0], dst_port: ports[1], payload_len: payload.len() as u16 };
        let mut out = vec![0; r.buffer_len()];
        out[udp::HEADER_LEN..].copy_from_slice(&payload);
        r.emit(&mut out, src, dst);
        prop_assert_eq!(udp::Repr::parse(&out, src, dst), Ok(r));
        prop_assert_ne!(udp::Packet::new_checked(&out).map(|p| p.checksum()), Ok(0));
    }

    #[test]
    fn icmp_message(which in 0..5, code in any::<u8>(), word in any::<[u16; 2]>(), data in vec(any::<u8>(), 0..50)) {
        let r = match which {
            0 => icmp::Repr::EchoRequest { ident: word[0], seq: word[1], data: &data },
            1 => icmp::Repr::EchoReply { ident: word[0], seq: word[1], data: &data },
            2 => icmp::Repr::DestinationUnreachable { code, next_hop_mtu: word[0], original: &data },
            3 => icmp::Repr::TimeExceeded { code, original: &data },
            _ => icmp::Repr::ParameterProblem { code, pointer: word[0] as u8, original: &data },
        };
        let mut out = vec![0xee; r.buffer_len()];
        r.emit(&mut out);
        prop_assert_eq!(icmp::Repr::parse(&out), Ok(r));
    }

    #[test]
    fn arp_message(request in any::<bool>(), a in mac(), b in mac(), x in addr(), y in addr(), ether_type in any::<u16>()) {
        let operation = if request { arp::Operation::Request } else { arp::Operation::Reply };
        let r = arp::Repr { operation, sender_mac: a, sender: x, target_mac: b, target: y };
        let mut out = vec![0xee; r.buffer_len()];
        r.emit(&mut out);
        prop_assert_eq!(arp::Repr::parse(&out), Ok(r));
        let r = llc::Repr { ether_type };
        let mut out = vec![0xee; r.buffer_len()];
        r.emit(&mut out);
        prop_assert_eq!(llc::Repr::parse(&out), Ok(r));
    }

    #[test]
    fn dot11_header(which in 0..4, duration_us in any::<u16>(), retry in any::<bool>(), more_fragments in any::<bool>(),
                    receiver in mac(), transmitter in mac(), bssid in mac(), sequence in 0u16..4096, fragment in 0u8..16) {
        let r = match which {
            0 => dot11::Repr::Rts { duration_us, retry, receiver, transmitter },
            1 => dot11::Repr::Cts { duration_us, receiver },
            2 => dot11::Repr::Ack { duration_us, receiver },
            _ => dot11::Repr::Data(dot11::Data {
                duration_us, retry, more_fragments, receiver, transmitter, bssid, sequence, fragment,
            }),
        };
        let mut out = vec![0xee; r.buffer_len()];
        r.emit(&mut out);
        prop_assert_eq!(dot11::Repr::parse(&out), Ok(r));
    }

    #[test]
    fn radiotap_header(flags in option::of(any::<u8>()), rate_500kbps in option::of(any::<u8>()),
                       channel in option::of(any::<[u16; 2]>()), signal_dbm in option::of(any::<i8>()),
                       noise_dbm in option::of(any::<i8>()), tx_flags in option::of(any::<u16>()),
                       data_retries in option::of(any::<u8>()), frame in vec(any::<u8>(), 0..9)) {
        let channel = channel.map(|[mhz, flags]| radiotap::Channel { mhz, flags });
        let r = radiotap::Repr { flags, rate_500kbps, channel, signal_dbm, noise_dbm, tx_flags, data_retries };
        let mut out = vec![0xee; r.buffer_len()];
        r.emit(&mut out);
        out.extend_from_slice(&frame);
        prop_assert_eq!(radiotap::split(&out), Ok((r, &frame[..])));
    }
}

fn aodv(m: &Message<'_>) {
    let mut out = vec![0xee; m.buffer_len()];
    m.emit(&mut out).expect("its fields fit");
    assert_eq!(Message::parse(&out).as_ref(), Ok(m));
}
