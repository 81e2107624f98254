//! Datagrams at a collector: what is taken for a report fits into a datagram again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_control::monitor::{LONGEST_DATAGRAM, Report};

fuzz_target!(|datagram: &[u8]| {
    if let Ok(report) = Report::parse(datagram) {
        assert!(report.to_datagram().len() <= LONGEST_DATAGRAM);
    }
});
