//! ICMP "host unreachable" on Route Errors, for transport protocols.

use crate::common::{
    Ip, RERR, addrs, at, delivered_at, fix_checksum, isolated, linked, packet, profile, reply, sent_with,
    source_route, teach,
};
use wayhop_dsr::Params;
use wayhop_testkit::addr;
use wayhop_wire::{icmp, ipv4};

/// The first octets of a segment: ports and sequence number.
const SEGMENT: [u8; 20] = [0xc0, 0, 0xc0, 1, 1, 2, 3, 4, 0, 0, 0, 0, 0x50, 0x10, 0, 0, 0, 0, 0, 0];
const TCP: u8 = 6;

fn params() -> Params {
    Params { failure_notices: true, ..profile("rfc") }
}

/// A segment from node `from` to node `to`, as its source gave it to DSR, with octets of options in its place if any.
fn segment(from: usize, to: usize, options: &[Vec<u8>]) -> Vec<u8> {
    let mut p = packet(&Ip::new(from, to), options, &SEGMENT);
    let at = 20;
    if options.is_empty() {
        p[9] = TCP;
    } else {
        p[at] = TCP;
    }
    fix_checksum(&mut p);
    p
}

#[test]
fn a_route_error_carries_the_notice_to_the_segments_source() {
    let mut net = linked(5, &params(), &[(0, 1), (1, 2)]);
    // 0 - 1 - 2 - 3 - 4, and 2 cannot reach 3.
    net.inject(2, addr(1), false, &segment(0, 4, &[source_route(0, 0, 2, &[1, 2, 3])]));
    net.run_until(at(1.5));
    let (_, to, error) = &sent_with(&net, 2, RERR)[0];
    assert_eq!((*to, &error[16..20]), (addr(1), &addrs(&[0])[..]));
    // RFC 4728 section 6.1: Next Header of the DSR header, then, behind the options, the message (RFC 792).
    let options = usize::from(u16::from_be_bytes([error[22], error[23]]));
    assert_eq!(error[20], 1, "ICMP follows");
    let message = &error[24 + options..];
    assert_eq!((message[0], message[1], message.len()), (3, 1, 8 + 20 + 8));
    let quoted = &message[8..];
    assert_eq!((quoted[9], &quoted[12..20], &quoted[20..]), (TCP, &addrs(&[0, 4])[..], &SEGMENT[..8]));
    // At the source the error is read, and the message goes up without DSR's header.
    let up = delivered_at(&net, 0);
    assert_eq!(up.len(), 1);
    let ip = ipv4::Packet::new_checked(&up[0]).expect("it is IP");
    assert_eq!((ip.protocol(), ip.src(), ip.dst()), (1, addr(2), addr(0)));
    assert!(matches!(
        icmp::Repr::parse(ip.payload()),
        Ok(icmp::Repr::DestinationUnreachable { code: 1, .. })
    ));
    assert_eq!(net.notes("error_received").len(), 1);
    net.assert_conserved();
}

#[test]
fn a_node_tells_its_own_stack_when_its_first_link_breaks_and_there_is_no_other_route() {
    for other in [false, true] {
        let mut net = isolated(4, &params());
        teach(&mut net, 0, &[1, 2]);
        if other {
            teach(&mut net, 0, &[3, 2]);
        }
        net.send_to(0, addr(2), 1);
        net.run_until(at(1.2));
        // Over the other route the packet fails, too, and then none is left.
        assert_eq!(delivered_at(&net, 0).len(), 1, "{other}");
    }
}

#[test]
fn no_notice_travels_unless_it_is_asked_for_nor_about_control_packets() {
    for (params, options) in [
        (profile("rfc"), vec![source_route(0, 0, 2, &[1, 2, 3])]),
        (params(), vec![reply(&[4, 3, 2, 1, 0]), source_route(0, 0, 2, &[1, 2, 3])]),
    ] {
        let mut net = linked(5, &params, &[(0, 1), (1, 2)]);
        let control = options.len() > 1;
        let p = if control { packet(&Ip::new(0, 4), &options, &[]) } else { segment(0, 4, &options) };
        net.inject(2, addr(1), false, &p);
        net.run_until(at(1.5));
        assert!(sent_with(&net, 2, RERR).iter().all(|e| e.2[20] == 59), "nothing follows the options");
        assert!(delivered_at(&net, 0).is_empty());
    }
}
