//! DSR packets written by hand from the figures of RFC 4728 sections 6 and 7.

use std::net::Ipv4Addr;

use wayhop_wire::Error;
use wayhop_wire::dsr::{
    AddrList, Builder, DsrOption, FlowState, LinkMetrics, Location, Packet, Probe, RouteError,
    RouteErrorKind, RouteReply, RouteRequest, SourceRoute, UnknownAction, options, unknown_action,
    unknown_wants_error,
};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const C: Ipv4Addr = Ipv4Addr::new(192, 168, 3, 4);

/// The option reads as these octets say, and writes them.
fn both_ways(octets: &[u8], option: DsrOption<'_>) {
    let mut read = options(octets);
    assert_eq!(read.next(), Some(Ok(option)));
    assert_eq!(read.next(), None);
    assert_eq!(option.buffer_len(), octets.len());
    let mut out = vec![0xee; octets.len()];
    option.emit(&mut out).expect("its fields fit");
    assert_eq!(out, octets);
}

#[test]
fn route_request_is_figure_6_2() {
    #[rustfmt::skip]
    both_ways(
        &[
            1, 14, 0x12, 0x34,
            192, 168, 3, 4,
            10, 0, 0, 1,
            10, 0, 0, 2,
        ],
        DsrOption::RouteRequest(RouteRequest { id: 0x1234, target: C, addresses: AddrList::from(&[A, B][..]) }),
    );
    both_ways(
        &[1, 6, 0, 1, 10, 0, 0, 2],
        DsrOption::RouteRequest(RouteRequest { id: 1, target: B, addresses: AddrList::EMPTY }),
    );
}

#[test]
fn route_reply_is_figure_6_3() {
    both_ways(
        &[2, 9, 0x80, 10, 0, 0, 2, 192, 168, 3, 4],
        DsrOption::RouteReply(RouteReply { last_hop_external: true, addresses: AddrList::from(&[B, C][..]) }),
    );
}

#[test]
fn route_error_is_figure_6_4_with_each_type_specific_part() {
    let error = |kind, info: &[u8], meaning| {
        let mut octets = vec![3, 10 + info.len() as u8, kind, 0x0f, 10, 0, 0, 1, 10, 0, 0, 2];
        octets.extend_from_slice(info);
        both_ways(
            &octets,
            DsrOption::RouteError(RouteError { salvage: 15, source: A, destination: B, kind: meaning }),
        );
    };
    error(1, &[192, 168, 3, 4], RouteErrorKind::NodeUnreachable(C));
    error(2, &[], RouteErrorKind::FlowStateNotSupported);
    error(3, &[0x42], RouteErrorKind::OptionNotSupported(0x42));
    error(
        129,
        &[192, 168, 3, 4, 0xab, 0xcd],
        RouteErrorKind::UnknownFlow { destination: C, flow_id: 0xabcd },
    );
    error(130, &[192, 168, 3, 4], RouteErrorKind::DefaultFlowUnknown { destination: C });
    error(77, &[1, 2, 3], RouteErrorKind::Unknown { kind: 77, info: &[1, 2, 3] });
}

#[test]
fn acknowledgement_request_is_figure_6_5_and_7_4_1() {
    both_ways(&[160, 2, 0xbe, 0xef], DsrOption::AckRequest { id: 0xbeef, source: None });
    both_ways(&[160, 6, 0xbe, 0xef, 10, 0, 0, 1], DsrOption::AckRequest { id: 0xbeef, source: Some(A) });
}

#[test]
fn acknowledgement_is_figure_6_6() {
    both_ways(
        &[32, 10, 0xbe, 0xef, 10, 0, 0, 2, 10, 0, 0, 1],
        DsrOption::Ack { id: 0xbeef, source: B, destination: A },
    );
}

#[test]
fn source_route_is_figure_6_7_with_every_flag_in_its_bit() {
    // F L 0000 SSSS NNNNNN: 1 0 0000 0101 100001, then all the others set.
    both_ways(
        &[96, 10, 0x81, 0x61, 10, 0, 0, 1, 10, 0, 0, 2],
        DsrOption::SourceRoute(SourceRoute {
            first_hop_external: true,
            last_hop_external: false,
            salvage: 5,
            segments_left: 33,
            addresses: AddrList::from(&[A, B][..]),
        }),
    );
    both_ways(
        &[96, 2, 0x42, 0x9e],
        DsrOption::SourceRoute(SourceRoute {
            first_hop_external: false,
            last_hop_external: true,
            salvage: 10,
            segments_left: 30,
            addresses: AddrList::EMPTY,
        }),
    );
}

#[test]
fn padding_is_figures_6_8_and_6_9() {
    both_ways(&[224], DsrOption::Pad1);
    both_ways(&[0, 0], DsrOption::PadN(0));
    both_ways(&[0, 3, 0, 0, 0], DsrOption::PadN(3));
}

#[test]
fn flow_options_are_figures_7_2() {
    both_ways(&[128, 2, 0x0e, 0x10], DsrOption::Timeout { seconds: 3600 });
    both_ways(&[129, 6, 0x01, 0x02, 192, 168, 3, 4], DsrOption::FlowId { flow_id: 0x0102, destination: C });
}

#[test]
fn flow_state_header_is_figure_7_1() {
    let p = Packet::new_checked(&[17, 0x85, 0x01, 0x02, 0xaa]).expect("it is complete");
    assert_eq!(p.flow_state(), Some(FlowState { hop_count: 5, flow_id: 0x0102 }));
    assert_eq!((p.next_header(), p.options().next(), p.payload()), (17, None, &[0xaa][..]));
    let mut scratch = Vec::new();
    let out = Builder::flow_state(&mut scratch, 17, FlowState { hop_count: 127, flow_id: 0xfffe });
    assert_eq!(out, [17, 0xff, 0xff, 0xfe]);
}

#[test]
fn header_is_figure_6_1_and_padded_to_a_multiple_of_four() {
    let build = |o: &[DsrOption<'_>]| {
        let mut scratch = vec![9; 50];
        let mut b = Builder::new(&mut scratch, 17);
        for o in o {
            b.push(o).expect("it fits");
        }
        b.finish().to_vec()
    };
    let reply = |n| {
        DsrOption::RouteReply(RouteReply {
            last_hop_external: false,
            addresses: AddrList::from(&[A, B][..n]),
        })
    };
    // 3 octets and Pad1; 11 + 1 (unknown, without data: 2) + PadN of 2, or of 3.
    assert_eq!(build(&[]), [17, 0, 0, 0]);
    assert_eq!(build(&[reply(0)]), [17, 0, 0, 4, 2, 1, 0, 224]);
    assert_eq!(build(&[reply(0), reply(0)]), [17, 0, 0, 8, 2, 1, 0, 2, 1, 0, 0, 0]);
    assert_eq!(build(&[reply(0), reply(0), reply(0)]), [17, 0, 0, 12, 2, 1, 0, 2, 1, 0, 2, 1, 0, 0, 1, 0]);
    let p = [17, 0x7f, 0, 4, 2, 1, 0, 224, 1, 2];
    let p = Packet::new_checked(&p).expect("reserved bits are ignored");
    assert_eq!((p.next_header(), p.header_len(), p.flow_state(), p.payload()), (17, 8, None, &[1, 2][..]));
}

#[test]
fn several_options_come_in_order_with_their_places() {
    let octets = [224, 160, 2, 0, 7, 0, 1, 0, 32, 10, 0, 7, 10, 0, 0, 2, 10, 0, 0, 1];
    let found: Vec<_> = options(&octets).located().map(|(r, o)| (r, o.map(|o| o.kind()))).collect();
    assert_eq!(found, [(0..1, Ok(224)), (1..5, Ok(160)), (5..8, Ok(0)), (8..20, Ok(32))]);
}

#[test]
fn a_broken_option_does_not_hide_the_next_but_a_broken_length_does() {
    // A Route Request whose list is not a multiple of four octets, then an acknowledgement request.
    let octets = [1, 7, 0, 1, 10, 0, 0, 2, 9, 160, 2, 0, 7];
    let read: Vec<_> = options(&octets).collect();
    assert_eq!(read, [Err(Error::Length), Ok(DsrOption::AckRequest { id: 7, source: None })]);
    for octets in [&[160, 3, 0, 7][..], &[1][..], &[96, 255, 0, 0]] {
        let read: Vec<_> = options(octets).collect();
        assert_eq!(read, [Err(Error::Truncated)]);
    }
    // Too short for their fixed fields.
    for octets in [&[1, 5, 0, 0, 0, 0, 0][..], &[2, 0], &[3, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0], &[96, 1, 0]] {
        assert_eq!(options(octets).next(), Some(Err(Error::Length)), "{octets:?}");
    }
}

#[test]
fn extensions_that_rfc_4728_leaves_room_for_are_accepted() {
    let read = |octets: &'static [u8]| options(octets).next().expect("one").expect("well-formed");
    assert_eq!(
        read(&[160, 3, 0, 7, 9]),
        DsrOption::AckRequest { id: 7, source: None },
        "section 7.4.1: the source is there from length 6 on"
    );
    assert_eq!(read(&[128, 4, 0, 7, 9, 9]), DsrOption::Timeout { seconds: 7 });
    let error = read(&[3, 16, 1, 0, 10, 0, 0, 1, 10, 0, 0, 2, 192, 168, 3, 4, 9, 9]);
    assert!(matches!(
        error,
        DsrOption::RouteError(RouteError { kind: RouteErrorKind::NodeUnreachable(C), .. })
    ));
}

#[test]
fn a_location_is_44_octets_of_fixed_point_numbers() {
    // 40.443322 N, 79.945278 W, heading 270.5, 11.111 m/s, as the figure in `location.rs` lays it out.
    let mut octets = vec![30, 42, 1, 0];
    octets.extend(40_443_322_000_i64.to_be_bytes());
    octets.extend((-79_945_278_000_i64).to_be_bytes());
    octets.extend([0x10, 0x1f, 0x80, 0xa0, 0, 0, 0x2b, 0x67]);
    octets.extend([0; 16]);
    assert_eq!(octets.len(), 44);
    let location = Location {
        latitude_ndeg: 40_443_322_000,
        longitude_ndeg: -79_945_278_000,
        heading_udeg: 270_500_000,
        speed_mm_per_s: 11_111,
    };
    both_ways(&octets, DsrOption::Location(location));
    assert_eq!((unknown_action(30), unknown_wants_error(30)), (UnknownAction::Ignore, false));
    // What shares the type and is no location stays unknown: another subtype, length, or a place beyond the poles.
    for (at, value) in [(2, 9), (4, 0x70), (20, 0xff)] {
        let mut other = octets.clone();
        other[at] = value;
        both_ways(&other, DsrOption::Unknown { kind: 30, data: &other[2..] });
    }
    both_ways(&[30, 1, 1], DsrOption::Unknown { kind: 30, data: &[1] });
    let beyond = DsrOption::Location(Location { latitude_ndeg: 90_000_000_001, ..location });
    assert_eq!(beyond.check(), Err(Error::Value("latitude")));
}

#[test]
fn a_probe_lists_neighbours_and_how_many_of_their_probes_were_heard() {
    let mut buf = Vec::new();
    let heard = [(Ipv4Addr::new(10, 0, 0, 7), 9), (Ipv4Addr::new(10, 0, 0, 8), 255)];
    let octets = [30, 12, 2, 0, 10, 0, 0, 7, 9, 10, 0, 0, 8, 255];
    both_ways(&octets, DsrOption::Probe(Probe::build(&mut buf, heard)));
    both_ways(&[30, 2, 2, 0], DsrOption::Probe(Probe::build(&mut buf, [])));
    // A list that ends within an entry is no probe.
    both_ways(&[30, 4, 2, 0, 10, 0], DsrOption::Unknown { kind: 30, data: &[2, 0, 10, 0] });
}

#[test]
fn link_metrics_are_expected_transmission_counts_in_units_of_a_1024th() {
    let mut buf = Vec::new();
    // 1.0 and 2.5; the third link is unknown.
    let octets = [30, 14, 3, 0, 0, 0, 4, 0, 0, 0, 10, 0, 0, 0, 0, 0];
    both_ways(&octets, DsrOption::LinkMetrics(LinkMetrics::build(&mut buf, [1024, 2560, 0])));
    both_ways(&[30, 2, 3, 0], DsrOption::LinkMetrics(LinkMetrics::EMPTY));
    both_ways(&[30, 3, 3, 0, 1], DsrOption::Unknown { kind: 30, data: &[3, 0, 1] });
}

#[test]
fn unknown_options_say_what_to_do_with_them() {
    both_ways(&[0x45, 2, 7, 8], DsrOption::Unknown { kind: 0x45, data: &[7, 8] });
    assert_eq!(
        [0x05, 0x25, 0x45, 0x65, 0x85, 0xa5, 0xc5, 0xe5].map(|k| (unknown_action(k), unknown_wants_error(k))),
        [
            (UnknownAction::Ignore, false),
            (UnknownAction::Remove, false),
            (UnknownAction::Mark, false),
            (UnknownAction::Drop, false),
            (UnknownAction::Ignore, true),
            (UnknownAction::Remove, true),
            (UnknownAction::Mark, true),
            (UnknownAction::Drop, true),
        ]
    );
}

#[test]
fn what_does_not_fit_its_field_is_refused() {
    let many = vec![A; 64];
    let list = |n| AddrList::from(&many[..n]);
    let route = |n, salvage, segments_left| {
        DsrOption::SourceRoute(SourceRoute {
            first_hop_external: false,
            last_hop_external: false,
            salvage,
            segments_left,
            addresses: list(n),
        })
    };
    let request = |n| DsrOption::RouteRequest(RouteRequest { id: 0, target: B, addresses: list(n) });
    let reply = |n| DsrOption::RouteReply(RouteReply { last_hop_external: false, addresses: list(n) });
    assert_eq!(route(63, 15, 63).check(), Ok(()));
    assert_eq!(route(64, 0, 0).check(), Err(Error::Full));
    assert_eq!(route(1, 16, 0).check(), Err(Error::Value("salvage")));
    assert_eq!(route(1, 0, 64).check(), Err(Error::Value("segments left")));
    assert_eq!((request(62).check(), request(63).check()), (Ok(()), Err(Error::Full)));
    assert_eq!((reply(63).check(), reply(64).check()), (Ok(()), Err(Error::Full)));
}

#[test]
fn a_second_header_in_the_same_buffer_allocates_nothing() {
    let route = vec![A; 16];
    let mut scratch = Vec::new();
    let mut build = |id| {
        let mut b = Builder::new(&mut scratch, 17);
        b.push(&DsrOption::RouteRequest(RouteRequest { id, target: C, addresses: (&route).into() }))
            .expect("it fits");
        b.finish().as_ptr()
    };
    let first = build(1);
    assert!((2..1_000).all(|id| build(id) == first), "the buffer stays where it is");
}

#[test]
fn a_built_header_never_passes_its_length_field() {
    let many = vec![A; 63];
    let reply =
        DsrOption::RouteReply(RouteReply { last_hop_external: false, addresses: AddrList::from(&many) });
    let mut scratch = Vec::new();
    let mut b = Builder::new(&mut scratch, 59);
    while b.push(&reply).is_ok() {}
    let out = b.finish();
    assert!((65_000..=65_539).contains(&out.len()), "{}", out.len());
    let p = Packet::new_checked(out).expect("it was built");
    assert!(p.payload().is_empty());
    assert!(p.options().all(|o| o.is_ok()));
}

#[test]
fn the_next_listed_node_follows_from_segments_left() {
    let route = |segments_left| SourceRoute {
        first_hop_external: false,
        last_hop_external: false,
        salvage: 0,
        segments_left,
        addresses: AddrList::from(&[A, B, C][..]),
    };
    assert_eq!([3, 2, 1, 0, 4].map(|s| route(s).next_index()), [Some(0), Some(1), Some(2), None, None]);
}

#[test]
fn an_address_list_finds_duplicates_and_goes_both_ways() {
    let l = AddrList::from(&[A, B, C][..]);
    assert_eq!((l.len(), l.first(), l.last(), l.at(3)), (3, Some(A), Some(C), None));
    assert_eq!(l.iter().rev().collect::<Vec<_>>(), [C, B, A]);
    assert!(!l.has_duplicates() && l.contains(B) && l.position(C) == Some(2));
    assert!(AddrList::from(&[A, B, A][..]).has_duplicates());
    assert!(!AddrList::EMPTY.has_duplicates() && AddrList::EMPTY.last().is_none());
}
