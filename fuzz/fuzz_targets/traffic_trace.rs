//! Traffic traces in both formats: read or refused; whatever is read is in order and fits into packets.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_simulator_files::TraceFormat;

const MOST: usize = 100;

fuzz_target!(|bytes: &[u8]| {
    for format in [TraceFormat::Csv, TraceFormat::Ns2] {
        let Ok(read) = format.parse(bytes.to_vec(), MOST) else { continue };
        assert!((1..=MOST).contains(&read.packets().len()));
        assert!(read.packets().is_sorted_by_key(|p| p.after));
        assert!(read.packets().iter().all(|p| (1..=65_507).contains(&p.payload_bytes)));
    }
});
