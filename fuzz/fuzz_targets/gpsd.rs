//! Lines of gpsd's protocol, from a daemon and from its clients.
#![no_main]

use std::time::Instant;

use libfuzzer_sys::fuzz_target;
use wayhop_control::gpsd::{Reader, parse_commands};

fuzz_target!(|text: &str| {
    let at = Instant::now();
    let mut reader = Reader::default();
    for line in text.lines() {
        reader.take(line, at);
        if let Some(r) = reader.latest() {
            let f = r.fix;
            assert!(f.latitude_deg.abs() <= 90.0 && f.longitude_deg.abs() <= 180.0);
            assert!((0.0..360.0).contains(&f.heading_deg) && f.speed_m_per_s >= 0.0);
            assert!(
                r.quality.accuracy_m.is_none_or(|m| m >= 0.0)
                    && r.quality.vertical_m.is_none_or(|m| m >= 0.0)
            );
        }
        parse_commands(line);
    }
});
