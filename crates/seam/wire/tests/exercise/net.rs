use std::net::{Ipv4Addr, Ipv6Addr};

use wayhop_wire::tcp::{self, TcpOption};
use wayhop_wire::{aodv as wire_aodv, arp, dsdv as wire_dsdv, icmp, icmpv6, ip, ipv4, ipv6, udp};

/// IPv4, and UDP, ICMP and ARP.
pub(crate) fn ip(bytes: &[u8]) {
    ipv4_only(bytes);
    let (src, dst) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    if let Ok(r) = udp::Repr::parse(bytes, src, dst) {
        let payload = udp::Packet::new_checked(bytes).expect("it was parsed").payload();
        let mut out = vec![0; r.buffer_len()];
        out[udp::HEADER_LEN..].copy_from_slice(payload);
        r.emit(&mut out, src, dst);
        assert_eq!(udp::Repr::parse(&out, src, dst), Ok(r));
        assert_eq!(udp::Packet::new_checked(&out).expect("it was parsed").payload(), payload);
    }
    if let Ok(r) = icmp::Repr::parse(bytes) {
        let mut out = vec![0; r.buffer_len()];
        r.emit(&mut out);
        assert_eq!(icmp::Repr::parse(&out), Ok(r));
    }
    if let Ok(r) = arp::Repr::parse(bytes) {
        let mut out = [0; arp::LEN];
        r.emit(&mut out);
        assert_eq!(out, bytes[..arp::LEN]);
    }
}

/// IPv6 with its extension headers, and ICMPv6.
pub(crate) fn ip6(bytes: &[u8]) {
    let _ = ip_of_either(bytes);
    if let Ok(p) = ipv6::Packet::new_snapped(bytes) {
        assert!(p.payload().len() + ipv6::HEADER_LEN <= bytes.len());
        if let Ok(upper) = p.upper() {
            assert_eq!(upper.header_len + upper.payload.len(), ipv6::HEADER_LEN + p.payload().len());
        }
        let mut changed = bytes.to_vec();
        let limit = ipv6::decrement_hop_limit(&mut changed).expect("a complete header");
        assert_eq!(limit, p.hop_limit().saturating_sub(1));
        wayhop_wire::unreachable6_for(bytes, p.dst());
    }
    if let Ok(r) = ipv6::Repr::parse(bytes) {
        let mut out = vec![0; r.buffer_len() + usize::from(r.payload_len)];
        r.emit(&mut out);
        assert_eq!(ipv6::Repr::parse(&out), Ok(r));
    }
    // The same octets as a message whose checksum is right.
    let (src, dst) = (Ipv6Addr::LOCALHOST, Ipv6Addr::UNSPECIFIED);
    let mut message = bytes.to_vec();
    if message.len() >= icmpv6::HEADER_LEN {
        message[2..4].fill(0);
        let number = ipv6::next_header::ICMPV6;
        let pseudo = wayhop_wire::checksum::pseudo_header6(src, dst, number, message.len() as u32);
        let sum = !wayhop_wire::checksum::sum(pseudo, &message);
        message[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    if let Ok(r) = icmpv6::Repr::parse(&message, src, dst) {
        let mut out = vec![0; r.buffer_len()];
        r.emit(&mut out, src, dst);
        assert_eq!(icmpv6::Repr::parse(&out, src, dst), Ok(r));
    }
}

/// What both families have.
fn ip_of_either(bytes: &[u8]) -> Option<()> {
    let p = ip::Packet::new_checked(bytes).ok()?;
    assert!(p.total_len <= bytes.len() && p.payload.len() <= p.total_len);
    Some(())
}

/// TCP segments: any octets, and the same with a right checksum.
pub(crate) fn tcp(bytes: &[u8]) {
    let (src, dst) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    let _ = tcp::QuotedSegment::parse(bytes);
    let Ok(p) = tcp::Packet::new_checked(bytes) else { return };
    assert_eq!(p.header_len() + p.payload().len(), bytes.len());
    let mut octets = tcp::HEADER_LEN;
    for option in p.options() {
        octets += match option {
            TcpOption::MaxSegmentSize(_) => 4,
            TcpOption::WindowScale(_) => 3,
            TcpOption::SackPermitted => 2,
            TcpOption::Sack(blocks) => 2 + 8 * blocks.iter().count(),
            TcpOption::Other { data, .. } => 2 + data.len(),
        };
    }
    assert!(octets <= p.header_len(), "options are within the header");
    let mut right = bytes.to_vec();
    right.truncate(65_535);
    right[16..18].fill(0);
    let pseudo = wayhop_wire::checksum::pseudo_header(src, dst, ipv4::protocol::TCP, right.len() as u16);
    let sum = !wayhop_wire::checksum::sum(pseudo, &right);
    right[16..18].copy_from_slice(&sum.to_be_bytes());
    let Ok(r) = tcp::Repr::parse(&right, src, dst) else { panic!("its checksum is right") };
    if r.buffer_len() <= 60 {
        let mut out = vec![0; r.buffer_len()];
        out.extend_from_slice(tcp::Packet::new_checked(&right).expect("it was parsed").payload());
        r.emit(&mut out, src, dst);
        assert_eq!(tcp::Repr::parse(&out, src, dst), Ok(r));
    }
}

fn ipv4_only(bytes: &[u8]) {
    let Ok(p) = ipv4::Packet::new_snapped(bytes) else { return };
    assert_eq!(p.header().len(), p.options().len() + ipv4::HEADER_LEN);
    assert!(p.header().len() + p.payload().len() <= bytes.len());
    let _ = (p.tos(), p.id(), p.src(), p.dst(), p.fragment_offset(), p.checksum());

    let mut changed = bytes.to_vec();
    let ttl = ipv4::decrement_ttl(&mut changed).expect("a complete header");
    assert_eq!(ttl, p.ttl().saturating_sub(1));
    ipv4::set_tos(&mut changed, 0xb8).expect("a complete header");
    ipv4::set_dst(&mut changed, Ipv4Addr::new(1, 2, 3, 4)).expect("a complete header");
    let q = ipv4::Packet::new_snapped(&changed).expect("a complete header");
    assert_eq!(q.checksum_is_valid(), p.checksum_is_valid(), "an incremental update keeps right right");

    if let Ok(r) = ipv4::Repr::parse(bytes) {
        let mut out = vec![0; r.buffer_len() + usize::from(r.payload_len)];
        r.emit(&mut out);
        assert_eq!(ipv4::Repr::parse(&out), Ok(r));
    }
}

/// DSDV updates.
pub(crate) fn dsdv(bytes: &[u8]) {
    if let Ok(update) = wire_dsdv::Update::parse(bytes) {
        let mut out = vec![0; update.buffer_len()];
        update.emit(&mut out).expect("what was read can be written");
        assert_eq!(out, bytes);
        let _ = update.iter().filter(wire_dsdv::UpdateEntry::is_unreachable).count();
    }
}

/// AODV messages and extensions.
pub(crate) fn aodv(bytes: &[u8]) {
    if let Ok(m) = wire_aodv::Message::parse(bytes) {
        let mut out = vec![0; m.buffer_len()];
        m.emit(&mut out).expect("what was read can be written");
        assert_eq!(wire_aodv::Message::parse(&out), Ok(m));
        extensions(&bytes[m.buffer_len()..]);
    }
    extensions(bytes);
}

fn extensions(bytes: &[u8]) {
    let mut written = Vec::new();
    for e in wire_aodv::extensions(bytes) {
        let Ok(e) = e else { break };
        let at = written.len();
        written.resize(at + e.buffer_len(), 0);
        e.emit(&mut written[at..]).expect("what was read can be written");
        let _ = e.may_be_skipped();
    }
    assert_eq!(written, bytes[..written.len()]);
}
