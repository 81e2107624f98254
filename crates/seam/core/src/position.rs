//! Where a node is: in the scenario's coordinates, and from a GPS receiver.

use serde::{Deserialize, Serialize};

/// A place in metres, in the scenario's local frame: x east, y north, z up.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Position {
    /// East, metres.
    pub x: f64,
    /// North, metres.
    pub y: f64,
    /// Up, metres.
    pub z: f64,
}

impl Position {
    /// The place (x, y, z), in metres.
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self { x, y, z }
    }
    /// The square of the straight-line distance, in square metres.
    pub fn distance_squared(self, o: Self) -> f64 {
        let (dx, dy, dz) = (self.x - o.x, self.y - o.y, self.z - o.z);
        dx * dx + dy * dy + dz * dz
    }
    /// The straight-line distance, in metres.
    pub fn distance(self, o: Self) -> f64 {
        self.distance_squared(o).sqrt()
    }
}

/// The fix of a node's GPS receiver (WGS 84).
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fix {
    /// Latitude, degrees, north positive.
    pub latitude_deg: f64,
    /// Longitude, degrees, east positive.
    pub longitude_deg: f64,
    /// Course over ground, degrees clockwise from north, from 0 to below 360; 0 when the node stands.
    pub heading_deg: f32,
    /// Speed over ground, metres per second.
    pub speed_m_per_s: f32,
}
