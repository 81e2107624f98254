//! GPX, KML, SUMO's floating car data, CORE's sessions, NMEA 0183 and EMANE's event logs: refused, or a scenario that can be read.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use wayhop_import::{Error, Imported, core_xml, eel, fcd, gpx, kml, nmea};
use wayhop_scenario::Scenario;

fuzz_target!(|text: &str| {
    let file = (Path::new("file"), text);
    let all: [Result<Imported, Error>; 7] =
        [gpx(&[file]), kml(&[file]), nmea(&[file]), fcd(file, false), fcd(file, true), eel(file), core_xml(file)];
    for read in all {
        match read {
            Err(e) => assert!(!e.reason.is_empty() && !e.remedy.is_empty()),
            Ok(made) => {
                let text = toml::to_string(&made.table).expect("TOML");
                Scenario::from_text(&text, &[]).expect("keys that there are");
            }
        }
    }
});
