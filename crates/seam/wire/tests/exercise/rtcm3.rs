use wayhop_wire::rtcm3::{Frame, MAX_LEN, crc24q, find};

/// RTCM 3: frames do not overlap, each is where it is said to be, and looking for them ends.
pub(crate) fn rtcm3(bytes: &[u8]) {
    let mut rest = bytes;
    loop {
        let found = find(rest);
        let Some(frame) = found.frame else {
            assert!(found.skipped <= rest.len());
            // What waits for its end is no longer than a frame.
            assert!(rest.len() - found.skipped < MAX_LEN);
            return;
        };
        let at = &rest[found.skipped..];
        assert_eq!(Frame::new_checked(at), Ok(frame));
        assert_eq!(frame.bytes(), &at[..frame.bytes().len()]);
        let (covered, crc) = frame.bytes().split_at(frame.bytes().len() - 3);
        assert_eq!(crc24q(covered).to_be_bytes()[1..], *crc);
        assert!(frame.number().is_none_or(|n| n <= 0xfff) && frame.station().is_none_or(|s| s <= 0xfff));
        assert!(frame.gps_epoch_ms().is_none_or(|ms| ms < 1 << 30));
        rest = &at[frame.bytes().len()..];
    }
}
