//! The keys of `[radio.site]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_radio::ZoneEnds;

use crate::nodes::{NodeRef, Place};

/// What the place around the nodes does to signals, besides distance: docs/concepts/radio.md. Every key is optional;
/// what is not given does nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Lost on every link: cables, connectors, car bodies, foliage; dB.
    #[serde(default)]
    pub loss_db: f64,
    /// Standard deviation of the shadowing that belongs to the places of both ends, dB.
    #[serde(default)]
    pub shadowing_sigma_db: f64,
    /// How far an end moves until the correlation of shadowing has fallen to 1/e, metres.
    #[serde(default = "shadowing_distance")]
    pub shadowing_distance_m: f64,
    /// Standard deviation of the shadowing that changes with time, too, dB.
    #[serde(default)]
    pub drift_sigma_db: f64,
    /// How long it takes until its correlation has fallen to 1/e, seconds.
    #[serde(default = "drift_time")]
    pub drift_time_s: f64,
    /// K factor of Rician fading everywhere, dB (-30: Rayleigh). Without it: no fading outside zones. Unlike
    /// `radio.fading` it belongs to the places of both ends: it moves with a car and stands with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rician_k_db: Option<f64>,
    /// How far an end moves until the fading's correlation has fallen to 1/sqrt(e), metres.
    #[serde(default = "fade_distance")]
    pub fade_distance_m: f64,
    /// Parts of the site with a propagation of their own.
    #[serde(default, rename = "zone", skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<Zone>,
    /// Antennas that differ from `radio.antenna_gain_dbi` and `radio.antenna_height_m`.
    #[serde(default, rename = "antenna", skip_serializing_if = "Vec::is_empty")]
    pub antennas: Vec<Antenna>,
    /// Losses of single links.
    #[serde(default, rename = "pair", skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Pair>,
}

/// A part of the site with a propagation of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// The name of an area in `map`, or any name if `corners` are given.
    pub name: String,
    /// Its corners.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corners: Vec<Place>,
    /// Which links it concerns: those with an end inside, or those with both.
    #[serde(default)]
    pub ends: ZoneEnds,
    /// Lost by each end inside, or once with `ends = "both"`, dB.
    #[serde(default)]
    pub loss_db: f64,
    /// K factor of the fading of links that it concerns, dB (-30: Rayleigh); the worst zone rules. Without it: as
    /// elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rician_k_db: Option<f64>,
    /// How far an end moves until the fading's correlation has fallen to 1/sqrt(e), metres.
    #[serde(default = "fade_distance")]
    pub fade_distance_m: f64,
}

/// The antenna of some nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Antenna {
    /// Whose. Of several entries for a node the last counts.
    pub nodes: Vec<NodeRef>,
    /// Gain, dBi; ahead, if there is a bearing. Without it: the radio's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gain_dbi: Option<f64>,
    /// Height above the node's position, metres. Without it: the radio's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height_m: Option<f64>,
    /// Where it points, degrees clockwise from north. Without it: the same in every direction.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bearing_deg: Option<f64>,
    /// The node that it points at in the beginning, in the place of `bearing_deg`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub towards: Option<NodeRef>,
    /// Full angle between the directions of half the power, degrees.
    #[serde(default = "beam_width")]
    pub beam_width_deg: f64,
    /// How much weaker the back lobe is, dB.
    #[serde(default = "front_to_back")]
    pub front_to_back_db: f64,
}

/// The loss of one link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Its two ends.
    pub nodes: [NodeRef; 2],
    /// What it loses in both directions besides everything else, dB.
    pub loss_db: f64,
}

fn shadowing_distance() -> f64 {
    20.0
}
fn drift_time() -> f64 {
    10.0
}
fn fade_distance() -> f64 {
    0.5
}
fn beam_width() -> f64 {
    110.0
}
fn front_to_back() -> f64 {
    15.0
}
