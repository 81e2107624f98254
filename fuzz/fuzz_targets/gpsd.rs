//! Lines of gpsd's protocol, from a daemon and from its clients.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_control::gpsd::{Report, parse_commands, parse_report};

fuzz_target!(|line: &str| {
    if let Some(Report::Fix(f)) = parse_report(line) {
        assert!(f.latitude_deg.abs() <= 90.0 && f.longitude_deg.abs() <= 180.0);
        assert!((0.0..360.0).contains(&f.heading_deg) && f.speed_m_per_s >= 0.0);
    }
    parse_commands(line);
});
