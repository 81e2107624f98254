//! Mobile IP, and packets in packets.

use std::net::Ipv4Addr;

use wayhop_wire::mobile_ip::{AuthKind, Discovery, Message, Reply, Request};
use wayhop_wire::{checksum, ip_in_ip, ipv4};

/// Agent discovery, registration, and tunnels: what was read and written again reads the same.
pub(crate) fn mobile_ip(bytes: &[u8]) {
    discovery(bytes);
    registration(bytes);
    tunnel(bytes);
}

fn discovery(bytes: &[u8]) {
    // The same octets with a right checksum.
    let mut message = bytes.to_vec();
    if message.len() >= 8 {
        message[2..4].fill(0);
        let sum = !checksum::sum(0, &message);
        message[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    let Ok(read) = Discovery::parse(&message) else { return };
    let mut out = vec![0; read.buffer_len()];
    read.emit(&mut out);
    assert_eq!(Discovery::parse(&out), Ok(read));
    if let Discovery::Advertisement(a) = read {
        assert!(a.routers().count() <= 255);
        assert!(a.agent.is_none_or(|agent| agent.care_of().count() <= 62));
    }
}

fn registration(bytes: &[u8]) {
    let Ok(read) = Message::parse(bytes) else { return };
    let (mut out, extensions) = match read {
        Message::Request(r, e) => {
            let mut out = vec![0; Request::LEN];
            r.emit(&mut out);
            (out, e)
        }
        Message::Reply(r, e) => {
            let mut out = vec![0; Reply::LEN];
            r.emit(&mut out);
            assert!(!r.code.text().is_empty());
            (out, e)
        }
    };
    for e in extensions.iter() {
        let at = out.len();
        out.resize(at + e.buffer_len(), 0);
        e.emit(&mut out[at..]).expect("it was read");
    }
    assert_eq!(out.len(), bytes.len(), "every octet belongs to something");
    for kind in [AuthKind::MobileHome, AuthKind::MobileForeign, AuthKind::ForeignHome] {
        let up_to = extensions.up_to(kind);
        assert_eq!(up_to.is_some(), extensions.authentication(kind).is_some());
        assert!(up_to.is_none_or(|part| bytes.starts_with(part)));
        assert!(extensions.authentication(kind).is_none_or(|a| bytes.starts_with(a.protects)));
    }
    // But for reserved bits, it reads the same.
    let again = Message::parse(&out).expect("it was written");
    match (read, again) {
        (Message::Request(a, _), Message::Request(b, e)) => {
            assert_eq!(a, b);
            assert_eq!(e.iter().count(), extensions.iter().count());
        }
        (Message::Reply(a, _), Message::Reply(b, _)) => assert_eq!(a, b),
        _ => panic!("another kind"),
    }
}

fn tunnel(bytes: &[u8]) {
    let Ok(packet) = ipv4::Packet::new_checked(bytes) else { return };
    if let Ok(inner) = ip_in_ip::inner(&packet) {
        assert!(inner.total_len() + packet.header_len() <= packet.total_len());
    }
    let (src, dst) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    let outer = ip_in_ip::Repr { src, dst, ttl: 9, id: 7 };
    let mut out = vec![0; outer.buffer_len(&packet)];
    if outer.emit(&packet, &mut out).is_ok() {
        let whole = ipv4::Packet::new_checked(&out).expect("it was written");
        let inner = ip_in_ip::inner(&whole).expect("it was written");
        assert_eq!((inner.header(), inner.payload()), (packet.header(), packet.payload()));
    }
}
