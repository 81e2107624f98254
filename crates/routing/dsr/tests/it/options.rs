//! Options in a header: their order, their padding, what may occur once, what a node does not implement. RFC 4728
//! sections 6, 8.1.2, 8.1.4 and 8.1.6.

use crate::common::{
    Ip, RERR, RREP, SOURCE_ROUTE, UDP, addrs, at, cached, delivered_at, error, full_mesh, isolated, line_of,
    net, option, option_of, options, packet, profile, reasons, reply, request, routes, sent_with,
    source_route, teach,
};
use wayhop_core::DropReason;
use wayhop_dsr::Params;
use wayhop_testkit::addr;

#[test]
fn reserved_bits_are_ignored_when_received() {
    let mut net = full_mesh(5, &profile("rfc"));
    // The fixed header's seven bits, and the Source Route's four.
    let mut sr = source_route(0, 0, 1, &[1]);
    sr[2] |= 0x3c;
    let mut p = packet(&Ip::new(0, 2), &[sr], &UDP);
    p[21] = 0x7f;
    net.inject(1, addr(0), false, &p);
    // The Route Reply's seven and the Route Error's four.
    let mut r = reply(&[2, 3, 4]);
    r[2] = 0x7f;
    let mut e = error(0, 3, 1, 4);
    e[3] = 0xf0;
    net.inject(1, addr(2), false, &packet(&Ip::new(4, 1), &[r, e], &[]));
    net.run_until(at(1.1));
    assert_eq!(delivered_at(&net, 2).len(), 1);
    assert!(routes(&net, 1).contains(&vec![1, 2, 3]), "learned from the reply, cut by the error");
    assert_eq!(net.notes("error_received").len(), 1);
    assert!(cached(&net, 1).iter().all(|(_, external)| !external), "the reserved bits are not L");
    assert_eq!(reasons(&net), []);
}

#[test]
fn reserved_bits_are_sent_as_zero() {
    // A run with discoveries, answers, errors and salvage.
    let mut net = net(6, &profile("rfc"));
    net.line();
    net.up(1, 4);
    for k in 0..40 {
        net.send_at(at(1.0 + f64::from(k) * 0.1), 0, 5, 1);
    }
    net.down_at(at(2.0), 1, 4);
    net.up_at(at(3.0), 0, 2);
    net.run_until(at(6.0));
    let mut seen = [0; 3];
    for n in 0..6 {
        for (_, _, p) in net.sent_by(n).filter(|s| s.2[9] == 48) {
            assert_eq!(p[21], 0, "F and the reserved bits of the fixed header");
            for (kind, data) in options(p) {
                match kind {
                    RREP => assert_eq!(data[0] & 0x7f, 0),
                    RERR => assert_eq!(data[1] & 0xf0, 0),
                    SOURCE_ROUTE => assert_eq!(data[0] & 0x3c, 0),
                    _ => continue,
                }
                seen[usize::from(kind == RERR) + 2 * usize::from(kind == SOURCE_ROUTE)] += 1;
            }
        }
    }
    assert!(seen.iter().all(|n| *n > 0), "{seen:?}");
}

#[test]
fn options_at_any_offset_are_read() {
    for padding in [vec![], vec![224], vec![0, 0], vec![0, 1, 0], vec![224; 5]] {
        let mut net = line_of(3, &profile("rfc"));
        let p = packet(&Ip::new(0, 2), &[padding.clone(), source_route(0, 0, 1, &[1])], &UDP);
        net.inject(1, addr(0), false, &p);
        net.run_until(at(1.1));
        assert_eq!(delivered_at(&net, 2).len(), 1, "behind {padding:?}");
    }
}

#[test]
fn reports_count_in_the_order_of_the_packet() {
    // A reply with the link 2 to 3, and an error about it: the later of the two holds.
    let (learned, broken) = (reply(&[1, 2, 3]), error(0, 2, 0, 3));
    for (both, known) in
        [([learned.clone(), broken.clone()], vec![0, 1, 2]), ([broken, learned], vec![0, 1, 2, 3])]
    {
        let mut net = isolated(4, &profile("rfc"));
        net.inject(0, addr(1), false, &packet(&Ip::new(1, 0), &both, &[]));
        net.run_until(at(1.1));
        assert_eq!(routes(&net, 0), [known]);
    }
}

#[test]
fn each_route_reply_and_each_route_error_of_a_packet_counts() {
    let mut net = isolated(9, &profile("rfc"));
    net.inject(0, addr(1), false, &packet(&Ip::new(1, 0), &[reply(&[1, 2, 3]), reply(&[1, 4, 5])], &[]));
    net.run_until(at(1.1));
    assert_eq!(routes(&net, 0), [[0, 1, 2, 3], [0, 1, 4, 5]]);
    net.inject(0, addr(1), false, &packet(&Ip::new(1, 0), &[error(0, 2, 0, 3), error(0, 4, 0, 5)], &[]));
    net.run_until(at(1.2));
    assert_eq!(routes(&net, 0), [[0, 1, 2], [0, 1, 4]]);
}

#[test]
fn two_source_routes_in_one_header_are_malformed() {
    let mut net = line_of(3, &profile("rfc"));
    let sr = source_route(0, 0, 1, &[1]);
    net.inject(1, addr(0), false, &packet(&Ip::new(0, 2), &[sr.clone(), sr], &UDP));
    net.run_until(at(1.1));
    assert_eq!(reasons(&net), [DropReason::Malformed]);
    assert_eq!(net.sent_by(1).count(), 0);
}

#[test]
fn a_second_dsr_options_header_is_malformed() {
    let mut net = line_of(3, &profile("rfc"));
    let inner = [17, 0, 0, 0];
    let mut p = packet(&Ip::new(0, 1), &[source_route(0, 0, 0, &[])], &[&inner[..], &UDP].concat());
    p[20] = 48;
    net.inject(1, addr(0), false, &p);
    net.run_until(at(1.1));
    assert_eq!(reasons(&net), [DropReason::Malformed]);
    assert_eq!(delivered_at(&net, 1).len(), 0);
}

#[test]
fn an_option_that_passes_the_end_of_its_header_ends_the_packet() {
    for bad in
        [vec![96, 200, 0, 1], vec![1, 6, 0, 1], vec![2, 4, 0, 1, 2, 3], vec![3, 9, 1, 0, 0, 0, 0, 0, 0, 0, 0]]
    {
        let mut net = line_of(3, &profile("rfc"));
        net.inject(1, addr(0), false, &packet(&Ip::new(0, 2), std::slice::from_ref(&bad), &UDP));
        net.run_until(at(1.1));
        assert_eq!(reasons(&net), [DropReason::Malformed], "{bad:?}");
        net.assert_conserved();
    }
}

#[test]
fn a_source_route_to_a_group_ends_the_packet() {
    for group in [[224, 0, 1, 1], [255, 255, 255, 255]] {
        let mut net = line_of(3, &profile("rfc"));
        let ip = Ip { to: group.into(), ..Ip::new(0, 2) };
        for left in [0, 1] {
            net.inject(1, addr(0), false, &packet(&ip, &[source_route(0, 0, left, &[1])], &UDP));
        }
        net.run_until(at(1.1));
        assert_eq!(reasons(&net), [DropReason::Malformed; 2]);
        assert_eq!(delivered_at(&net, 1).len(), 0);
    }
}

#[test]
fn options_of_flow_state_are_unknown_while_it_is_off() {
    // Types 128 and 129: ignore, and answer with a Route Error (sections 7.2.1 and 7.2.2).
    for (o, kind) in [(option(128, &[0, 60]), 128), (option(129, &[0, 7, 10, 0, 0, 3]), 129)] {
        for on in [false, true] {
            let mut net = line_of(3, &Params { flow_state: on, ..profile("rfc") });
            let p = packet(&Ip::new(0, 2), &[o.clone(), source_route(0, 0, 1, &[1])], &UDP);
            net.inject(1, addr(0), false, &p);
            net.run_until(at(1.1));
            assert_eq!(delivered_at(&net, 2).len(), 1, "ignored, and the packet goes on");
            let mut told = sent_with(&net, 1, RERR);
            told.retain(|s| s.1 == addr(0));
            let expected = [vec![3, 0], addrs(&[1, 0]), vec![kind]].concat();
            let reports = told.iter().filter(|s| option_of(&s.2, RERR).as_ref() == Some(&expected)).count();
            assert_eq!(reports, usize::from(!on));
            let kept = net.sent_by(1).any(|(_, to, p)| to == addr(2) && option_of(p, kind).is_some());
            assert!(on || kept, "as it came");
        }
    }
}

#[test]
fn the_error_about_an_unknown_option_copies_the_salvage_count() {
    let mut net = line_of(4, &profile("rfc"));
    teach(&mut net, 2, &[1, 0]);
    let p = packet(&Ip::new(0, 3), &[option(0x91, &[0; 2]), source_route(0, 3, 1, &[1, 2])], &UDP);
    net.inject(2, addr(1), false, &p);
    net.run_until(at(1.1));
    let told = sent_with(&net, 2, RERR);
    assert_eq!(told[0].2[16..20], addr(0).octets(), "to the IP source (section 8.1.6)");
    assert_eq!(option_of(&told[0].2, RERR).unwrap(), [vec![3, 3], addrs(&[2, 0]), vec![0x91]].concat());
}

#[test]
fn an_overheard_unknown_option_is_not_reported() {
    let mut net = net(4, &profile("rfc"));
    net.line();
    net.up(0, 3);
    net.run_until(at(1.0));
    let p = packet(&Ip::new(3, 2), &[option(0x11, &[0; 2]), source_route(0, 0, 2, &[0, 1])], &UDP);
    net.inject(0, addr(3), false, &p);
    net.run_until(at(1.5));
    assert_eq!((0..4).map(|n| sent_with(&net, n, RERR).len()).sum::<usize>(), 0);
}

#[test]
fn a_request_beside_an_option_to_drop_is_dropped_without_an_error() {
    let mut net = line_of(3, &profile("rfc"));
    let p = packet(&Ip::broadcast(0, 9), &[request(5, 9, &[]), option(0xf1, &[0; 2])], &[]);
    net.inject(1, addr(0), true, &p);
    net.run_until(at(1.1));
    assert_eq!(net.sent_by(1).count(), 0);
    assert_eq!(reasons(&net), [DropReason::Policy]);
}
