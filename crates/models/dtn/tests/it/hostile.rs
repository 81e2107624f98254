//! Any bytes: no panic, no more memory than they need, and reading and writing are inverse.

use proptest::collection::vec;
use proptest::prelude::*;
use wayhop_dtn::{Bundle, Created, Custody, ParseLimits};

use crate::common::{eid, inbox};
use crate::exercise;

fn bundle(payload: Vec<u8>, custody: bool) -> Vec<u8> {
    let mut bundle = Bundle {
        destination: inbox(1),
        source: inbox(0),
        created: Created { time_ms: 5, sequence: 7 },
        lifetime_ms: 60_000,
        payload,
        ..Bundle::default()
    };
    bundle.set_age_ms(3);
    bundle.set_hop_count(64, 2);
    bundle.set_previous_node(&eid(2));
    if custody {
        bundle.set_custody(&Custody { number: 9, sequence: 1, custodian: eid(0) });
    }
    bundle.encode()
}

proptest! {
    #[test]
    fn octets_by_chance_are_no_harm(octets in vec(any::<u8>(), 0..600)) {
        exercise::bundle(&octets);
        exercise::tcpcl(&octets);
        exercise::ltp(&octets);
        exercise::udpcl(&octets);
    }

    #[test]
    fn bundles_with_octets_changed_or_cut_off_are_refused_or_read_as_they_are_written(
        payload in vec(any::<u8>(), 0..2_000),
        custody in any::<bool>(),
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut octets = bundle(payload, custody);
        prop_assert!(Bundle::parse(&octets, &ParseLimits::default()).is_ok());
        exercise::bundle(&octets);
        exercise::bundle(&octets[..cut.index(octets.len())]);
        for (at, octet) in changes {
            let at = at.index(octets.len());
            octets[at] = octet;
        }
        exercise::bundle(&octets);
    }

    #[test]
    fn segments_with_octets_changed_end_a_session_at_most(
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        kind in any::<u8>(),
    ) {
        // XFER_SEGMENT with START and END, its number, no extension, its length; XFER_ACK; XFER_REFUSE; SESS_TERM (RFC 9174).
        let whole = bundle(vec![1; 200], false);
        let mut stream = vec![kind | 2, 0x01, 0x03];
        stream.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        stream.extend((whole.len() as u64).to_be_bytes());
        stream.extend(&whole);
        stream.extend([0x02, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x4e, 0x20]);
        stream.extend([0x03, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0x05, 0x00, 0x00]);
        for (at, octet) in changes {
            let at = at.index(stream.len());
            stream[at] = octet;
        }
        exercise::tcpcl(&stream);
    }

    #[test]
    fn ltp_segments_with_octets_changed_are_passed_over(
        changes in vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        // A checkpoint that ends a block of 5 octets, a report of all of it, its acknowledgement, a cancellation (RFC 5326).
        // And a block of two bundles, the second one cut off by a second segment.
        let two = [bundle(vec![1], false), bundle(vec![2], false)].concat();
        let (first, second) = two.split_at(two.len() - 3);
        let length = two.len() as u8;
        let head = |kind: u8, offset: u16, octets: &[u8]| {
            let sdnv = |n: u16| [0x80 | (n >> 7) as u8, n as u8 & 0x7f];
            let mut s = vec![kind, 2, 10, 0, 1];
            s.extend(sdnv(offset));
            s.extend(sdnv(octets.len() as u16));
            if kind == 3 {
                s.extend([1, 0]);
            }
            [&s, octets].concat()
        };
        let (first, second) = (head(0, 0, first), head(3, u16::from(length) - 3, second));
        let segments: [&[u8]; 6] = [
            &first,
            &second,
            &[0x03, 2, 9, 0, 1, 0, 5, 1, 0, 1, 2, 3, 4, 5],
            &[0x08, 1, 1, 0, 7, 1, 5, 0, 1, 0, 5],
            &[0x09, 2, 9, 0, 7],
            &[0x0c, 2, 9, 0, 1],
        ];
        let mut octets: Vec<u8> = segments.iter().flat_map(|s| [&[s.len() as u8][..], s].concat()).collect();
        for (at, octet) in changes {
            let at = at.index(octets.len());
            octets[at] = octet;
        }
        exercise::ltp(&octets);
    }
}

#[test]
fn a_bundle_that_says_it_is_larger_than_memory_is_refused_at_once() {
    // An array without an end, and in it a byte string of 2^62 octets.
    let octets = [0x9f, 0x5b, 0x40, 0, 0, 0, 0, 0, 0, 0];
    assert!(Bundle::parse(&octets, &ParseLimits::default()).is_err());
}
