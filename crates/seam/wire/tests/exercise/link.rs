use wayhop_wire::{dot11 as wire_dot11, llc, radiotap as wire_radiotap};

/// IEEE 802.11 and LLC/SNAP.
pub(crate) fn dot11(bytes: &[u8]) {
    if let Some((frame, _)) = wire_dot11::split_fcs(bytes) {
        let mut whole = frame.to_vec();
        whole.extend_from_slice(&wire_dot11::fcs(frame).to_le_bytes());
        assert_eq!(wire_dot11::split_fcs(&whole), Some((frame, true)));
    }
    if let Ok(f) = wire_dot11::Frame::new_checked(bytes) {
        assert_eq!(f.header_len() + f.payload().len(), bytes.len());
        let _ = (f.kind(), f.receiver(), f.transmitter(), f.address3(), f.sequence(), f.has_payload());
        let _ = llc::Repr::parse(f.payload());
    }
    if let Ok(r) = wire_dot11::Repr::parse(bytes) {
        let mut out = vec![0; r.buffer_len()];
        r.emit(&mut out);
        assert_eq!(wire_dot11::Repr::parse(&out), Ok(r));
    }
    if let Ok(r) = llc::Repr::parse(bytes) {
        let mut out = [0; llc::LEN];
        r.emit(&mut out);
        assert_eq!(out, bytes[..llc::LEN]);
    }
}

/// Radiotap.
pub(crate) fn radiotap(bytes: &[u8]) {
    if let Ok((r, frame)) = wire_radiotap::split(bytes) {
        assert!(frame.len() + 8 <= bytes.len());
        let mut out = vec![0xff; r.buffer_len()];
        r.emit(&mut out);
        assert_eq!(wire_radiotap::split(&out), Ok((r, &[][..])));
    }
}
