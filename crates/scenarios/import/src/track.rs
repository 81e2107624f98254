//! The positions of one node over time.

use wayhop_core::Position;

/// Nearer than this, metres, counts as the same place: no file is that exact.
pub(crate) const SAME_PLACE_M: f64 = 1e-3;

/// A node at a moment.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Point {
    /// Seconds from whatever beginning the file has.
    pub(crate) at_s: f64,
    pub(crate) place: Position,
    /// The line of the file that says so.
    pub(crate) line: u32,
}

/// Where one node was.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Track {
    pub(crate) name: String,
    /// In order of time.
    pub(crate) points: Vec<Point>,
    /// The file that says so, as an index.
    pub(crate) file: usize,
    /// The node is there only between its first and its last point.
    pub(crate) comes_and_goes: bool,
}
