//! The nodes' GPS receivers: without error, at the moment when they are asked.

use wayhop_core::{Fix, Leg, Position, Time};

use crate::geodesy::{GeoOrigin, Geodetic};

/// Where a scenario that does not say so lies: on the equator, at 0 degrees east.
const NOWHERE: Geodetic = Geodetic { lat: 0.0, lon: 0.0, alt: 0.0 };

/// Tells places of the local frame as a GPS receiver does.
#[derive(Clone, Debug)]
pub struct Gps {
    origin: GeoOrigin,
    /// Whether somebody has said where the frame lies.
    is_on_earth: bool,
}

impl Gps {
    /// For a frame with this origin; without one it lies on the equator.
    pub fn new(origin: Option<Geodetic>) -> Self {
        Self { origin: GeoOrigin::new(origin.unwrap_or(NOWHERE)), is_on_earth: origin.is_some() }
    }

    /// Whether its places are such of the globe. If not, they serve to tell nodes' distances, and nothing else.
    pub fn is_on_earth(&self) -> bool {
        self.is_on_earth
    }

    /// A place on the globe, in the local frame.
    pub fn local(&self, place: Geodetic) -> Position {
        self.origin.to_local(place)
    }

    /// What a receiver on this leg tells at a time.
    pub fn fix(&self, leg: &Leg, at: Time) -> Fix {
        let Position { x, y, z } = leg.position(at);
        let place = self.origin.to_geodetic(Position { x, y, z });
        let [east, north, _] = leg.velocity;
        // The course counts clockwise from north; the local frame's north is true north near its origin.
        let course = libm::atan2(east, north).to_degrees();
        let heading = (if course < 0.0 { course + 360.0 } else { course }) as f32;
        Fix {
            latitude_deg: place.lat,
            longitude_deg: place.lon,
            // Just below 360 rounds up to it.
            heading_deg: if heading >= 360.0 { 0.0 } else { heading },
            speed_m_per_s: (east * east + north * north).sqrt() as f32,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_has_course_and_speed_over_ground() {
        let gps = Gps::new(None);
        let leg =
            |east: f64, north: f64| Leg { velocity: [east, north, 2.0], ..Leg::at_rest(Position::default()) };
        for (east, north, course, speed) in [
            (0.0, 10.0, 0.0, 10.0),
            (3.0, 0.0, 90.0, 3.0),
            (0.0, -1.0, 180.0, 1.0),
            (-3.0, 4.0, 323.130_1, 5.0),
        ] {
            let fix = gps.fix(&leg(east, north), Time::ZERO);
            assert!((fix.heading_deg - course).abs() < 1e-3, "{fix:?}");
            assert!((fix.speed_m_per_s - speed).abs() < 1e-6, "{fix:?}");
        }
        // A degree of longitude on the equator: 111.319 km.
        let fix = gps.fix(&Leg::at_rest(Position::new(111.319, 0.0, 0.0)), Time::ZERO);
        assert!((fix.longitude_deg - 0.001).abs() < 1e-8 && fix.latitude_deg.abs() < 1e-9, "{fix:?}");
    }
}
