//! GeoJSON maps: read or refused; whatever is read lies near the origin.
#![no_main]

use libfuzzer_sys::fuzz_target;
use wayhop_scenario::{Map, Shape};
use wayhop_world::{Course, Geodetic};

fuzz_target!(|text: &str| {
    let Ok(map) = Map::parse(text, Geodetic { lat: 40.43, lon: -79.95, alt: 0.0 }) else { return };
    for f in map.features() {
        let places = match &f.shape {
            Shape::Point(p) => std::slice::from_ref(p),
            Shape::Line(l) | Shape::Area(l) => l,
        };
        assert!(places.iter().all(|p| p.x.abs() <= 1e5 && p.y.abs() <= 1e5 && p.z == 0.0));
        if let Some(course) = Course::new(places, places, 20.0) {
            assert!(course.lap_m() >= 1.0 && course.lap_m().is_finite());
        }
    }
});
