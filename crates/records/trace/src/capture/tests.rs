//! Reading captures: layouts by hand, as in the format's drafts, and any other input.

use proptest::prelude::*;

use super::{CaptureIndex, CaptureReader, CapturedFrame, Excerpt};
use crate::{CaptureError, Decoder};

fn read_all(bytes: &[u8]) -> Result<Vec<CapturedFrame>, CaptureError> {
    let mut reader = CaptureReader::new(bytes)?;
    let (mut frame, mut all) = (CapturedFrame::default(), Vec::new());
    while reader.next_into(&mut frame)? {
        all.push(frame.clone());
    }
    Ok(all)
}

fn words(big: bool, w: &[u32]) -> Vec<u8> {
    w.iter().flat_map(|w| if big { w.to_be_bytes() } else { w.to_le_bytes() }).collect()
}

#[test]
fn pcap_of_both_byte_orders_and_both_units() {
    for (big, magic, fraction, ns) in [
        (false, 0xa1b2_c3d4_u32, 5, 5_000),
        (true, 0xa1b2_c3d4, 5, 5_000),
        (false, 0xa1b2_3c4d, 5, 5),
        (true, 0xa1b2_3c4d, 5, 5),
    ] {
        // Magic, version 2.4, zone, accuracy, snap length, link type; then seconds, fraction, captured, original.
        let version = if big { 2 << 16 | 4 } else { 4 << 16 | 2 };
        let mut file = words(big, &[magic, version, 0, 0, 65_535, 101, 7, fraction, 3, 60]);
        file.extend([0x45, 0, 1]);
        let all = read_all(&file).expect("a capture");
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].time_ns, Some(7_000_000_000 + ns));
        assert_eq!((all[0].link_type, all[0].original_len), (101, 60));
        assert_eq!(all[0].bytes, [0x45, 0, 1]);
    }
}

fn block(big: bool, kind: u32, body: &[u8]) -> Vec<u8> {
    let len = body.len() as u32 + 12;
    [words(big, &[kind, len]), body.to_vec(), words(big, &[len])].concat()
}

fn section(big: bool) -> Vec<u8> {
    let version = if big { 1 << 16 } else { 1 };
    block(big, 0x0a0d_0d0a, &words(big, &[0x1a2b_3c4d, version, u32::MAX, u32::MAX]))
}

fn interface(big: bool, link_type: u32, options: &[u8]) -> Vec<u8> {
    let first = if big { link_type << 16 } else { link_type };
    block(big, 1, &[words(big, &[first, 262_144]), options.to_vec()].concat())
}

#[test]
fn pcapng_of_both_byte_orders_with_every_kind_of_packet_block() {
    for big in [false, true] {
        let tsresol_ns: &[u8] = if big { &[0, 9, 0, 1, 9, 0, 0, 0] } else { &[9, 0, 1, 0, 9, 0, 0, 0] };
        let file = [
            section(big),
            interface(big, 1, &[]),
            interface(big, 127, tsresol_ns),
            // Name resolution, interface statistics, one nobody knows: skipped.
            block(big, 4, &[0; 4]),
            block(big, 5, &[0; 12]),
            block(big, 0x0bad_beef, &[7; 32]),
            // Enhanced packet on interface 1: time in nanoseconds, 3 of 9 octets.
            block(big, 6, &[words(big, &[1, 1, 2, 3, 9]), vec![1, 2, 3, 0]].concat()),
            // Simple packet: on interface 0, padded.
            block(big, 3, &[words(big, &[5]), vec![5, 4, 3, 2, 1, 0, 0, 0]].concat()),
            // Packet block, obsolete: on interface 0, in microseconds.
            block(big, 2, &[words(big, &[0, 0, 9, 4, 4]), vec![6; 4]].concat()),
        ]
        .concat();
        let all = read_all(&file).expect("a capture");
        assert_eq!(all.iter().map(|f| f.number).collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(all[0].time_ns, Some((1 << 32) + 2));
        assert_eq!((all[0].link_type, all[0].original_len, &all[0].bytes[..]), (127, 9, &[1, 2, 3][..]));
        assert_eq!((all[1].time_ns, &all[1].bytes[..]), (None, &[5, 4, 3, 2, 1][..]));
        assert_eq!((all[2].time_ns, all[2].link_type), (Some(9_000), 1));
    }
}

#[test]
fn a_new_section_forgets_the_interfaces() {
    let packet = block(true, 6, &words(true, &[0, 0, 0, 0, 0]));
    let file = [section(false), interface(false, 1, &[]), section(true), packet].concat();
    let e = read_all(&file).expect_err("no interface").to_string();
    assert!(e.contains("interfaces"), "{e}");
}

#[test]
fn time_resolutions_and_offsets() {
    let time_of = |options: &[u8], high: u32, low: u32| {
        let packet = block(false, 6, &words(false, &[0, high, low, 0, 0]));
        let file = [section(false), interface(false, 1, options), packet].concat();
        read_all(&file).expect("a capture")[0].time_ns
    };
    assert_eq!(time_of(&[9, 0, 1, 0, 3, 0, 0, 0], 0, 5), Some(5_000_000), "milliseconds");
    assert_eq!(time_of(&[9, 0, 1, 0, 12, 0, 0, 0], 0, 5_999), Some(5), "picoseconds");
    assert_eq!(time_of(&[9, 0, 1, 0, 0x81, 0, 0, 0], 0, 3), Some(1_500_000_000), "half seconds");
    let offset_2_s = [14, 0, 8, 0, 2, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(time_of(&offset_2_s, 0, 1), Some(2_000_001_000));
    assert_eq!(time_of(&[9, 0, 1, 0, 0, 0, 0, 0], u32::MAX, 0), Some(u64::MAX), "kept inside 64 bits");
}

#[test]
fn what_is_wrong_is_said() {
    let header = words(false, &[0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, 1]);
    let cut = [header.clone(), words(false, &[0, 0, 10, 10]), vec![1, 2, 3]].concat();
    let huge = [header, words(false, &[0, 0, u32::MAX, 10])].concat();
    let short_block = [section(false), words(false, &[5, 8])].concat();
    for (file, what) in [
        (&b""[..], "ends in the middle"),
        (b"GIF89a", "neither a pcap nor a pcapng"),
        (b"\x1f\x8b\x08\x00", "gunzip"),
        (&cut, "ends in the middle"),
        (&huge, "a length of 4294967295 octets"),
        (&short_block, "a block length of 8"),
    ] {
        let e = read_all(file).expect_err(what).to_string();
        assert!(e.contains(what), "{e}");
    }
}

/// Octets that begin like a capture, so that the rest is looked at.
fn capture_like() -> impl Strategy<Value = Vec<u8>> {
    let starts = prop_oneof![
        Just(vec![]),
        Just(words(false, &[0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, 127, 0, 0, 60, 60])),
        Just([section(true), interface(true, 1, &[])].concat()),
        Just([section(false), interface(false, 127, &[]), words(false, &[6, 92, 0, 0, 0, 60, 60])].concat()),
        Just([section(false), interface(false, 113, &[]), words(false, &[3, 76, 60])].concat()),
    ];
    (starts, proptest::collection::vec(any::<u8>(), 0..200)).prop_map(|(a, b)| [a, b].concat())
}

proptest! {
    #[test]
    fn no_octets_make_the_reader_panic(bytes in capture_like()) {
        if let Ok(decoder) = Decoder::new(&bytes[..], wayhop_protocols::CLASSIFIER) {
            // Each frame takes at least one octet, so this ends.
            prop_assert!(decoder.count() <= bytes.len());
        }
    }
}

/// A capture of frames at these moments, whose octets are all like their number.
fn capture_at(moments: &[u64]) -> Vec<u8> {
    let mut file = Excerpt::default();
    for (i, ns) in moments.iter().enumerate() {
        let frame = CapturedFrame {
            time_ns: Some(*ns),
            link_type: 105,
            bytes: vec![i as u8; 1 + i % 7],
            original_len: 60,
            sent: [None, Some(true), Some(false)][i % 3],
            comment: (i % 5 == 0).then(|| format!("frame {i}")),
            ..CapturedFrame::default()
        };
        file.put(["a", "b"][i % 2], &frame);
    }
    file.finish()
}

#[test]
fn an_excerpt_is_read_as_it_was_put() {
    let all = read_all(&capture_at(&[5, 5, 7])).expect("a capture");
    assert_eq!(all.iter().map(|f| f.time_ns.unwrap()).collect::<Vec<_>>(), [5, 5, 7]);
    assert_eq!(all.iter().map(|f| f.interface).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(all.iter().map(|f| f.sent).collect::<Vec<_>>(), [None, Some(true), Some(false)]);
    assert_eq!(all[0].comment.as_deref(), Some("frame 0"));
    assert_eq!((all[1].comment.as_deref(), all[1].original_len, &all[1].bytes[..]), (None, 60, &[1, 1][..]));
}

#[test]
fn an_index_of_a_capture_that_was_cut_off_has_what_is_whole() {
    let file = capture_at(&[1, 2, 3, 4]);
    let cut = &file[..file.len() - 5];
    let index = CaptureIndex::read(cut).expect("a capture");
    let mut reader = index.reader(std::io::Cursor::new(cut), 3).expect("its marks");
    let (mut frame, mut seen) = (CapturedFrame::default(), 0);
    while reader.next_into(&mut frame).is_ok_and(|more| more) {
        seen += 1;
    }
    assert_eq!(seen, 3);
    assert!(CaptureIndex::read(&b"no capture"[..]).is_err());
    let twice = [&file[..], &file[..]].concat();
    assert!(CaptureIndex::read(&twice[..]).err().expect("two sections").to_string().contains("mergecap"));
}

proptest! {
    #[test]
    fn a_reader_from_a_moment_on_has_the_frames_of_then_and_later(
        mut moments in prop::collection::vec(0_u64..50, 0..60), from in 0_u64..60, step in 1_u64..400,
    ) {
        moments.sort_unstable();
        let file = capture_at(&moments);
        let whole = read_all(&file).expect("a capture");
        let index = CaptureIndex::with_step(&file[..], step).expect("an index");
        let mut reader = index.reader(std::io::Cursor::new(&file), from).expect("a reader");
        let (mut frame, mut found) = (CapturedFrame::default(), Vec::new());
        while reader.next_into(&mut frame).expect("a frame") {
            if frame.time_ns >= Some(from) {
                found.push(frame.clone());
            }
        }
        let expected: Vec<_> = whole.into_iter().filter(|f| f.time_ns >= Some(from)).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn no_octets_make_an_index_panic(bytes in capture_like(), from: u64) {
        if let Ok(index) = CaptureIndex::with_step(&bytes[..], 16) {
            let mut reader = index.reader(std::io::Cursor::new(&bytes), from).expect("memory");
            let mut frame = CapturedFrame::default();
            while reader.next_into(&mut frame).is_ok_and(|more| more) {}
        }
    }
}
