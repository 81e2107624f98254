//! BonnMotion's movement files: refused, or read as a track for each node.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_simulator_files::BonnMotion;

fuzz_target!(|text: &str| {
    let Ok(file) = BonnMotion::parse(text, None) else { return };
    assert!(!file.tracks.is_empty());
    for track in &file.tracks {
        let place = track.position(file.end);
        assert!([place.x, place.y, place.z].iter().all(|v| v.is_finite()));
    }
});
