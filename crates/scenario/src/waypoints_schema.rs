//! The keys of a movement by waypoints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::references::Place;

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
