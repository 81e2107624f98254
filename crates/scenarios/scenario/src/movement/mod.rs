//! How nodes move.

pub(crate) mod course;
pub(crate) mod waypoints;

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_simulator_files::Columns;

use crate::nodes::Place;

/// The most trips of all nodes together that random waypoint may draw: 128 octets each.
pub(crate) const MAX_TRIPS: f64 = 1e7;

/// The track of one node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeTrack {
    /// The initial position.
    pub start: Place,
    /// Pause at the initial position, seconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pause_s: f64,
    /// The waypoints, in order. The node stays at the last one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waypoints: Vec<Waypoint>,
}

/// A waypoint.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// The position.
    pub at: Place,
    /// Speed on the straight line to it, m/s.
    pub speed_mps: f64,
    /// Pause at it, seconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pause_s: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// The movement of the nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Movement {
    /// Every node stays at a listed position.
    Static {
        /// One position for each node.
        positions: Vec<Place>,
    },
    /// Every node moves along the listed waypoints, as drawn in `wayhop studio SCENARIO`.
    Waypoints {
        /// One track for each node.
        tracks: Vec<NodeTrack>,
    },
    /// A straight line along x.
    Chain {
        /// Distance between neighbours, metres.
        spacing_m: f64,
    },
    /// Rows of a square grid.
    Grid {
        /// Distance between neighbours, metres.
        spacing_m: f64,
        /// Nodes in a row. Default: as close to a square as the number of nodes allows.
        columns: Option<u32>,
    },
    /// Every node stays at a position drawn uniformly from the area.
    Uniform {},
    /// Random waypoint: move in a straight line to a position drawn uniformly from the area, at a speed drawn
    /// uniformly, then pause, and repeat.
    RandomWaypoint {
        /// Minimum speed, m/s.
        #[serde(default = "slowest")]
        speed_min_mps: f64,
        /// Maximum speed, m/s.
        speed_max_mps: f64,
        /// Pause at each waypoint, seconds.
        #[serde(default)]
        pause_s: f64,
        /// Start in the steady state of the model; otherwise start at uniformly drawn positions, with a pause.
        #[serde(default)]
        steady_state: bool,
        /// Speed up the movement by this factor: all its times are divided by it, so that the same pattern runs at
        /// another speed. Runs that last `duration_s` divided by `speed_factor` have the same pattern.
        #[serde(default = "unchanged", skip_serializing_if = "is_unchanged")]
        speed_factor: f64,
    },
    /// A column of cars on a line of the map: back and forth, or in laps if the line ends where it begins. All nodes
    /// without their own position drive, the first in front. The leader draws a speed uniformly for each stretch
    /// between two points of the line; the others drive at the same speeds in the same places, later.
    Course {
        /// The name of a line in `map`. Its points of kind `stop` within 20 m of the line are stops.
        line: String,
        /// Minimum speed, m/s.
        speed_min_mps: f64,
        /// Maximum speed, m/s.
        speed_max_mps: f64,
        /// Time for which each car halts at each stop, seconds.
        #[serde(default)]
        stop_s: f64,
        /// Distance between cars, metres, at the mean driving speed. Set this or `separation_s`.
        separation_m: Option<f64>,
        /// Time between cars, seconds.
        separation_s: Option<f64>,
        /// The most by which a car is early or late, in seconds, drawn for each lap.
        #[serde(default)]
        jitter_s: f64,
        /// Speed up the drive by this factor: all its times, including halts and separations, are divided by it.
        #[serde(default = "unchanged", skip_serializing_if = "is_unchanged")]
        speed_factor: f64,
    },
    /// A BonnMotion movement file (`.movements`), plain or gzip, with one line per node.
    Bonnmotion {
        /// The file; a relative path is relative to the scenario file's folder.
        path: PathBuf,
        /// The numbers in each waypoint. Default: as `NAME.params`, which BonnMotion writes next to the movement file,
        /// says; without it, what the file itself allows. A file that can be read in several ways is refused.
        columns: Option<Columns>,
        /// Speed up the movement by this factor: all its times are divided by it. The times of traffic do not change.
        #[serde(default = "unchanged", skip_serializing_if = "is_unchanged")]
        speed_factor: f64,
    },
    /// An ns-2 movement file (`setdest`), plain or gzip.
    Ns2 {
        /// The file; a relative path is relative to the scenario file's folder.
        path: PathBuf,
        /// Speed up the movement by this factor: all its times are divided by it. The times of traffic do not change.
        #[serde(default = "unchanged", skip_serializing_if = "is_unchanged")]
        speed_factor: f64,
    },
}

impl Movement {
    /// By how much its times are divided, for the kinds that have this key.
    pub(crate) fn speed_factor(&self) -> Option<f64> {
        match self {
            Self::RandomWaypoint { speed_factor, .. }
            | Self::Course { speed_factor, .. }
            | Self::Bonnmotion { speed_factor, .. }
            | Self::Ns2 { speed_factor, .. } => Some(*speed_factor),
            _ => None,
        }
    }
}

fn unchanged() -> f64 {
    1.0
}
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_unchanged(factor: &f64) -> bool {
    *factor == 1.0
}

fn slowest() -> f64 {
    0.01
}
