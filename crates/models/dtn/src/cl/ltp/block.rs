//! The bundles in a block of client service 1.
//!
//! RFC 5326 leaves the inside of a block to its client. Agents that aggregate, such as NASA's ION,
//! concatenate bundles in it; a bundle of version 7 is one CBOR item and so has a defined end. (CCSDS
//! 734.1-B-1 has another way, client service 2, with a service number in front of each bundle.)

use crate::cbor::Reader;

/// The shortest bundle: a primary block without a check between `dtn:none` and itself, and an empty payload.
const SHORTEST: usize = 25;
/// More than these are not looked for in one block.
const MOST: usize = 65_536;

/// The bundles at the beginning of these octets, and what is behind the last whole one: nothing, the first octets of one more,
/// or something else.
pub(super) fn bundles(octets: Vec<u8>) -> (Vec<Vec<u8>>, Vec<u8>) {
    let mut whole = Vec::new();
    let mut rest = &octets[..];
    while whole.len() < MOST
        && let Some(length) = length(rest).filter(|length| *length >= SHORTEST)
    {
        if length == octets.len() {
            // The usual block: one bundle, which need not be copied.
            return (vec![octets], Vec::new());
        }
        let (bundle, behind) = rest.split_at(length);
        whole.push(bundle.to_vec());
        rest = behind;
    }
    if whole.is_empty() {
        return (whole, octets);
    }
    let rest = rest.to_vec();
    (whole, rest)
}

/// Octets of the array of indefinite length at the beginning, if its end is there.
fn length(octets: &[u8]) -> Option<usize> {
    let mut r = Reader::new(octets);
    r.indefinite_array().ok()?;
    while !r.is_break() {
        // Blocks of a bundle are read when it is taken: here only its end is looked for.
        r.skip().ok()?;
    }
    Some(r.position())
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::bundle::{Bundle, Crc};

    fn bundle(payload: Vec<u8>) -> Vec<u8> {
        Bundle { payload, crc: Crc::Crc16, ..Bundle::default() }.encode()
    }

    #[test]
    fn the_shortest_bundle_is_as_short_as_that() {
        // RFC 9171, section 4.3: version, flags, no CRC, three times dtn:none, time and number 0, lifetime 0; then the payload's
        // type, number, flags, no CRC, no octets.
        let octets = [
            &[0x9f, 0x88, 7, 0, 0][..],
            &[0x82, 1, 0, 0x82, 1, 0, 0x82, 1, 0],
            &[0x82, 0, 0, 0],
            &[0x85, 1, 1, 0, 0, 0x40, 0xff],
        ]
        .concat();
        assert_eq!(octets.len(), SHORTEST);
        assert_eq!(bundles([&octets[..], &octets].concat()), (vec![octets.clone(), octets], Vec::new()));
    }

    #[test]
    fn octets_that_are_no_bundles_stay_together() {
        for octets in [&[][..], &[0x9f, 0xff, 0x9f, 0xff], &[0x06, 0x00], &[0x9f, 0x9f, 0x9f], &[0xff; 40]] {
            assert_eq!(bundles(octets.to_vec()), (Vec::new(), octets.to_vec()));
        }
        // Nesting without an end costs no more than its octets.
        let deep = vec![0x9f; 1 << 20];
        assert_eq!(bundles(deep.clone()), (Vec::new(), deep));
    }

    proptest! {
        #[test]
        fn bundles_in_a_block_are_found_and_a_cut_leaves_the_whole_ones(
            payloads in vec(vec(any::<u8>(), 0..40), 1..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let all: Vec<Vec<u8>> = payloads.into_iter().map(bundle).collect();
            let block = all.concat();
            prop_assert_eq!(bundles(block.clone()), (all.clone(), Vec::new()));
            let end = cut.index(block.len());
            let (whole, rest) = bundles(block[..end].to_vec());
            prop_assert!(all.starts_with(&whole));
            prop_assert_eq!([whole.concat(), rest].concat(), &block[..end]);
        }

        #[test]
        fn octets_are_neither_lost_nor_added(octets in vec(any::<u8>(), 0..300)) {
            let (whole, rest) = bundles(octets.clone());
            prop_assert_eq!([whole.concat(), rest].concat(), octets);
        }
    }
}
