//! Nodes that communicate, and an outsider who hears everything.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use wayhop_core::{Carrier, IfaceId, Mac, Packet, PacketMeta, Pool, Purpose, Span, Time, stream};
use wayhop_wire::auth::{BlockKind, Format};
use wayhop_wire::{aodv, dsdv, dsr, ipv4, udp};

use crate::{Auth, Key, Keys, Verdict};

const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const C: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);
const IFACE: IfaceId = IfaceId(0);
const ALL: Ipv4Addr = Ipv4Addr::BROADCAST;
const AODV: Format = Format::new(Carrier::UdpPort(aodv::PORT), &aodv::AUTHENTICATION);
const DSR: Format = Format::new(Carrier::IpProtocol(ipv4::protocol::DSR), &dsr::AUTHENTICATION);
const DSDV: Format = Format::new(Carrier::UdpPort(dsdv::PORT), &dsdv::AUTHENTICATION);
const FORMATS: [Format; 3] = [AODV, DSR, DSDV];

fn keys(list: &[(u8, u8)]) -> Keys {
    Keys::new(list.iter().map(|&(id, octet)| Key::new(id, &[octet; 32]).unwrap()).collect(), true).unwrap()
}
fn node(format: Format, own: Ipv4Addr, list: &[(u8, u8)]) -> Auth {
    Auth::new(keys(list), format, own, stream(7, Purpose::Authentication, u64::from(own.to_bits())))
}
fn mac(of: Ipv4Addr) -> Mac {
    Mac::from_addr(of)
}
fn ms(t: u64) -> Time {
    Time::ZERO + Span::from_millis(t)
}

/// A routing packet from `from` with `body` behind the protocol's header.
fn packet(format: Format, from: Ipv4Addr, body: &[u8]) -> Packet {
    let (number, head) = if format.is_udp() { (17, udp::HEADER_LEN) } else { (48, dsr::HEADER_LEN) };
    let mut p = Pool::new().zeroed(ipv4::HEADER_LEN + head + body.len(), PacketMeta::default());
    let bytes = p.bytes_mut();
    ipv4::Repr::new(from, ALL, number, (head + body.len()) as u16).emit(bytes);
    let (_, rest) = bytes.split_at_mut(ipv4::HEADER_LEN);
    rest[head..].copy_from_slice(body);
    let port = match format.number() {
        2 => {
            rest[..4].copy_from_slice(&[59, 0, 0, body.len() as u8]);
            return p;
        }
        1 => aodv::PORT,
        _ => dsdv::PORT,
    };
    udp::Repr { src_port: port, dst_port: port, payload_len: body.len() as u16 }.emit(rest, from, ALL);
    p
}
fn sealed(a: &mut Auth, format: Format, from: Ipv4Addr, body: &[u8]) -> Packet {
    let mut p = packet(format, from, body);
    a.seal(&mut p, mac(from), ALL);
    p
}
fn open(b: &mut Auth, at: u64, p: &Packet) -> Verdict {
    b.open(ms(at), IFACE, &mut p.clone(), mac(A), ALL).verdict
}

/// The exchange that a node sends at this time.
fn exchange(of: &mut Auth, own: Ipv4Addr, at: u64) -> Option<Packet> {
    of.begin_exchange(ms(at), IFACE).then(|| leave(of, own, ms(at)))
}
/// The exchange in the queue leaves.
fn leave(of: &mut Auth, own: Ipv4Addr, at: Time) -> Packet {
    let mut p = Pool::new().zeroed(0, PacketMeta::default());
    of.write_exchange(&mut p);
    assert!(of.is_empty_exchange(p.bytes()));
    of.seal_exchange(IFACE, &mut p, mac(own));
    assert!(of.is_exchange(p.bytes()) && !of.is_empty_exchange(p.bytes()));
    of.end_exchange(at, IFACE);
    p
}
/// What a node asks and answers in an exchange.
fn said(p: &Packet) -> (Vec<Ipv4Addr>, Vec<Ipv4Addr>) {
    let block = FORMATS.iter().find_map(|f| f.find(p.bytes()));
    let Some(BlockKind::Exchange(e)) = block.map(|b| b.kind) else { panic!("it is no exchange") };
    (e.asks().to_vec(), e.answers().iter().map(|a| a.0).collect())
}
fn hears(b: &mut Auth, at: u64, from: Ipv4Addr, p: &Packet) -> Verdict {
    b.open(ms(at), IFACE, &mut p.clone(), mac(from), ALL).verdict
}
const HEARD: Verdict = Verdict::Exchange { verifies: false };
const VERIFIED: Verdict = Verdict::Exchange { verifies: true };

/// `b` challenges `a`, which answers, within 20 ms. Returns the answer's verdict.
fn meet(a: &mut Auth, b: &mut Auth, format: Format, at: u64) -> Verdict {
    let hello = sealed(a, format, A, &[1; 12]);
    assert_eq!(open(b, at, &hello), Verdict::Unknown);
    let asks = exchange(b, B, at + 10).expect("the first is challenged within 10 ms");
    assert!(matches!(hears(a, at + 10, B, &asks), Verdict::Exchange { .. }));
    let answers = exchange(a, A, at + 20).expect("it answers within 10 ms");
    hears(b, at + 20, A, &answers)
}

#[test]
fn a_message_counts_once_after_one_exchange_and_arrives_as_it_was() {
    for format in FORMATS {
        let (mut a, mut b) = (node(format, A, &[(1, 7)]), node(format, B, &[(1, 7)]));
        assert_eq!(meet(&mut a, &mut b, format, 0), VERIFIED);
        let p = sealed(&mut a, format, A, &[9; 24]);
        assert_eq!(p.len(), packet(format, A, &[9; 24]).len() + format.overhead());
        let mut opened = p.clone();
        assert_eq!(
            b.open(ms(1), IFACE, &mut opened, mac(A), ALL).verdict,
            Verdict::Good,
            "{}",
            format.number()
        );
        assert_eq!(opened.bytes(), packet(format, A, &[9; 24]).bytes());
        assert_eq!(open(&mut b, 2, &p), Verdict::Replayed);
        // One that overtook another.
        let [first, second] = [1, 2].map(|n| sealed(&mut a, format, A, &[n; 12]));
        assert_eq!([open(&mut b, 3, &second), open(&mut b, 3, &first)], [Verdict::Good; 2]);
        assert_eq!(open(&mut b, 4, &first), Verdict::Replayed);
        assert_eq!(open(&mut b, 4, &packet(format, A, &[1; 12])), Verdict::Missing);
    }
}

#[test]
fn another_link_address_receiver_or_key_fails() {
    for format in FORMATS {
        let (mut a, mut b) = (node(format, A, &[(1, 7)]), node(format, B, &[(1, 7)]));
        meet(&mut a, &mut b, format, 0);
        let p = sealed(&mut a, format, A, &[9; 12]);
        assert_eq!(b.open(ms(1), IFACE, &mut p.clone(), mac(B), ALL).verdict, Verdict::Failed);
        assert_eq!(b.open(ms(1), IFACE, &mut p.clone(), mac(A), B).verdict, Verdict::Failed);
        for other in [(1, 8), (2, 7)] {
            assert_eq!(open(&mut node(format, B, &[other]), 1, &p), Verdict::Failed);
        }
        // Its own packet, sent back.
        assert_eq!(open(&mut a, 1, &p), Verdict::Failed);
        assert_eq!(open(&mut b, 1, &p), Verdict::Good);
    }
}

#[test]
fn a_node_that_began_anew_is_challenged_and_its_old_packets_do_not_count() {
    for format in FORMATS {
        let (mut a, mut b) = (node(format, A, &[(1, 7)]), node(format, B, &[(1, 7)]));
        meet(&mut a, &mut b, format, 0);
        let old: Vec<Packet> = (0..20).map(|n| sealed(&mut a, format, A, &[n; 12])).collect();
        a.reboot();
        assert_eq!(meet(&mut a, &mut b, format, 100), VERIFIED);
        for p in &old {
            assert_eq!(open(&mut b, 200, p), Verdict::Unknown);
        }
        let new = sealed(&mut a, format, A, &[9; 12]);
        assert_eq!(open(&mut b, 200, &new), Verdict::Good, "replays of an earlier life do not end this one");
        // The one that forgot everything itself.
        b.reboot();
        assert_eq!(open(&mut b, 300, &new), Verdict::Unknown);
        assert_eq!(meet(&mut a, &mut b, format, 300), VERIFIED);
        assert_eq!(open(&mut b, 410, &new), Verdict::Replayed);
    }
}

#[test]
fn keys_change_one_node_after_the_other() {
    let format = AODV;
    let (mut a, mut b) = (node(format, A, &[(1, 7)]), node(format, B, &[(1, 7)]));
    meet(&mut a, &mut b, format, 0);
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
        let p = sealed(&mut a, format, A, &[9; 12]);
        assert_eq!(open(&mut b, 1, &p), Verdict::Good, "{of_a:?} {of_b:?}");
    }
    b.set_keys(keys(&[(3, 9)]));
    let p = sealed(&mut a, format, A, &[9; 12]);
    assert_eq!(open(&mut b, 1, &p), Verdict::Failed);
}

#[test]
fn a_million_frames_of_an_outsider_change_nothing() {
    let format = AODV;
    let (mut a, mut b) = (node(format, A, &[(1, 7)]), node(format, B, &[(1, 7)]));
    meet(&mut a, &mut b, format, 0);
    let heard: Vec<Packet> = (0..200).map(|n| sealed(&mut a, format, A, &[n; 24])).collect();
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
        let verdict = b.open(ms(2), IFACE, &mut p, mac(A), ALL).verdict;
        assert!(matches!(verdict, Verdict::Replayed | Verdict::Failed | Verdict::Missing), "{verdict:?}");
        pool.recycle(p);
    }
    assert_eq!((b.neighbours(), b.counts().challenges), (1, 1));
    let next = sealed(&mut a, format, A, &[9; 24]);
    assert_eq!(open(&mut b, 3, &next), Verdict::Good);
}

#[test]
fn two_nodes_verify_each_other_with_three_frames() {
    for format in FORMATS {
        let (mut a, mut b) = (node(format, A, &[(1, 7)]), node(format, B, &[(1, 7)]));
        let hello = sealed(&mut a, format, A, &[1; 12]);
        open(&mut b, 0, &hello);
        let first = exchange(&mut b, B, 10).unwrap();
        assert_eq!(said(&first), (vec![A], vec![]));
        assert_eq!(hears(&mut a, 10, B, &first), HEARD);
        let second = exchange(&mut a, A, 20).unwrap();
        assert_eq!(said(&second), (vec![B], vec![B]));
        assert_eq!(hears(&mut b, 20, A, &second), VERIFIED);
        let third = exchange(&mut b, B, 30).unwrap();
        assert_eq!(said(&third), (vec![], vec![A]));
        assert_eq!(hears(&mut a, 30, B, &third), VERIFIED);
        assert!(exchange(&mut a, A, 10_000).is_none() && exchange(&mut b, B, 10_000).is_none());
        assert_eq!((a.counts().exchanges, a.counts().challenges, a.counts().answers), (1, 1, 1));
    }
}

/// All nodes in range of each other: all hear each frame, one after the other, as on a busy medium.
#[test]
fn a_neighbourhood_verifies_itself_with_a_few_frames_for_each_node() {
    for format in FORMATS {
        const NODES: u8 = 20;
        let addr = |i: usize| Ipv4Addr::new(10, 0, 0, i as u8 + 1);
        let mut all: Vec<Auth> = (0..usize::from(NODES)).map(|i| node(format, addr(i), &[(1, 7)])).collect();
        let hello = sealed(&mut all[0], format, A, &[1; 12]);
        all[1..].iter_mut().for_each(|n| assert_eq!(open(n, 0, &hello), Verdict::Unknown));
        let (mut frames, mut queue) = (0, std::collections::VecDeque::new());
        // 2 ms a frame.
        for at in (2..400).step_by(2) {
            queue.extend((0..all.len()).filter(|&i| all[i].begin_exchange(ms(at), IFACE)));
            let Some(from) = queue.pop_front() else { continue };
            let p = leave(&mut all[from], addr(from), ms(at));
            assert!(p.len() <= 28 + 2 + 257);
            frames += 1;
            for i in (0..all.len()).filter(|&i| i != from) {
                let verdict = hears(&mut all[i], at, addr(from), &p);
                assert!(matches!(verdict, Verdict::Exchange { .. }), "{verdict:?}");
            }
        }
        assert!(all.iter().all(|n| n.neighbours() == usize::from(NODES) - 1), "{}", format.number());
        // One for each pair and direction would be 760, with challenge and answer.
        assert!(frames <= 4 * usize::from(NODES), "{}: {frames}", format.number());
    }
}

#[test]
fn a_nonce_verifies_several_neighbours_and_each_of_them_once() {
    let format = DSDV;
    let (mut a, mut b, mut c) =
        (node(format, A, &[(1, 7)]), node(format, B, &[(1, 7)]), node(format, C, &[(1, 7)]));
    let of_c = sealed(&mut c, format, C, &[2; 12]);
    let of_a = sealed(&mut a, format, A, &[1; 12]);
    assert_eq!((open(&mut b, 0, &of_a), hears(&mut b, 0, C, &of_c)), (Verdict::Unknown, Verdict::Unknown));
    let asks = exchange(&mut b, B, 10).unwrap();
    let (mut asked, _) = said(&asks);
    asked.sort_unstable();
    assert_eq!(asked, [A, C]);
    hears(&mut a, 10, B, &asks);
    hears(&mut c, 10, B, &asks);
    let answers = [exchange(&mut a, A, 20).unwrap(), exchange(&mut c, C, 20).unwrap()];
    assert_eq!([hears(&mut b, 20, A, &answers[0]), hears(&mut b, 20, C, &answers[1])], [VERIFIED; 2]);
    assert_eq!(b.neighbours(), 2);
    assert_eq!(hears(&mut b, 21, A, &answers[0]), Verdict::Replayed);
    // A reboots. What it answered before does not bring its earlier life back, though the nonce is
    // still good.
    let old = sealed(&mut a, format, A, &[3; 12]);
    a.reboot();
    assert_eq!(meet(&mut a, &mut b, format, 500), VERIFIED);
    assert_eq!(hears(&mut b, 600, A, &answers[0]), HEARD);
    assert_eq!(open(&mut b, 600, &old), Verdict::Unknown);
}

#[test]
fn a_challenge_is_repeated_twice_and_then_only_for_further_messages() {
    let format = AODV;
    let (mut a, mut b) = (node(format, A, &[(1, 7)]), node(format, B, &[(1, 7)]));
    let [first, soon, later] = [0, 1, 2].map(|n| sealed(&mut a, format, A, &[n; 12]));
    open(&mut b, 0, &first);
    let times: Vec<u64> = (0..290).filter(|&t| exchange(&mut b, B, t).is_some()).collect();
    assert!(matches!(times[..], [t0, t1, t2] if t0 <= 10 && t1 - t0 >= 40 && t2 - t1 >= 80), "{times:?}");
    // The same message again is a replay; another one comes too early.
    assert_eq!((open(&mut b, 299, &soon), open(&mut b, 300, &first)), (Verdict::Unknown, Verdict::Unknown));
    assert!(exchange(&mut b, B, 5_000).is_none());
    open(&mut b, 5_000, &later);
    assert_eq!((0..1_000).filter(|t| exchange(&mut b, B, 5_000 + t).is_some()).count(), 1);
}

/// Nobody answers for nodes that are out of range; their messages are replayed here.
#[test]
fn replayed_messages_of_many_nodes_share_a_frame_and_fill_no_memory() {
    let format = AODV;
    let mut b = node(format, B, &[(1, 7)]);
    for i in 0..5_000_u32 {
        let far = Ipv4Addr::from_bits(0x0a01_0000 + i);
        let p = sealed(&mut node(format, far, &[(1, 7)]), format, far, &[1; 12]);
        assert_eq!(hears(&mut b, 0, far, &p), Verdict::Unknown);
    }
    let frames: Vec<Packet> = (0..1_000).filter_map(|t| exchange(&mut b, B, t)).collect();
    assert!(frames.iter().all(|p| p.len() <= 28 + 257));
    // 128 of them are remembered, and challenged three times, 53 in a frame.
    assert!((3..=9).contains(&frames.len()), "{}", frames.len());
    assert_eq!(b.neighbours(), 0);
}

#[test]
fn replayed_and_changed_exchanges_verify_nobody() {
    for format in FORMATS {
        let (mut a, mut b) = (node(format, A, &[(1, 7)]), node(format, B, &[(1, 7)]));
        meet(&mut a, &mut b, format, 0);
        let hello = sealed(&mut b, format, B, &[1; 12]);
        assert_eq!(hears(&mut a, 100, B, &hello), Verdict::Unknown);
        let of_a = (100..500).find_map(|t| exchange(&mut a, A, t)).unwrap();
        assert_eq!(hears(&mut b, 500, A, &of_a), HEARD);
        let of_b = (500..600).find_map(|t| exchange(&mut b, B, t)).unwrap();
        for octet in 28..of_b.len() {
            let mut changed = of_b.clone();
            changed.bytes_mut()[octet] ^= 1;
            let verdict = hears(&mut a, 600, B, &changed);
            assert!(matches!(verdict, Verdict::Failed | Verdict::Missing), "{octet}: {verdict:?}");
        }
        let to_a = a.open(ms(600), IFACE, &mut of_b.clone(), mac(B), A).verdict;
        assert_eq!((to_a, hears(&mut a, 600, A, &of_b)), (Verdict::Failed, Verdict::Failed));
        // To somebody who never sent that nonce, and who hears it twice.
        let mut c = node(format, C, &[(1, 7)]);
        assert_eq!([hears(&mut c, 600, B, &of_b), hears(&mut c, 601, B, &of_b)], [HEARD, Verdict::Replayed]);
        assert_eq!((hears(&mut a, 601, B, &of_b), a.neighbours(), c.neighbours()), (VERIFIED, 1, 0));
    }
}

#[test]
fn what_is_no_routing_packet_stays_as_it_is() {
    let mut a = node(AODV, A, &[(1, 7)]);
    let mut data = packet(DSDV, A, &[1; 12]);
    let before = data.bytes().to_vec();
    assert!(!a.concerns(data.bytes()));
    a.seal(&mut data, mac(A), ALL);
    assert_eq!(data.bytes(), before);
    // An unprivileged program of this host may send to the port, but not from it.
    let mut forged = packet(AODV, A, &[1; 12]);
    forged.bytes_mut()[20..22].copy_from_slice(&40_000_u16.to_be_bytes());
    a.seal(&mut forged, mac(A), ALL);
    assert_eq!(forged.len(), packet(AODV, A, &[1; 12]).len());
}

proptest! {
    #[test]
    fn no_octets_panic_and_none_count(octets in proptest::collection::vec(any::<u8>(), 0..200), cut in 0usize..120) {
        for format in FORMATS {
            let mut b = node(format, B, &[(1, 7)]);
            let mut whole = sealed(&mut node(format, A, &[(1, 7)]), format, A, &octets);
            whole.truncate(whole.len().saturating_sub(cut + 1));
            for mut p in [Pool::new().packet(&octets, PacketMeta::default()), whole, packet(format, A, &octets)] {
                let _ = b.concerns(p.bytes());
                b.seal(&mut p.clone(), mac(B), ALL);
                let verdict = b.open(ms(0), IFACE, &mut p, mac(A), ALL).verdict;
                prop_assert!(matches!(verdict, Verdict::Missing | Verdict::Failed), "{:?}", verdict);
            }
        }
    }

    #[test]
    fn stripping_undoes_sealing(body in proptest::collection::vec(any::<u8>(), 1..200)) {
        for format in FORMATS {
            let mut a = node(format, A, &[(1, 7)]);
            let mut p = sealed(&mut a, format, A, &body);
            prop_assert!(ipv4::Repr::parse(p.bytes()).is_ok());
            a.strip(&mut p);
            let original = packet(format, A, &body);
            prop_assert_eq!(p.bytes(), original.bytes());
        }
    }
}
