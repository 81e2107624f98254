//! ns-2 movement files: read or refused; whatever is read has finite positions.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use wayhop_core::Time;
use wayhop_simulator_files::ns2::Importer;

fuzz_target!(|text: &str| {
    let mut importer = Importer::default();
    if importer.read(Path::new("movement"), text).is_err() {
        return;
    }
    if let Ok(read) = importer.finish(None) {
        assert_eq!(read.tracks.len(), read.ids.len());
        for track in &read.tracks {
            for leg in track.legs() {
                assert!(leg.from < leg.until);
                let at = leg.position(leg.until.min(Time::from_secs_f64(1e9)));
                assert!(at.x.is_finite() && at.y.is_finite() && at.z.is_finite());
            }
        }
    }
});
