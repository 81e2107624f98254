//! Nodes that talk to each other, and an outsider who hears everything.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use wayhop_core::{Mac, Packet, PacketMeta, Pool, Purpose, Span, Time, stream};
use wayhop_wire::auth::Carrier;
use wayhop_wire::{aodv, dsdv, dsr, ipv4, udp};

use crate::{Auth, Key, Keys, Verdict};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const ALL: Ipv4Addr = Ipv4Addr::BROADCAST;
const CARRIERS: [Carrier; 3] = [Carrier::Aodv, Carrier::Dsr, Carrier::Dsdv];

fn keys(list: &[(u8, u8)]) -> Keys {
    Keys::new(list.iter().map(|&(id, octet)| Key::new(id, &[octet; 32]).unwrap()).collect(), true).unwrap()
}
fn node(carrier: Carrier, own: Ipv4Addr, list: &[(u8, u8)]) -> Auth {
    Auth::new(keys(list), carrier, own, stream(7, Purpose::Authentication, u64::from(own.to_bits())))
}
fn mac(of: Ipv4Addr) -> Mac {
    Mac::from_addr(of)
}
fn ms(t: u64) -> Time {
    Time::ZERO + Span::from_millis(t)
}

/// A routing packet from `from` with `body` behind the protocol's header.
fn packet(carrier: Carrier, from: Ipv4Addr, body: &[u8]) -> Packet {
    let (number, head) = if carrier == Carrier::Dsr { (48, dsr::HEADER_LEN) } else { (17, udp::HEADER_LEN) };
    let mut p = Pool::new().zeroed(ipv4::HEADER_LEN + head + body.len(), PacketMeta::default());
    let bytes = p.bytes_mut();
    ipv4::Repr::new(from, ALL, number, (head + body.len()) as u16).emit(bytes);
    let (_, rest) = bytes.split_at_mut(ipv4::HEADER_LEN);
    rest[head..].copy_from_slice(body);
    let port = match carrier {
        Carrier::Dsr => {
            rest[..4].copy_from_slice(&[59, 0, 0, body.len() as u8]);
            return p;
        }
        Carrier::Aodv => aodv::PORT,
        Carrier::Dsdv => dsdv::PORT,
    };
    udp::Repr { src_port: port, dst_port: port, payload_len: body.len() as u16 }.emit(rest, from, ALL);
    p
}
fn sealed(a: &mut Auth, carrier: Carrier, from: Ipv4Addr, body: &[u8]) -> Packet {
    let mut p = packet(carrier, from, body);
    a.seal(&mut p, mac(from), ALL);
    p
}
fn open(b: &mut Auth, at: u64, p: &Packet) -> Verdict {
    b.open(ms(at), &mut p.clone(), mac(A), ALL).verdict
}

/// `b` challenges `a`, which answers. Returns the answer's verdict.
fn meet(a: &mut Auth, b: &mut Auth, carrier: Carrier, at: u64) -> Verdict {
    let hello = sealed(a, carrier, A, &[1; 12]);
    let Verdict::Unknown(Some(challenge)) = open(b, at, &hello) else { panic!("it is not challenged") };
    let mut request = Pool::new().zeroed(0, PacketMeta::default());
    b.ask(&mut request, challenge, mac(B), A);
    let to = if challenge.to_all { ALL } else { A };
    let Verdict::Challenge { answer: Some(nonce), ask: _ } = a.open(ms(at), &mut request, mac(B), to).verdict
    else {
        panic!("the challenge is not answered")
    };
    let mut reply = Pool::new().zeroed(0, PacketMeta::default());
    a.answer(&mut reply, nonce, mac(A), B);
    b.open(ms(at), &mut reply, mac(A), B).verdict
}

#[test]
fn a_message_counts_once_after_one_exchange_and_arrives_as_it_was() {
    for carrier in CARRIERS {
        let (mut a, mut b) = (node(carrier, A, &[(1, 7)]), node(carrier, B, &[(1, 7)]));
        assert_eq!(meet(&mut a, &mut b, carrier, 0), Verdict::Verified);
        let p = sealed(&mut a, carrier, A, &[9; 24]);
        assert_eq!(p.len(), packet(carrier, A, &[9; 24]).len() + carrier.overhead());
        let mut opened = p.clone();
        assert_eq!(b.open(ms(1), &mut opened, mac(A), ALL).verdict, Verdict::Good, "{carrier:?}");
        assert_eq!(opened.bytes(), packet(carrier, A, &[9; 24]).bytes());
        assert_eq!(open(&mut b, 2, &p), Verdict::Replayed);
        // One that overtook another.
        let [first, second] = [1, 2].map(|n| sealed(&mut a, carrier, A, &[n; 12]));
        assert_eq!([open(&mut b, 3, &second), open(&mut b, 3, &first)], [Verdict::Good; 2]);
        assert_eq!(open(&mut b, 4, &first), Verdict::Replayed);
        assert_eq!(open(&mut b, 4, &packet(carrier, A, &[1; 12])), Verdict::Missing);
    }
}

#[test]
fn another_link_address_receiver_or_key_fails() {
    for carrier in CARRIERS {
        let (mut a, mut b) = (node(carrier, A, &[(1, 7)]), node(carrier, B, &[(1, 7)]));
        meet(&mut a, &mut b, carrier, 0);
        let p = sealed(&mut a, carrier, A, &[9; 12]);
        assert_eq!(b.open(ms(1), &mut p.clone(), mac(B), ALL).verdict, Verdict::Failed);
        assert_eq!(b.open(ms(1), &mut p.clone(), mac(A), B).verdict, Verdict::Failed);
        for other in [(1, 8), (2, 7)] {
            assert_eq!(open(&mut node(carrier, B, &[other]), 1, &p), Verdict::Failed);
        }
        // Its own packet, sent back.
        assert_eq!(open(&mut a, 1, &p), Verdict::Failed);
        assert_eq!(open(&mut b, 1, &p), Verdict::Good);
    }
}

#[test]
fn a_node_that_began_anew_is_challenged_and_its_old_packets_do_not_count() {
    for carrier in CARRIERS {
        let (mut a, mut b) = (node(carrier, A, &[(1, 7)]), node(carrier, B, &[(1, 7)]));
        meet(&mut a, &mut b, carrier, 0);
        let old: Vec<Packet> = (0..20).map(|n| sealed(&mut a, carrier, A, &[n; 12])).collect();
        a.reboot();
        assert_eq!(meet(&mut a, &mut b, carrier, 10), Verdict::Verified);
        for p in &old {
            assert!(matches!(open(&mut b, 20, p), Verdict::Unknown(_)));
        }
        let new = sealed(&mut a, carrier, A, &[9; 12]);
        assert_eq!(open(&mut b, 30, &new), Verdict::Good, "replays of an earlier life do not end this one");
        // The one that forgot everything itself.
        b.reboot();
        assert!(matches!(open(&mut b, 40, &new), Verdict::Unknown(Some(_))));
        assert_eq!(meet(&mut a, &mut b, carrier, 400), Verdict::Verified);
        assert_eq!(open(&mut b, 410, &new), Verdict::Replayed);
    }
}

#[test]
fn keys_change_one_node_after_the_other() {
    let carrier = Carrier::Aodv;
    let (mut a, mut b) = (node(carrier, A, &[(1, 7)]), node(carrier, B, &[(1, 7)]));
    meet(&mut a, &mut b, carrier, 0);
    // Both learn the new key, then sign with it, then forget the old one.
    for (of_a, of_b) in [
        (&[(1, 7), (2, 8)][..], &[(1, 7)][..]),
        (&[(1, 7), (2, 8)], &[(1, 7), (2, 8)]),
        (&[(2, 8), (1, 7)], &[(1, 7), (2, 8)]),
        (&[(2, 8), (1, 7)], &[(2, 8), (1, 7)]),
        (&[(2, 8)], &[(2, 8), (1, 7)]),
    ] {
        a.set_keys(keys(of_a));
        b.set_keys(keys(of_b));
        let p = sealed(&mut a, carrier, A, &[9; 12]);
        assert_eq!(open(&mut b, 1, &p), Verdict::Good, "{of_a:?} {of_b:?}");
    }
    b.set_keys(keys(&[(3, 9)]));
    let p = sealed(&mut a, carrier, A, &[9; 12]);
    assert_eq!(open(&mut b, 1, &p), Verdict::Failed);
}

#[test]
fn a_million_frames_of_an_outsider_change_nothing() {
    let carrier = Carrier::Aodv;
    let (mut a, mut b) = (node(carrier, A, &[(1, 7)]), node(carrier, B, &[(1, 7)]));
    meet(&mut a, &mut b, carrier, 0);
    let heard: Vec<Packet> = (0..200).map(|n| sealed(&mut a, carrier, A, &[n; 24])).collect();
    for p in &heard {
        assert_eq!(open(&mut b, 1, p), Verdict::Good);
    }
    let mut rng = stream(3, Purpose::Host, 0);
    let mut pool = Pool::new();
    for i in 0..1_000_000_u64 {
        let mut p = pool.copy(&heard[rng.below(200) as usize]);
        // A third is replayed as it is, a third changed somewhere behind the IP header's lengths, a third has a block of random
        // octets.
        let len = p.len() as u64;
        match i % 3 {
            0 => {}
            1 => p.bytes_mut()[20 + rng.below(len - 20) as usize] ^= 1 << rng.below(8),
            _ => p.bytes_mut()[28 + 24 + 4..].iter_mut().for_each(|o| *o = rng.bits() as u8),
        }
        let verdict = b.open(ms(2), &mut p, mac(A), ALL).verdict;
        assert!(matches!(verdict, Verdict::Replayed | Verdict::Failed | Verdict::Missing), "{verdict:?}");
        pool.recycle(p);
    }
    assert_eq!((b.neighbours(), b.counts().challenges), (1, 1));
    let next = sealed(&mut a, carrier, A, &[9; 24]);
    assert_eq!(open(&mut b, 3, &next), Verdict::Good);
}

#[test]
fn what_is_no_routing_packet_stays_as_it_is() {
    let mut a = node(Carrier::Aodv, A, &[(1, 7)]);
    let mut data = packet(Carrier::Dsdv, A, &[1; 12]);
    let before = data.bytes().to_vec();
    assert!(!a.concerns(data.bytes()));
    a.seal(&mut data, mac(A), ALL);
    assert_eq!(data.bytes(), before);
    // An unprivileged program of this host may send to the port, but not from it.
    let mut forged = packet(Carrier::Aodv, A, &[1; 12]);
    forged.bytes_mut()[20..22].copy_from_slice(&40_000_u16.to_be_bytes());
    a.seal(&mut forged, mac(A), ALL);
    assert_eq!(forged.len(), packet(Carrier::Aodv, A, &[1; 12]).len());
}

proptest! {
    #[test]
    fn no_octets_panic_and_none_count(octets in proptest::collection::vec(any::<u8>(), 0..200), cut in 0usize..120) {
        for carrier in CARRIERS {
            let mut b = node(carrier, B, &[(1, 7)]);
            let mut whole = sealed(&mut node(carrier, A, &[(1, 7)]), carrier, A, &octets);
            whole.truncate(whole.len().saturating_sub(cut + 1));
            for mut p in [Pool::new().packet(&octets, PacketMeta::default()), whole, packet(carrier, A, &octets)] {
                let _ = b.concerns(p.bytes());
                b.seal(&mut p.clone(), mac(B), ALL);
                let verdict = b.open(ms(0), &mut p, mac(A), ALL).verdict;
                prop_assert!(matches!(verdict, Verdict::Missing | Verdict::Failed), "{:?}", verdict);
            }
        }
    }

    #[test]
    fn stripping_undoes_sealing(body in proptest::collection::vec(any::<u8>(), 1..200)) {
        for carrier in CARRIERS {
            let mut a = node(carrier, A, &[(1, 7)]);
            let mut p = sealed(&mut a, carrier, A, &body);
            prop_assert!(ipv4::Repr::parse(p.bytes()).is_ok());
            a.strip(&mut p);
            let original = packet(carrier, A, &body);
            prop_assert_eq!(p.bytes(), original.bytes());
        }
    }
}
