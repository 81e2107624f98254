//! Where nodes are, from this node's own GPS and from others' packets.

use std::net::Ipv4Addr;

use wayhop_core::{Fix, Span, Time};

use crate::table::SortedTable;

/// A position, and when it became known.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct DatedPosition {
    /// What the GPS said.
    pub fix: Fix,
    /// When this node learned it.
    pub at: Time,
}

/// For how long a node is taken to go on as it went; after that it is taken to stand.
const LONGEST_PREDICTION: Span = Span::from_secs(10);

impl DatedPosition {
    /// Where the node should be at `now`, going on with the heading and the speed it had; for at most 10 s.
    pub fn predicted(&self, now: Time) -> Fix {
        let metres =
            f64::from(self.fix.speed_m_per_s) * now.since(self.at).min(LONGEST_PREDICTION).as_secs_f64();
        if metres <= 0.0 {
            return self.fix;
        }
        let heading = f64::from(self.fix.heading_deg).to_radians();
        let (north, east) = (metres * libm::cos(heading), metres * libm::sin(heading));
        let (per_lat, per_lon) = metres_per_degree(self.fix.latitude_deg);
        let latitude_deg = (self.fix.latitude_deg + north / per_lat).clamp(-90.0, 90.0);
        // At a pole every heading leads along a meridian; the longitude stays.
        let turned = if per_lon > 1.0 { east / per_lon } else { 0.0 };
        Fix { latitude_deg, longitude_deg: wrapped(self.fix.longitude_deg + turned), ..self.fix }
    }
}

/// The last known position of each node.
#[derive(Clone, Debug)]
pub struct Positions {
    rows: SortedTable<Ipv4Addr, DatedPosition>,
}

impl Positions {
    /// A table of at most `capacity` nodes; a new one then replaces the one silent for longest.
    pub fn new(capacity: usize) -> Self {
        Self { rows: SortedTable::new(capacity) }
    }
    /// `node` is at `fix`. A place that is not on the globe is not noted; a motion that is no number is taken for rest.
    pub fn learn(&mut self, node: Ipv4Addr, mut fix: Fix, now: Time) {
        if !fix.heading_deg.is_finite() || !fix.speed_m_per_s.is_finite() {
            (fix.heading_deg, fix.speed_m_per_s) = (0.0, 0.0);
        }
        let on_globe = fix.latitude_deg.abs() <= 90.0 && fix.longitude_deg.abs() <= 360.0;
        if on_globe {
            *self.rows.touch(node, now, || DatedPosition { fix, at: now }) = DatedPosition { fix, at: now };
        }
    }
    /// Where `node` was last, and when that became known.
    pub fn of(&self, node: Ipv4Addr) -> Option<&DatedPosition> {
        self.rows.get(node)
    }
    /// How far apart two nodes were last known to be, metres.
    pub fn distance_m(&self, a: Ipv4Addr, b: Ipv4Addr) -> Option<f64> {
        Some(distance_m(&self.of(a)?.fix, &self.of(b)?.fix))
    }
    /// How far apart two nodes should be at `now`, each going on as it went ([`DatedPosition::predicted`]), metres.
    pub fn predicted_distance_m(&self, a: Ipv4Addr, b: Ipv4Addr, now: Time) -> Option<f64> {
        Some(distance_m(&self.of(a)?.predicted(now), &self.of(b)?.predicted(now)))
    }
    /// Every node, by address.
    pub fn iter(&self) -> impl Iterator<Item = (Ipv4Addr, &DatedPosition)> {
        self.rows.iter()
    }
}

/// The distance between two places in metres: plane geometry with the WGS 84 ellipsoid's radii of curvature at the mean
/// latitude. Within 0.01 % up to 20 km away from the poles, which is further than these radios reach.
pub fn distance_m(a: &Fix, b: &Fix) -> f64 {
    let (per_lat, per_lon) = metres_per_degree(f64::midpoint(a.latitude_deg, b.latitude_deg));
    let north = (b.latitude_deg - a.latitude_deg) * per_lat;
    let east = wrapped(b.longitude_deg - a.longitude_deg) * per_lon;
    (north * north + east * east).sqrt()
}

/// Metres per degree of latitude and of longitude at this latitude (WGS 84).
fn metres_per_degree(latitude_deg: f64) -> (f64, f64) {
    const A: f64 = 6_378_137.0;
    const F: f64 = 1.0 / 298.257_223_563;
    const E2: f64 = F * (2.0 - F);
    let phi = latitude_deg.to_radians();
    let (sin, cos) = (libm::sin(phi), libm::cos(phi));
    let w2 = 1.0 - E2 * sin * sin;
    let across = A / w2.sqrt();
    let along = across * (1.0 - E2) / w2;
    (along.to_radians(), (across * cos).to_radians())
}

/// An angle of longitude brought into -180..180 degrees.
fn wrapped(degrees: f64) -> f64 {
    degrees - 360.0 * libm::floor((degrees + 180.0) / 360.0)
}
