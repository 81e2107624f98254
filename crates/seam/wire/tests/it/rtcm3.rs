//! Frames of RTCM 3.

use proptest::prelude::*;
use wayhop_wire::Error;
use wayhop_wire::rtcm3::{Frame, crc24q, find};

use crate::exercise;

/// The example of RTCM 10403.1, section 4.2: message 1005 of station 2003.
const EXAMPLE: [u8; 25] = [
    0xd3, 0x00, 0x13, 0x3e, 0xd7, 0xd3, 0x02, 0x02, 0x98, 0x0e, 0xde, 0xef, 0x34, 0xb4, 0xbd, 0x62, 0xac,
    0x09, 0x41, 0x98, 0x6f, 0x33, 0x36, 0x0b, 0x98,
];

#[test]
fn the_checksum_is_that_of_the_catalogue() {
    // Greg Cook's catalogue of CRCs: 24 bits, polynomial 0x864cfb, initial value 0, not reflected (CRC-24/LTE-A).
    assert_eq!(crc24q(b"123456789"), 0x00cd_e703);
}

#[test]
fn the_standards_example_is_read_as_the_standard_says() {
    let frame = Frame::new_checked(&EXAMPLE).unwrap();
    assert_eq!((frame.number(), frame.station(), frame.gps_epoch_ms()), (Some(1005), Some(2003), None));
    assert_eq!(frame.bytes(), EXAMPLE);
    for bit in 0..EXAMPLE.len() * 8 {
        let mut damaged = EXAMPLE;
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(Frame::new_checked(&damaged).is_err(), "bit {bit}");
    }
}

#[test]
fn of_observations_the_moment_is_read() {
    // DF002 = 1077 (12 bits), DF003 = 1 (12), DF004 = 345,600,000 ms, the Thursday's midnight (30), ten bits of the next field.
    let message = (1077_u64 << 52) | (1 << 40) | (345_600_000 << 10) | 0x3ff;
    let mut bytes = vec![0xd3, 0, 8];
    bytes.extend(message.to_be_bytes());
    let crc = crc24q(&bytes).to_be_bytes();
    bytes.extend(&crc[1..]);
    let frame = Frame::new_checked(&bytes).unwrap();
    assert_eq!(
        (frame.number(), frame.station(), frame.gps_epoch_ms()),
        (Some(1077), Some(1), Some(345_600_000))
    );
}

#[test]
fn a_frame_is_found_among_what_else_a_receiver_sends() {
    let mut stream = b"$GNGGA,1*00\r\n\xd3\xffx".to_vec();
    let junk = stream.len();
    stream.extend(EXAMPLE);
    stream.extend(b"$GN");
    let found = find(&stream);
    assert_eq!((found.skipped, found.frame.map(|f| f.bytes().to_vec())), (junk, Some(EXAMPLE.to_vec())));
    // A part of one waits for the rest.
    let found = find(&EXAMPLE[..20]);
    assert_eq!((found.skipped, found.frame), (0, None));
    assert_eq!(Frame::new_checked(&EXAMPLE[..20]), Err(Error::Truncated));
    assert_eq!(Frame::new_checked(&[0xd3, 0x04, 0x00]), Err(Error::Value("reserved")));
}

proptest! {
    #[test]
    fn any_message_in_any_noise_is_found(noise in proptest::collection::vec(0_u8..0xd3, 0..50), message in proptest::collection::vec(any::<u8>(), 0..1024)) {
        let mut frame = vec![0xd3, (message.len() >> 8) as u8, message.len() as u8];
        frame.extend(&message);
        let crc = crc24q(&frame).to_be_bytes();
        frame.extend(&crc[1..]);
        let stream = [&noise[..], &frame].concat();
        let found = find(&stream);
        prop_assert_eq!(found.skipped, noise.len());
        prop_assert_eq!(found.frame.unwrap().message(), &message[..]);
    }

    #[test]
    fn any_octets_are_harmless(octets in proptest::collection::vec(prop_oneof![Just(0xd3), Just(0), Just(3), any::<u8>()], 0..2_000)) {
        exercise::rtcm3(&octets);
    }
}
