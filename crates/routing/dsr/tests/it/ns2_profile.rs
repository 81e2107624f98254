//! Choices of ns-2.35 that only the profile `ns2` makes: `dsr/dsragent.cc`, `dsr/requesttable.cc`, `dsr/constants.h`.

use crate::common::{
    Ip, RERR, RREP, RREQ, addrs, at, error, isolated, line_of, net, option_of, packet, profile, reasons,
    reply, request, sent_with, source_route,
};
use wayhop_core::{DropReason, NodeId, Priority, Span};
use wayhop_testkit::{EventKind, addr};

#[test]
fn the_ns2_profile_asks_sixteen_hops_far() {
    let mut net = net(2, &profile("ns2"));
    net.send_at(at(1.0), 0, 1, 1);
    net.run_until(at(1.2));
    let ttls: Vec<_> = sent_with(&net, 0, RREQ).iter().map(|s| s.2[8]).collect();
    assert_eq!(ttls, [1, 16]);
}

#[test]
fn the_ns2_profile_has_sixteen_nodes_on_its_longest_route() {
    // Initiator, fourteen passed and this node make sixteen: propagated, as ns-2 does, although only a target that is
    // not asked to append itself could use it.
    for (passed, propagated) in [(14, 1), (15, 0)] {
        let mut net = isolated(40, &profile("ns2"));
        let list: Vec<_> = (2..2 + passed).collect();
        let p = packet(&Ip::broadcast(0, 9), &[request(5, 39, &list)], &[]);
        net.inject(1, addr(1 + passed), true, &p);
        net.run_until(at(1.1));
        assert_eq!(sent_with(&net, 1, RREQ).len(), propagated, "{passed} passed");
    }
}

#[test]
fn the_ns2_profile_takes_a_lower_identification_for_a_duplicate() {
    for (name, heard) in [("rfc", 3), ("ns2", 2)] {
        let mut net = isolated(3, &profile(name));
        // 65535 and 0 are neighbours; 65534 comes late.
        for id in [65_535, 0, 65_534] {
            net.inject(1, addr(0), true, &packet(&Ip::broadcast(0, 9), &[request(id, 9, &[])], &[]));
        }
        net.run_until(at(1.1));
        assert_eq!(sent_with(&net, 1, RREQ).len(), heard, "{name}");
    }
}

#[test]
fn the_ns2_profile_releases_packets_thirty_milliseconds_apart() {
    for (name, apart) in [("rfc", 0.0), ("ns2", 0.030)] {
        let mut net = net(3, &profile(name));
        net.config.airtime = Span::from_micros(1);
        net.up(0, 1);
        for k in 0..4 {
            net.send_at(at(1.0 + f64::from(k) * 1e-4), 0, 2, 1);
        }
        net.run_until(at(1.001));
        net.up(1, 2);
        net.inject(0, addr(1), false, &packet(&Ip::new(2, 0), &[reply(&[1, 2])], &[]));
        net.run_until(at(1.5));
        let left: Vec<_> = net
            .sent_by(0)
            .filter(|s| s.2[16..20] == addr(2).octets())
            .map(|s| s.0.at.as_secs_f64())
            .collect();
        assert_eq!(left.len(), 4, "{name}");
        for pair in left.windows(2) {
            assert!((pair[1] - pair[0] - apart).abs() < 1e-4, "{name}: {left:?}");
        }
    }
}

#[test]
fn the_ns2_profile_has_no_blacklist() {
    let mut net = isolated(5, &profile("ns2"));
    let failing = packet(&Ip::new(4, 0), &[reply(&[2, 1, 3, 4]), source_route(0, 0, 2, &[3, 1, 2])], &[]);
    net.inject(1, addr(3), false, &failing);
    net.run_until(at(1.1));
    assert_eq!(net.inspect(1).table("blacklist").count(), 0);
    net.inject(1, addr(2), true, &packet(&Ip::broadcast(0, 9), &[request(5, 9, &[2])], &[]));
    net.run_until(at(1.2));
    let on = sent_with(&net, 1, RREQ).iter().filter(|s| option_of(&s.2, RREQ).unwrap().len() > 6).count();
    assert_eq!(on, 1, "the request of the neighbour that did not take the reply goes on");
    assert!(sent_with(&net, 1, RREP).len() <= 2);
    assert!(reasons(&net).iter().all(|r| *r != DropReason::Malformed));
}

/// A TCP header with these control bits, followed by `payload` bytes.
fn segment(flags: u8, payload: usize) -> Vec<u8> {
    let mut s = vec![0; 20 + payload];
    s[12..14].copy_from_slice(&[5 << 4, flags]);
    s
}

#[test]
fn the_ns2_profile_sends_bare_acknowledgements_before_data() {
    // `queue/dsr-priqueue.cc`: packets of type PT_ACK have a queue of their own, before that of other data. ACK is bit 4,
    // SYN bit 1, FIN bit 0 (RFC 9293 section 3.1).
    const ACK: u8 = 1 << 4;
    let segments =
        [segment(ACK, 100), segment(ACK, 0), segment(ACK | 1 << 1, 0), segment(ACK | 1, 0), segment(0, 0)];
    let bare = [Priority::Data, Priority::High, Priority::Data, Priority::Data, Priority::Data];
    // With a source route, behind a Flow State header and a source route, and with UDP in place of TCP.
    for (name, header, protocol, expected) in [
        ("ns2", 0, 6, bare),
        ("ns2", 4, 6, bare),
        ("ns2", 0, 17, [Priority::Data; 5]),
        ("rfc", 0, 6, [Priority::Data; 5]),
    ] {
        let mut net = line_of(4, &profile(name));
        for (id, s) in segments.iter().enumerate() {
            let ip = Ip { id: 100 + id as u16, ..Ip::new(0, 3) };
            let mut p = packet(&ip, &[source_route(0, 0, 2, &[1, 2])], s);
            p[20] = protocol;
            if header > 0 {
                // Next Header, F and Hop Count, Flow ID (section 7.1 of RFC 4728).
                p.splice(20..20, [48, 0x80, 0, 9]);
                let length = (p.len() as u16).to_be_bytes();
                p[2..4].copy_from_slice(&length);
                let sum = u16::from_be_bytes([p[10], p[11]]) - header;
                p[10..12].copy_from_slice(&sum.to_be_bytes());
            }
            net.inject(1, addr(0), false, &p);
        }
        net.run_until(at(2.0));
        let mut classes: Vec<_> = (net.record().iter())
            .filter_map(|r| match &r.what {
                EventKind::Sent { priority, bytes, .. } if r.node == NodeId(1) && bytes[5] >= 100 => {
                    Some((bytes[5], *priority))
                }
                _ => None,
            })
            .collect();
        classes.sort_by_key(|c| c.0);
        let classes: Vec<_> = classes.into_iter().map(|c| c.1).collect();
        assert_eq!(classes, expected, "{name}, header of {header}, protocol {protocol}");
    }
}

#[test]
fn the_ns2_profiles_first_node_passes_on_errors_that_it_found_in_requests() {
    // `dsr/dsragent.h`: GRAT_ROUTE_ERROR, the addressee of such an error, is 0, and so is the first node's address.
    for (name, me, passed_on) in [("ns2", 0, true), ("ns2", 1, false), ("rfc", 0, false)] {
        let mut net = isolated(6, &profile(name));
        let heard = packet(&Ip::broadcast(5, 9), &[error(0, 2, 5, 3), request(7, 4, &[])], &[]);
        net.inject(me, addr(5), true, &heard);
        net.send_at(at(1.5), me, 4, 1);
        net.run_until(at(1.6));
        let own: Vec<_> =
            sent_with(&net, me, RREQ).into_iter().filter(|s| s.2[12..16] == addr(me).octets()).collect();
        let expected = passed_on.then(|| [vec![1, 0], addrs(&[2, me, 3])].concat());
        assert_eq!(option_of(&own[0].2, RERR), expected, "{name}, node {me}");
    }
}
