//! What a program is told when its packet finds no route.

use std::net::Ipv4Addr;

use proptest::prelude::*;
use wayhop_wire::{had_no_route, ipv4, unreachable_for};

const ME: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 3);

/// An IPv4 packet by hand (RFC 791, section 3.1), with a zero checksum: the answer quotes it as it is.
fn packet(src: [u8; 4], dst: [u8; 4], protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
    let len = (20 + payload.len()) as u16;
    let mut p = vec![0x45, 0, (len >> 8) as u8, len as u8, 0, 7];
    p.extend(fragment.to_be_bytes());
    p.extend([64, protocol, 0, 0]);
    p.extend(src);
    p.extend(dst);
    p.extend(payload);
    p
}

#[test]
fn an_echo_request_is_answered_with_host_unreachable() {
    let request = packet([10, 0, 0, 3], [10, 0, 0, 9], 1, 0, &[8, 0, 0, 0, 1, 2, 0, 1]);
    let answer = unreachable_for(&request, ME).unwrap();
    assert_eq!(answer.len(), 20 + 8 + 28);
    assert_eq!((answer[8], answer[9]), (64, 1), "TTL and protocol");
    assert_eq!(answer[12..20], [10, 0, 0, 3, 10, 0, 0, 3]);
    // RFC 792: type 3, code 1, unused word, then the packet.
    assert_eq!((answer[20], answer[21]), (3, 1));
    assert_eq!(answer[24..28], [0; 4]);
    assert_eq!(answer[28..], request);
    // Both checksums: the one's complement sum over what they cover is all ones.
    for covered in [&answer[..20], &answer[20..]] {
        let words = covered.chunks(2).map(|w| u32::from(w[0]) << 8 | u32::from(*w.get(1).unwrap_or(&0)));
        let sum: u32 = words.sum();
        assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
    }
}

#[test]
fn a_long_packet_is_quoted_up_to_576_octets() {
    let long = packet([10, 0, 0, 3], [10, 0, 0, 9], 17, 0, &[5; 1400]);
    assert_eq!(unreachable_for(&long, ME).unwrap().len(), 576);
}

#[test]
fn nothing_is_said_about_errors_groups_fragments_or_packets_of_nobody() {
    let (a, b) = ([10, 0, 0, 3], [10, 0, 0, 9]);
    let echo = [8, 0, 0, 0, 0, 0, 0, 0];
    for silent in [
        packet(a, b, 1, 0, &[3, 1, 0, 0, 0, 0, 0, 0]),
        packet(a, b, 1, 0, &[11, 0, 0, 0, 0, 0, 0, 0]),
        packet(a, b, 1, 0, &[]),
        packet(a, [224, 0, 0, 1], 1, 0, &echo),
        packet(a, [255; 4], 1, 0, &echo),
        packet([0; 4], b, 1, 0, &echo),
        packet([224, 0, 0, 1], b, 1, 0, &echo),
        packet(a, b, 17, 1, &echo),
    ] {
        assert_eq!(unreachable_for(&silent, ME), None, "{silent:x?}");
    }
    assert!(unreachable_for(&packet(a, b, 1, 0, &[13, 0, 0, 0, 0, 0, 0, 0]), ME).is_some());
}

#[test]
fn only_the_want_of_a_route_is_told() {
    use wayhop_core::DropReason as R;
    let told: Vec<R> = R::ALL.into_iter().filter(|r| had_no_route(*r)).collect();
    assert_eq!(told, [R::NoRoute, R::DiscoveryFailed, R::BufferTimeout, R::BufferFull, R::NoOtherRoute]);
}

proptest! {
    #[test]
    fn any_octets_are_answered_with_a_whole_packet_or_not_at_all(
        bytes in proptest::collection::vec(any::<u8>(), 0..80),
        version in any::<bool>(),
    ) {
        let mut bytes = bytes;
        if let (true, Some(first)) = (version, bytes.first_mut()) {
            *first = 0x40 | *first & 0xf;
        }
        if let Some(answer) = unreachable_for(&bytes, ME) {
            let ip = ipv4::Packet::new_checked(&answer).unwrap();
            prop_assert!(ip.checksum_is_valid() && ip.total_len() == answer.len() && answer.len() <= 576);
        }
    }
}
