//! The quality of a position, in answers, events and reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::{AccuracyFrom, FixQuality, FixStatus};

/// How good a GPS receiver's position is. What the receiver does not tell is absent.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Gps {
    /// What kind of position it is: `2d`, `3d`, `dgps`, `rtk-float`, `rtk-fixed`, `dead-reckoning`, `gnss-dead-reckoning`, `surveyed`,
    /// `simulated`, `precise`; `none` without one.
    #[schemars(with = "String")]
    pub status: FixStatus,
    /// gpsd's mode: 2 with latitude and longitude, 3 with altitude, too.
    pub mode: u8,
    /// When the position was taken, by the receiver's clock: seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_unix_s: Option<f64>,
    /// Height above the WGS 84 ellipsoid, metres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub altitude_m: Option<f64>,
    /// Horizontal accuracy, metres: the root of the sum of the squares of the deviations north and east.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accuracy_m: Option<f64>,
    /// Vertical accuracy, metres.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vertical_m: Option<f64>,
    /// Where both accuracies come from: `gst`, the receiver's standard deviations; `epx`, gpsd's `epx`, `epy` and `epv`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub accuracy_from: Option<AccuracyFrom>,
    /// Satellites used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub satellites: Option<u8>,
    /// How old the differential or RTK corrections were that the receiver used, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrections_age_s: Option<f64>,
}

impl From<FixQuality> for Gps {
    fn from(q: FixQuality) -> Self {
        Self {
            status: q.status,
            mode: q.mode,
            time_unix_s: q.time_unix_ns.map(|ns| ns as f64 / 1e9),
            altitude_m: q.altitude_m,
            accuracy_m: q.accuracy_m,
            vertical_m: q.vertical_m,
            accuracy_from: q.accuracy_from,
            satellites: q.satellites,
            corrections_age_s: q.corrections_age_s,
        }
    }
}

impl Gps {
    /// That of a node whose place a scenario says.
    pub fn simulated() -> Self {
        Self { status: FixStatus::Simulated, mode: 2, ..Self::default() }
    }
}
