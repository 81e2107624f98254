//! No parser panics on any bytes, and reading, writing and reading again gives the same; checksums of any bytes.

use std::net::Ipv4Addr;

use proptest::collection::vec;
use proptest::prelude::*;
use wayhop_core::{PacketMeta, Pool};
use wayhop_wire::auth;

/// Random octets, most of them from the few values that lengths and types have.
fn octets() -> impl Strategy<Value = Vec<u8>> {
    let octet = prop_oneof![
        4 => any::<u8>(),
        4 => 0u8..20,
        1 => prop::sample::select(vec![32, 48, 64, 69, 96, 128, 129, 130, 160, 224, 255]),
    ];
    vec(octet, 0..120)
}

fn behind(prefix: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    octets().prop_map(move |tail| [prefix, &tail[..]].concat())
}

/// A header with options: its length says so, and they are random.
fn header_of_tcp() -> impl Strategy<Value = Vec<u8>> {
    let kinds = prop::sample::select(vec![0u8, 1, 2, 3, 4, 5, 8, 30]);
    (5u8..16, vec((kinds, 0u8..40), 0..20), octets()).prop_map(|(words, options, tail)| {
        let mut b = vec![0; 12];
        b.extend([words << 4, 0x10, 1, 0, 0, 0, 0, 0]);
        b.extend(options.iter().flat_map(|(kind, len)| [*kind, *len, 7, 9]));
        b.extend(tail);
        b
    })
}

/// A packet of messages whose lengths are right, but not what is in them.
fn messages_of_olsr() -> impl Strategy<Value = Vec<u8>> {
    vec((1u8..6, vec(prop_oneof![0u8..12, any::<u8>()], 8..40)), 1..4).prop_map(|messages| {
        let all = messages.into_iter().flat_map(|(kind, tail)| {
            let len = 4 + tail.len() as u8;
            [vec![kind, 0x86, 0, len], tail].concat()
        });
        let all: Vec<u8> = all.collect();
        [vec![0, 4 + all.len() as u8, 0, 1], all].concat()
    })
}

/// The same of Babel.
fn tlvs_of_babel() -> impl Strategy<Value = Vec<u8>> {
    vec((0u8..20, vec(prop_oneof![0u8..5, any::<u8>()], 0..30)), 0..6).prop_map(|tlvs| {
        let all: Vec<u8> =
            tlvs.into_iter().flat_map(|(kind, data)| [vec![kind, data.len() as u8], data].concat()).collect();
        [vec![42, 2, 0, all.len() as u8], all].concat()
    })
}

/// The fixed part of a message, and extensions.
fn extended(head: &'static [u8]) -> impl Strategy<Value = Vec<u8>> {
    let kinds = prop::sample::select(vec![32u8, 33, 34, 130, 131, 200, 7]);
    vec((kinds, vec(any::<u8>(), 0..24)), 0..6).prop_map(|list| {
        let extensions =
            list.into_iter().flat_map(|(kind, value)| [vec![kind, value.len() as u8], value].concat());
        head.iter().copied().chain(extensions).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn ip(b in prop_oneof![octets(), behind(&[0x45, 0, 0, 40]), behind(&[0x46, 0, 0, 60])]) {
        crate::exercise::ip(&b);
    }
    #[test]
    fn tcp(b in prop_oneof![octets(), header_of_tcp()]) {
        crate::exercise::tcp(&b);
    }
    #[test]
    fn dot11(b in prop_oneof![octets(), behind(&[8, 0]), behind(&[0x88, 3]), behind(&[0xb4, 0])]) {
        crate::exercise::dot11(&b);
    }
    #[test]
    fn radiotap(b in prop_oneof![octets(), behind(&[0, 0, 30, 0])]) {
        crate::exercise::radiotap(&b);
    }
    #[test]
    fn dsr(b in prop_oneof![octets(), behind(&[17, 0, 0, 24]), behind(&[59, 0, 0, 60, 1, 10]), behind(&[6, 0, 0, 48, 96])]) {
        crate::exercise::dsr(&b);
    }
    #[test]
    fn aodv(b in prop_oneof![octets(), behind(&[1]), behind(&[2]), behind(&[3, 0, 0, 1]), behind(&[4])]) {
        crate::exercise::aodv(&b);
    }
    #[test]
    fn dsdv(b in prop_oneof![octets(), vec(any::<u8>(), 0..9).prop_map(|b| b.repeat(12))]) {
        crate::exercise::dsdv(&b);
        crate::exercise::auth(&b);
    }
    #[test]
    fn olsr(b in prop_oneof![octets(), messages_of_olsr()]) {
        crate::exercise::olsr(&b);
    }
    #[test]
    fn babel(b in prop_oneof![octets(), behind(&[42, 2, 0, 60]), tlvs_of_babel()]) {
        crate::exercise::babel(&b);
    }
    #[test]
    fn mobile_ip(b in prop_oneof![
        octets(), behind(&[9, 0, 0, 0, 0, 2, 0, 3]), behind(&[9, 0, 0, 0, 0, 2, 0, 3, 16, 6]), behind(&[1, 0x22, 0, 60]),
        extended(&[1; 24]), extended(&[3; 20]), behind(&[0x45, 0, 0, 60]),
    ]) {
        crate::exercise::mobile_ip(&b);
    }
    #[test]
    fn checksum(start: u16, b in prop_oneof![octets(), vec(any::<u8>(), 0..2_000)], cut in 0usize..2_000) {
        // RFC 1071, section 1: words of 16 bits, an odd octet filled up with zero, carries added back.
        let plain = b.chunks(2).map(|w| u64::from(w[0]) << 8 | w.get(1).map_or(0, |l| u64::from(*l)));
        let mut sum = u64::from(start) + plain.sum::<u64>();
        while sum > 0xffff {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        prop_assert_eq!(u64::from(wayhop_wire::checksum::sum(start, &b)), sum);
        let (head, tail) = b.split_at((cut & !1).min(b.len() & !1));
        let parts = wayhop_wire::checksum::sum(wayhop_wire::checksum::sum(start, head), tail);
        prop_assert_eq!(u64::from(parts), sum, "in two parts");
    }
}

/// An exchange whose last 36 octets look like the block of a message: behind the type come its length and kind, in a nonce.
#[test]
fn an_exchange_is_one_whatever_its_nonces_look_like() {
    let looks: [u64; 3] = [0x6522_0100_0000_0000, 0x7d22_0100_0000_0000, 0x6522_0100_0000_0000];
    for (format, looks) in crate::exercise::FORMATS.into_iter().zip(looks) {
        let mut e = auth::Exchange::new(1);
        assert!(e.answer(Ipv4Addr::BROADCAST, looks) && e.answer(Ipv4Addr::LOCALHOST, 2));
        let transmitter = Ipv4Addr::new(10, 0, 0, 1);
        let block = auth::Block {
            key_id: 1,
            kind: auth::BlockKind::Exchange(e),
            transmitter,
            index: 5,
            counter: 6,
            tag: [7; auth::TAG_LEN],
        };
        let mut p = Pool::new().zeroed(0, PacketMeta::default());
        format.write_empty(&mut p, transmitter);
        format.insert(&mut p, &block).unwrap();
        let end = p.bytes().len() - 36;
        assert_eq!(p.bytes()[end..end + 4], looks.to_be_bytes()[..4], "{}", format.number());
        assert_eq!(format.find(p.bytes()), Some(block));
    }
}
