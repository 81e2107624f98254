//! Where a node is.

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
