//! Octets of bundles and of what bundles carry.

use wayhop_dtn::{AdminRecord, Beacon, Bundle, ParseLimits, Reassembly, split};

const LIMITS: ParseLimits = ParseLimits { octets: 1 << 20, blocks: 16 };

/// Octets are refused, or a bundle that reads as it is written, and whose fragments are the whole.
pub(crate) fn bundle(octets: &[u8]) {
    // Some octets of one that never came to its end.
    let _ = Bundle::parse_prefix(octets, &LIMITS);
    if let Some(record) = AdminRecord::parse(octets) {
        assert_eq!(AdminRecord::parse(&record.encode()), Some(record));
    }
    if let Some(beacon) = Beacon::parse(octets) {
        assert_eq!(Beacon::parse(&beacon.encode()), Some(beacon));
    }
    let Ok(bundle) = Bundle::parse(octets, &LIMITS) else { return };
    let encoded = bundle.encode();
    assert_eq!(Bundle::parse(&encoded, &LIMITS).as_ref(), Ok(&bundle));
    if !bundle.may_fragment() || bundle.fragment.is_some() {
        return;
    }
    let Some(pieces) = split(&bundle, encoded.len() / 2 + 64) else { return };
    let mut whole = Reassembly::default();
    for piece in &pieces {
        let read = Bundle::parse(&piece.encode(), &LIMITS).expect("a piece is a bundle");
        whole.insert(read.fragment.map_or(0, |f| f.offset), &read.payload);
    }
    assert_eq!(whole.whole(bundle.payload.len() as u64).as_ref(), Some(&bundle.payload));
}
