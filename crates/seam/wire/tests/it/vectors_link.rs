//! IEEE 802.11 and radiotap headers against octets written by hand.

use wayhop_core::Mac;
use wayhop_wire::{Error, dot11, radiotap};

const A: Mac = Mac([2, 0, 10, 0, 0, 1]);
const B: Mac = Mac([2, 0, 10, 0, 0, 2]);
const NET: Mac = Mac([2, 0xca, 0xfe, 0, 0, 1]);

fn both_ways(octets: &[u8], r: dot11::Repr) {
    assert_eq!(dot11::Repr::parse(octets), Ok(r));
    let mut out = vec![0xee; r.buffer_len()];
    r.emit(&mut out);
    assert_eq!(out, octets);
    assert_eq!(dot11::Repr::parse(&octets[..octets.len() - 1]), Err(Error::Truncated));
}

#[test]
fn data_header_of_an_ad_hoc_network() {
    #[rustfmt::skip]
    let octets = [
        0x08, 0x08, 0x3a, 0x01,
        2, 0, 10, 0, 0, 2,
        2, 0, 10, 0, 0, 1,
        2, 0xca, 0xfe, 0, 0, 1,
        0x53, 0x12,
    ];
    let data = dot11::Data {
        duration_us: 314,
        retry: true,
        more_fragments: false,
        receiver: B,
        transmitter: A,
        bssid: NET,
        sequence: 0x125,
        fragment: 3,
    };
    both_ways(&octets, dot11::Repr::Data(data));
}

#[test]
fn control_frames() {
    both_ways(
        &[0xb4, 0, 0xe8, 3, 2, 0, 10, 0, 0, 2, 2, 0, 10, 0, 0, 1],
        dot11::Repr::Rts { duration_us: 1000, retry: false, receiver: B, transmitter: A },
    );
    both_ways(&[0xc4, 0, 0xe8, 3, 2, 0, 10, 0, 0, 1], dot11::Repr::Cts { duration_us: 1000, receiver: A });
    both_ways(&[0xd4, 0, 0, 0, 2, 0, 10, 0, 0, 1], dot11::Repr::Ack { duration_us: 0, receiver: A });
}

#[test]
fn foreign_data_frames_are_seen_but_are_no_repr() {
    // QoS data over four addresses: 24 + 6 + 2 octets of header.
    let mut octets = vec![0x88, 0x03];
    octets.resize(32, 1);
    octets.push(0xaa);
    let f = dot11::Frame::new_checked(&octets).expect("it is complete");
    assert_eq!(
        (f.kind(), f.is_qos(), f.header_len(), f.payload()),
        (dot11::FrameType::Data, true, 32, &[0xaa][..])
    );
    assert_eq!(dot11::Repr::parse(&octets), Err(Error::Value("frame control")));
    assert_eq!(dot11::Frame::new_checked(&octets[..31]), Err(Error::Truncated));
    assert_eq!(dot11::Frame::new_checked(&[0x09, 0, 0, 0]), Err(Error::Value("protocol version")));
    let beacon = [&[0x80, 0][..], &[0; 22]].concat();
    let f = dot11::Frame::new_checked(&beacon).expect("it is complete");
    assert_eq!(
        (f.kind(), f.has_payload(), f.transmitter()),
        (dot11::FrameType::Management, false, Some(Mac([0; 6])))
    );
    assert_eq!(dot11::Repr::parse(&beacon), Err(Error::Value("frame type")));
}

#[test]
fn fcs_is_crc_32() {
    // The check value of the CRC-32 of IEEE 802.
    assert_eq!(dot11::fcs(b"123456789"), 0xcbf4_3926);
    let framed = *b"123456789\x26\x39\xf4\xcb";
    assert_eq!(dot11::split_fcs(&framed), Some((&b"123456789"[..], true)));
    let mut broken = framed;
    broken[0] ^= 1;
    assert_eq!(dot11::split_fcs(&broken).map(|(_, right)| right), Some(false));
    assert_eq!(dot11::split_fcs(&framed[..3]), None);
}

#[test]
fn radiotap_of_a_transmission_aligns_its_fields() {
    let r = radiotap::Repr {
        flags: Some(radiotap::flags::FCS_AT_END),
        rate_500kbps: Some(4),
        channel: Some(radiotap::Channel { mhz: 2412, flags: 0x00a0 }),
        signal_dbm: None,
        noise_dbm: None,
        tx_flags: Some(radiotap::tx_flags::RTS),
        data_retries: Some(2),
    };
    #[rustfmt::skip]
    let octets = [
        0, 0, 17, 0, 0x0e, 0x80, 0x02, 0,
        0x10, 4, 0x6c, 0x09, 0xa0, 0, // flags, rate, channel at 10
        0x04, 0, 2,                   // TX flags at 14, retries
    ];
    let mut out = [0xee; 17];
    assert_eq!(r.buffer_len(), 17);
    r.emit(&mut out);
    assert_eq!(out, octets);
    assert_eq!(radiotap::split(&octets), Ok((r, &[][..])));
    assert!(r.has_fcs());
}

#[test]
fn radiotap_pads_before_a_field_of_two_octets() {
    let r = radiotap::Repr { rate_500kbps: Some(2), tx_flags: Some(8), ..Default::default() };
    let mut out = [0xee; 12];
    r.emit(&mut out);
    assert_eq!(out, [0, 0, 12, 0, 0x04, 0x80, 0, 0, 2, 0, 8, 0]);
}

#[test]
fn radiotap_by_others_with_fields_that_we_do_not_write() {
    // TSFT, flags, rate, channel, signal, noise, antenna, RX flags.
    #[rustfmt::skip]
    let octets = [
        0, 0, 28, 0, 0x6f, 0x48, 0, 0,
        1, 2, 3, 4, 5, 6, 7, 8,
        0x12, 22, 0x85, 0x09, 0xa0, 0x04,
        0xc4, 0xa1, 1, 0, 0, 0,
        0xd4,
    ];
    let (r, frame) = radiotap::split(&octets).expect("it is complete");
    let expected = radiotap::Repr {
        flags: Some(0x12),
        rate_500kbps: Some(22),
        channel: Some(radiotap::Channel { mhz: 2437, flags: 0x04a0 }),
        signal_dbm: Some(-60),
        noise_dbm: Some(-95),
        ..Default::default()
    };
    assert_eq!((r, frame), (expected, &[0xd4][..]));
}

#[test]
fn radiotap_with_several_present_words_gives_the_first_signal() {
    // As ath9k writes: flags and signal, then (signal, antenna) twice, each in the radiotap namespace.
    #[rustfmt::skip]
    let octets = [
        0, 0, 22, 0,
        0x22, 0, 0, 0xa0,
        0x20, 0x08, 0, 0xa0,
        0x20, 0x08, 0, 0,
        0x10, 0xd8,       // flags, -40 dBm
        0xd6, 0,          // -42 dBm on antenna 0
        0xd4, 1,          // -44 dBm on antenna 1
    ];
    let r = radiotap::Repr::parse(&octets).expect("it is complete");
    assert_eq!((r.flags, r.signal_dbm), (Some(0x10), Some(-40)));
}

#[test]
fn radiotap_skips_the_data_of_a_vendor() {
    // Flags, then a vendor namespace with three octets, then back to radiotap with a signal.
    #[rustfmt::skip]
    let octets = [
        0, 0, 30, 0,
        0x02, 0, 0, 0xc0,
        0xff, 0, 0, 0xa0,
        0x20, 0, 0, 0,
        0x10, 0,             // flags, padding to 18
        1, 2, 3, 0, 3, 0,    // OUI, sub-namespace, 3 octets
        9, 9, 9,
        0xd6, 0, 0,
    ];
    let r = radiotap::Repr::parse(&octets).expect("it is complete");
    assert_eq!((r.flags, r.signal_dbm), (Some(0x10), Some(-42)));
}

#[test]
fn radiotap_bits_beyond_the_first_word_end_the_reading() {
    // Flags, then a second word that continues the numbering: its bit 5 is field 37, which has no layout.
    #[rustfmt::skip]
    let octets = [
        0, 0, 14, 0,
        0x02, 0, 0, 0x80,
        0x20, 0, 0, 0,
        0x10, 0xd8,
    ];
    let r = radiotap::Repr::parse(&octets).expect("it is complete");
    assert_eq!((r.flags, r.signal_dbm), (Some(0x10), None));
}

#[test]
fn radiotap_that_contradicts_itself_is_refused() {
    assert_eq!(radiotap::Repr::parse(&[1, 0, 8, 0, 0, 0, 0, 0]), Err(Error::Value("version")));
    assert_eq!(radiotap::Repr::parse(&[0, 0, 7, 0, 0, 0, 0, 0]), Err(Error::Length));
    assert_eq!(radiotap::Repr::parse(&[0, 0, 9, 0, 0, 0, 0, 0]), Err(Error::Truncated));
    assert_eq!(radiotap::Repr::parse(&[0, 0, 8, 0, 2, 0, 0, 0]), Err(Error::Truncated), "no room for flags");
    assert_eq!(radiotap::Repr::parse(&[0, 0, 8, 0, 0, 0, 0, 0x80]), Err(Error::Truncated), "no second word");
}
