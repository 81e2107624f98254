//! Captures as a scenario's traffic: refused, or a scenario that can be read.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use wayhop_import::pcapng;
use wayhop_protocols::CLASSIFIER;
use wayhop_scenario::Scenario;

fuzz_target!(|octets: &[u8]| {
    match pcapng(vec![(Path::new("file"), octets)], CLASSIFIER) {
        Err(e) => assert!(!e.reason.is_empty() && !e.remedy.is_empty()),
        Ok(mut made) => {
            made.name_files("made");
            let text = toml::to_string(&made.table).expect("TOML");
            Scenario::from_text(&text, &[]).expect("keys that there are");
        }
    }
});
