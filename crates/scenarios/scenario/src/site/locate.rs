//! Checks of places.

use wayhop_core::Position;
use wayhop_document::{Document, Result, in_range};
use wayhop_world::{GeoOrigin, Geodetic};

use crate::file::Scenario;
use crate::nodes::Place;

/// No coordinate is farther from the origin, metres.
const MAX_COORDINATE_M: f64 = 1e9;

pub(crate) fn locate(place: Place, scenario: &Scenario, key: &str) -> Result<Position> {
    let doc = &scenario.document;
    let local = match place {
        Place { x: Some(x), y: Some(y), z, lat: None, lon: None, alt: None } => {
            Position::new(x, y, z.unwrap_or(0.0))
        }
        Place { x: None, y: None, z: None, lat: Some(lat), lon: Some(lon), alt } => {
            let Some(origin) = scenario.origin else {
                let remedy = "add: origin = { lat = ..., lon = ... }";
                return Err(doc.error(key, "latitude and longitude require an origin", remedy));
            };
            let here = Geodetic { lat, lon, alt: alt.unwrap_or(origin.alt) };
            check_geodetic(here, key, doc)?;
            GeoOrigin::new(origin).to_local(here)
        }
        _ => {
            let remedy = "set either x, y (and z) or lat, lon (and alt)";
            return Err(doc.error(key, "neither x and y nor lat and lon are set", remedy));
        }
    };
    for c in [local.x, local.y, local.z] {
        in_range(doc, key, c, -MAX_COORDINATE_M, MAX_COORDINATE_M)?;
    }
    Ok(local)
}

pub(crate) fn check_geodetic(g: Geodetic, key: &str, doc: &Document) -> Result<()> {
    in_range(doc, &format!("{key}.lat"), g.lat, -90.0, 90.0)?;
    in_range(doc, &format!("{key}.lon"), g.lon, -180.0, 360.0)?;
    in_range(doc, &format!("{key}.alt"), g.alt, -12_000.0, 1e7)?;
    Ok(())
}
