//! Where nodes go, as the page has it.

use serde::{Deserialize, Serialize};

/// One node's way.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeTrack {
    pub(crate) start: Place,
    #[serde(default)]
    pub(crate) pause_s: f64,
    #[serde(default)]
    pub(crate) waypoints: Vec<Waypoint>,
}

/// Metres.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    pub(crate) x: f64,
    pub(crate) y: f64,
    #[serde(default)]
    pub(crate) z: f64,
}

/// A place to go to.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Waypoint {
    pub(crate) at: Place,
    pub(crate) speed_mps: f64,
    #[serde(default)]
    pub(crate) pause_s: f64,
}
