//! How a scenario names places and nodes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A position: metres in the local frame, or degrees if the scenario has an `origin`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// East, metres.
    pub x: Option<f64>,
    /// North, metres.
    pub y: Option<f64>,
    /// Up, metres.
    pub z: Option<f64>,
    /// Latitude, degrees, north positive.
    pub lat: Option<f64>,
    /// Longitude, degrees, east positive.
    pub lon: Option<f64>,
    /// Height above the WGS 84 ellipsoid, metres.
    pub alt: Option<f64>,
}

/// A node: its number counted from 0, or its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NodeRef {
    /// Counted from 0.
    Id(u32),
    /// As `nodes.node` names it.
    Name(String),
}
