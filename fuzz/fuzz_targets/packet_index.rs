#![no_main]

use crc::{CRC_32_ISO_HDLC, Crc};
use wayhop_trace::PacketIndex;

static SUM: Crc<u32> = Crc::<u32>::new(&CRC_32_ISO_HDLC);

// The index of a table of packets, with a correct checksum.
libfuzzer_sys::fuzz_target!(|body: &[u8]| {
    let bytes = [&b"WHPIDX1\n"[..], &SUM.checksum(body).to_le_bytes(), body].concat();
    let Ok((index, of)) = PacketIndex::decode(&bytes) else { return };
    assert_eq!(PacketIndex::decode(&index.encode(&of)), Ok((index.clone(), of)));
    let end_ns = index.losses().iter().map(|l| l.time_ns).max().unwrap_or(0);
    let interval = index.interval_for(end_ns, 600);
    for column in 0..index.columns().count() {
        assert_eq!(index.counts(column, interval, 600).len(), 600);
    }
});
