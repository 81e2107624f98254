//! The keys of movement.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_simulator_files::Columns;

use crate::nodes::Place;

/// Where one node goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NodeTrack {
    /// Where it stands at first.
    pub start: Place,
    /// How long it stands there before it sets off, seconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pause_s: f64,
    /// Where it goes then, one after the other. It stays at the last one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waypoints: Vec<Waypoint>,
}

/// A place to go to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Waypoint {
    /// The place.
    pub at: Place,
    /// How fast the node goes there, in a straight line, m/s.
    pub speed_mps: f64,
    /// How long it stays there, seconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pause_s: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(seconds: &f64) -> bool {
    *seconds == 0.0
}

/// Where the nodes are, when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Movement {
    /// Every node stands at a listed place.
    Static {
        /// One place for each node.
        positions: Vec<Place>,
    },
    /// Every node goes from waypoint to waypoint, as listed: what `wayhop studio SCENARIO` draws.
    Waypoints {
        /// One track for each node.
        tracks: Vec<NodeTrack>,
    },
    /// A straight line along x.
    Chain {
        /// Distance of neighbours, metres.
        spacing_m: f64,
    },
    /// Rows of a square grid.
    Grid {
        /// Distance of neighbours, metres.
        spacing_m: f64,
        /// Nodes to a row. Without it: as near to a square as the count allows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        columns: Option<u32>,
    },
    /// Every node stands at a place drawn uniformly from the area.
    Uniform {},
    /// Random waypoint: to a place drawn uniformly from the area, in a straight line at a speed drawn uniformly; pause;
    /// again.
    RandomWaypoint {
        /// Lowest speed, m/s.
        #[serde(default = "slowest")]
        speed_min_mps: f64,
        /// Highest speed, m/s.
        speed_max_mps: f64,
        /// Pause at each waypoint, seconds.
        #[serde(default)]
        pause_s: f64,
        /// Start as if the nodes had moved for ever; otherwise uniformly in the area and with a pause.
        #[serde(default)]
        steady_state: bool,
        /// The same moves so many times as fast, every moment divided by this: a pattern at another speed. The patterns of runs
        /// that last `duration_s` over `speed_factor` are the same.
        #[serde(default = "unchanged", skip_serializing_if = "is_unchanged")]
        speed_factor: f64,
    },
    /// Cars one behind the other along a line of the map: there and back, or round and round if the line ends where it
    /// begins. All nodes drive that have no place of their own, the first in front. The leader draws a speed uniformly
    /// for each stretch between two points of the line; the others do the same at the same places, later.
    Course {
        /// The name of a line in `map`. Its points of kind `stop` that lie within 20 m of it are places to halt at.
        line: String,
        /// Lowest speed, m/s.
        speed_min_mps: f64,
        /// Highest speed, m/s.
        speed_max_mps: f64,
        /// How long every car halts at every stop, seconds.
        #[serde(default)]
        stop_s: f64,
        /// From car to car, metres, at the mean speed under way. Give this or `separation_s`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        separation_m: Option<f64>,
        /// From car to car, seconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        separation_s: Option<f64>,
        /// Each car is early or late by up to this, seconds, drawn anew for each lap.
        #[serde(default)]
        jitter_s: f64,
        /// The same drive so many times as fast, every moment divided by this, halts and separations too.
        #[serde(default = "unchanged", skip_serializing_if = "is_unchanged")]
        speed_factor: f64,
    },
    /// A movement file of BonnMotion (`.movements`), plain or gzip: a line for each node.
    Bonnmotion {
        /// The file; a relative path counts from the scenario file's folder.
        path: PathBuf,
        /// The numbers of each waypoint. Without it: what BonnMotion's own file `NAME.params` beside the movement file says; without
        /// that, what the file itself allows, which is refused if there are several ways to read it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        columns: Option<Columns>,
        /// The same moves so many times as fast, every moment divided by this. Traffic keeps its times.
        #[serde(default = "unchanged", skip_serializing_if = "is_unchanged")]
        speed_factor: f64,
    },
    /// A movement file of ns-2 (`setdest`), plain or gzip.
    Ns2 {
        /// The file; a relative path counts from the scenario file's folder.
        path: PathBuf,
        /// The same moves so many times as fast, every moment divided by this. Traffic keeps its times.
        #[serde(default = "unchanged", skip_serializing_if = "is_unchanged")]
        speed_factor: f64,
    },
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
