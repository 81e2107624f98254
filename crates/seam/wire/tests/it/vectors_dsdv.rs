//! DSDV updates written by hand from the format of ns-3.37: address, hop count and number, 32 bits each, big endian.

use std::net::Ipv4Addr;

use wayhop_wire::Error;
use wayhop_wire::dsdv::{PORT, Update, UpdateEntry};

const OWN: UpdateEntry =
    UpdateEntry { destination: Ipv4Addr::new(10, 0, 0, 1), hop_count: 1, seq: 0x0102_0304 };
const LOST: UpdateEntry =
    UpdateEntry { destination: Ipv4Addr::new(192, 168, 3, 4), hop_count: 250, seq: 0xa0b0_c0d1 };

#[rustfmt::skip]
const OCTETS: [u8; 24] = [
    10, 0, 0, 1,    0, 0, 0, 1,     1, 2, 3, 4,
    192, 168, 3, 4, 0, 0, 0, 250,   0xa0, 0xb0, 0xc0, 0xd1,
];

#[test]
fn an_update_is_its_entries_one_behind_the_other() {
    assert_eq!(PORT, 269);
    for (entries, octets) in [(&[OWN, LOST][..], &OCTETS[..]), (&[LOST], &OCTETS[12..])] {
        let update = Update::from(entries);
        assert_eq!(Update::parse(octets), Ok(update));
        assert_eq!(update.buffer_len(), octets.len());
        let mut out = vec![0xee; octets.len()];
        update.emit(&mut out).expect("there are entries");
        assert_eq!(out, octets);
    }
}

#[test]
fn a_cut_entry_is_refused() {
    for len in 0..OCTETS.len() {
        let wanted = match len {
            0..12 => Err(Error::Truncated),
            12 => Ok(1),
            _ => Err(Error::Length),
        };
        assert_eq!(Update::parse(&OCTETS[..len]).map(|u| u.len()), wanted, "{len} octets");
    }
    assert_eq!(Update::from(&[][..]).emit(&mut []), Err(Error::Value("number of entries")));
}

#[test]
fn an_odd_number_or_250_hops_say_that_there_is_no_way() {
    assert!(!OWN.is_unreachable());
    assert!(LOST.is_unreachable());
    // ns-3 leaves the hop count of a lost route as it was.
    assert!(UpdateEntry { hop_count: 3, ..LOST }.is_unreachable());
    assert!(UpdateEntry { hop_count: 250, ..OWN }.is_unreachable());
    assert!(UpdateEntry { hop_count: u32::MAX, ..OWN }.is_unreachable());
    assert!(!UpdateEntry { hop_count: 249, ..OWN }.is_unreachable());
}
