//! The local frame and the globe: WGS 84 latitude, longitude and height to metres east, north and up, and back.
//!
//! Written out here rather than taken from a crate because results must be the same on every machine, which the
//! standard library's sine and cosine do not promise.

use serde::{Deserialize, Serialize};
use wayhop_core::{Fix, Leg, Position, Time};

/// WGS 84: semi-major axis, metres.
const A: f64 = 6_378_137.0;
/// WGS 84: flattening.
const F: f64 = 1.0 / 298.257_223_563;
/// First eccentricity squared.
const E2: f64 = F * (2.0 - F);

/// A place on the globe (WGS 84).
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Geodetic {
    /// Latitude, degrees, north positive.
    pub lat: f64,
    /// Longitude, degrees, east positive.
    pub lon: f64,
    /// Height above the ellipsoid, metres.
    #[serde(default)]
    pub alt: f64,
}

/// The place where the local frame's origin touches the globe.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct GeoOrigin {
    at: [f64; 3],
    sin_lat: f64,
    cos_lat: f64,
    sin_lon: f64,
    cos_lon: f64,
}

impl GeoOrigin {
    /// A local frame with its origin at `origin`.
    pub fn new(origin: Geodetic) -> Self {
        let (lat, lon) = (origin.lat.to_radians(), origin.lon.to_radians());
        Self {
            at: to_ecef(origin),
            sin_lat: libm::sin(lat),
            cos_lat: libm::cos(lat),
            sin_lon: libm::sin(lon),
            cos_lon: libm::cos(lon),
        }
    }

    /// Metres east (x), north (y) and up (z) of the origin, along the plane that touches the globe there.
    pub fn to_local(&self, g: Geodetic) -> Position {
        let p = to_ecef(g);
        let [dx, dy, dz]: [f64; 3] = std::array::from_fn(|k| p[k] - self.at[k]);
        let Self { sin_lat, cos_lat, sin_lon, cos_lon, .. } = *self;
        let t = cos_lon * dx + sin_lon * dy;
        Position {
            x: -sin_lon * dx + cos_lon * dy,
            y: -sin_lat * t + cos_lat * dz,
            z: cos_lat * t + sin_lat * dz,
        }
    }

    /// The inverse of [`GeoOrigin::to_local`].
    pub fn to_geodetic(&self, p: Position) -> Geodetic {
        let Self { sin_lat, cos_lat, sin_lon, cos_lon, .. } = *self;
        let t = cos_lat * p.z - sin_lat * p.y;
        from_ecef([
            self.at[0] + cos_lon * t - sin_lon * p.x,
            self.at[1] + sin_lon * t + cos_lon * p.x,
            self.at[2] + sin_lat * p.z + cos_lat * p.y,
        ])
    }
}

/// Earth-centred, earth-fixed metres.
fn to_ecef(g: Geodetic) -> [f64; 3] {
    let (lat, lon) = (g.lat.to_radians(), g.lon.to_radians());
    let (s, c) = (libm::sin(lat), libm::cos(lat));
    let n = A / (1.0 - E2 * s * s).sqrt();
    [(n + g.alt) * c * libm::cos(lon), (n + g.alt) * c * libm::sin(lon), (n * (1.0 - E2) + g.alt) * s]
}

/// Bowring's iteration on the latitude; four rounds are exact to the last bits anywhere near the surface.
fn from_ecef([x, y, z]: [f64; 3]) -> Geodetic {
    let p = (x * x + y * y).sqrt();
    let b = A * (1.0 - F);
    let second = E2 / (1.0 - E2);
    // The parametric latitude.
    let mut beta = libm::atan2(z, p * (1.0 - F));
    let mut lat = 0.0;
    for _ in 0..4 {
        let (s, c) = (libm::sin(beta), libm::cos(beta));
        lat = libm::atan2(z + second * b * s * s * s, p - E2 * A * c * c * c);
        beta = libm::atan2((1.0 - F) * libm::sin(lat), libm::cos(lat));
    }
    let (s, c) = (libm::sin(lat), libm::cos(lat));
    let n = A / (1.0 - E2 * s * s).sqrt();
    // Near the poles p / cos(lat) loses all digits, near the equator z / sin(lat) does.
    let alt = if c > s.abs() { p / c - n } else { z / s - n * (1.0 - E2) };
    Geodetic { lat: lat.to_degrees(), lon: libm::atan2(y, x).to_degrees(), alt }
}

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

    fn geo(lat: f64, lon: f64, alt: f64) -> Geodetic {
        Geodetic { lat, lon, alt }
    }

    #[test]
    fn matches_published_values() {
        // The worked example of the pymap3d library's tests (42 N 82 W 200 m; azimuth 33, elevation 70, range 1000 m).
        let [x, y, z] = to_ecef(geo(42.0, -82.0, 200.0));
        assert!((x - 660_675.251_824_7).abs() < 1e-3, "{x}");
        assert!((y + 4_700_948.683_16).abs() < 1e-3, "{y}");
        assert!((z - 4_245_737.662_22).abs() < 1e-3, "{z}");
        let o = GeoOrigin::new(geo(42.0, -82.0, 200.0));
        let p = o.to_local(geo(42.002_582, -81.997_752, 1_139.701_8));
        assert!(p.distance(Position::new(186.277_521, 286.842_228, 939.692_621)) < 0.05, "{p:?}");
        // The ends of the axes, by definition of the ellipsoid: a = 6378137 m, b = 6356752.314245 m.
        assert!((to_ecef(geo(0.0, 0.0, 0.0))[0] - 6_378_137.0).abs() < 1e-6);
        assert!((to_ecef(geo(90.0, 0.0, 0.0))[2] - 6_356_752.314_245).abs() < 1e-6);
        // One degree of longitude on the equator is a * pi / 180 of arc; its chord's projection is a * sin(1 degree).
        let e = GeoOrigin::new(geo(0.0, 0.0, 0.0)).to_local(geo(0.0, 1.0, 0.0));
        assert!((e.x - 6_378_137.0 * libm::sin(1f64.to_radians())).abs() < 1e-6);
    }

    #[test]
    fn there_and_back_is_the_same_place() {
        for (lat, lon) in [(0.0, 0.0), (40.44, -79.94), (-33.9, 151.2), (71.0, 179.99), (-89.9, 10.0)] {
            let o = GeoOrigin::new(geo(lat, lon, 320.0));
            for p in [
                Position::default(),
                Position::new(1_500.0, -300.0, 12.0),
                Position::new(-80_000.0, 70_000.0, 9_000.0),
            ] {
                let back = o.to_local(o.to_geodetic(p));
                assert!(back.distance(p) < 1e-6, "{lat} {lon}: {p:?} -> {back:?}");
            }
        }
    }

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
