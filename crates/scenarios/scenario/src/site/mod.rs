//! The site: a map, a picture under it, and its effect on signals.

pub(crate) mod background;
mod locate;
mod map;
mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_radio::ZoneEnds;

use crate::nodes::{NodeRef, Place};

pub(crate) use locate::{check_geodetic, locate};
pub use map::{Map, MapFeature, Shape};
pub(crate) use resolve::resolve;

/// How the surroundings of the nodes affect signals, in addition to distance: docs/concepts/radio.md. Every key is
/// optional, and without it the effect is disabled.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// Loss on every link, dB: cables, connectors, car bodies, foliage.
    #[serde(default)]
    pub loss_db: f64,
    /// Standard deviation of the shadowing that depends on the positions of both ends, dB.
    #[serde(default)]
    pub shadowing_sigma_db: f64,
    /// Distance an end moves until the correlation of the shadowing has dropped to 1/e, metres.
    #[serde(default = "shadowing_distance")]
    pub shadowing_distance_m: f64,
    /// Standard deviation of the shadowing that also changes with time, dB.
    #[serde(default)]
    pub drift_sigma_db: f64,
    /// Time until its correlation has dropped to 1/e, seconds.
    #[serde(default = "drift_time")]
    pub drift_time_s: f64,
    /// Rician K factor of the fading everywhere, dB (-30: Rayleigh). Default: no fading outside zones. Unlike
    /// `radio.fading` it depends on the positions of both ends: it changes while a car moves, and stays the same while
    /// it is parked.
    pub rician_k_db: Option<f64>,
    /// Distance an end moves until the correlation of the fading has dropped to 1/sqrt(e), metres.
    #[serde(default = "fade_distance")]
    pub fade_distance_m: f64,
    /// Parts of the site with their own propagation.
    #[serde(default, rename = "zone", skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<Zone>,
    /// Antennas that differ from `radio.antenna_gain_dbi` and `radio.antenna_height_m`.
    #[serde(default, rename = "antenna", skip_serializing_if = "Vec::is_empty")]
    pub antennas: Vec<Antenna>,
    /// Losses of single links.
    #[serde(default, rename = "pair", skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<Pair>,
}

/// A part of the site with its own propagation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// The name of an area in `map`, or any name if `corners` are given.
    pub name: String,
    /// Its corners.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub corners: Vec<Place>,
    /// The links affected: those with at least one end inside, or only those with both.
    #[serde(default)]
    pub ends: ZoneEnds,
    /// Loss for each end inside, dB; with `ends = "both"`, once per link.
    #[serde(default)]
    pub loss_db: f64,
    /// Rician K factor of the fading on affected links, dB (-30: Rayleigh). If several zones affect a link, the worst
    /// one applies. Default: as outside the zone.
    pub rician_k_db: Option<f64>,
    /// Distance an end moves until the correlation of the fading has dropped to 1/sqrt(e), metres.
    #[serde(default = "fade_distance")]
    pub fade_distance_m: f64,
}

/// The antennas of some nodes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Antenna {
    /// The nodes. If several entries name a node, the last one applies.
    pub nodes: Vec<NodeRef>,
    /// Gain, dBi; for a directional antenna, in the direction in which it points. Default: the radio's.
    pub gain_dbi: Option<f64>,
    /// Height above the node's position, metres. Default: the radio's.
    pub height_m: Option<f64>,
    /// Direction in which it points, degrees clockwise from north. Default: omnidirectional.
    pub bearing_deg: Option<f64>,
    /// The node at which it points at the start of the run, instead of `bearing_deg`.
    pub towards: Option<NodeRef>,
    /// Full half-power beam width, degrees.
    #[serde(default = "beam_width")]
    pub beam_width_deg: f64,
    /// Front-to-back ratio: how much weaker the back lobe is, dB.
    #[serde(default = "front_to_back")]
    pub front_to_back_db: f64,
}

/// Additional loss of one link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// The two ends of the link.
    pub nodes: [NodeRef; 2],
    /// Loss in both directions, in addition to everything else, dB.
    pub loss_db: f64,
}

defaults! {
    shadowing_distance: f64 = 20.0;
    drift_time: f64 = 10.0;
    fade_distance: f64 = 0.5;
    beam_width: f64 = 110.0;
    front_to_back: f64 = 15.0;
}
