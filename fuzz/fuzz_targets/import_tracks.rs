//! GPX, KML, SUMO's floating car data, CORE's sessions, NMEA 0183, EMANE's event logs and tables of places, in any encoding: refused, or a
//! scenario that can be read.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use wayhop_import::{
    Error, FcdCoordinates, Heights, ImportedScenario, core_xml, csv, eel, fcd, gpx, kml, nmea,
};
use wayhop_scenario::Scenario;

fuzz_target!(|octets: &[u8]| {
    let text = match wayhop_import::text(octets) {
        Ok(text) => text,
        Err(e) => return assert!(!e.reason.is_empty() && !e.remedy.is_empty()),
    };
    let file = (Path::new("file"), text.as_str());
    let all: [Result<ImportedScenario, Error>; 8] = [
        gpx(&[file], Heights::Read),
        kml(&[file], Heights::Read),
        nmea(&[file], Heights::Read),
        csv(&[file], Heights::Read),
        fcd(file, FcdCoordinates::Detect, Heights::Read),
        fcd(file, FcdCoordinates::Degrees, Heights::Read),
        eel(file, Heights::Read),
        core_xml(file),
    ];
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
