//! What can be chosen about beacons.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_core::ParameterError;

use super::message::HEADER_LEN;

/// The longest beacon, bytes: what fits into an Ethernet frame with a source route.
const MAX_BYTES: u32 = 1_400;
/// The longest time of any key, seconds: a day.
const MAX_S: f64 = 86_400.0;
/// The shortest interval and lifetime, seconds.
const MIN_S: f64 = 0.001;

/// Beacons to neighbours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Params {
    /// The shortest time between two beacons of a node, seconds. Each time is drawn uniformly.
    pub interval_min_s: f64,
    /// The longest time between two beacons of a node, seconds.
    pub interval_max_s: f64,
    /// How long a neighbour that is not heard counts as one, seconds. Default: three times `interval_max_s`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lifetime_s: Option<f64>,
    /// UDP payload of a beacon, bytes.
    pub payload_bytes: u32,
    /// The UDP port of beacons.
    pub port: u16,
    /// A node's first beacon is sent at a random time within `interval_max_s` after this, seconds from the start of the run.
    pub start_s: f64,
    /// When nodes stop sending beacons, seconds from the start of the run. Default: at its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_s: Option<f64>,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            interval_min_s: 0.75,
            interval_max_s: 1.25,
            lifetime_s: None,
            payload_bytes: 64,
            port: 7_072,
            start_s: 0.0,
            stop_s: None,
        }
    }
}

impl Params {
    pub(super) fn lifetime_s(&self) -> f64 {
        self.lifetime_s.unwrap_or(3.0 * self.interval_max_s)
    }

    pub(super) fn check_ranges(&self) -> Result<(), ParameterError> {
        let wrong = |key: &'static str, problem: String, remedy: String| {
            Err(ParameterError { key: Some(key.into()), problem, remedy })
        };
        for (key, s, least) in [
            ("interval_min_s", self.interval_min_s, MIN_S),
            ("interval_max_s", self.interval_max_s, MIN_S),
            ("lifetime_s", self.lifetime_s.unwrap_or(MIN_S), MIN_S),
            ("start_s", self.start_s, 0.0),
            ("stop_s", self.stop_s.unwrap_or(0.0), 0.0),
        ] {
            if !(least..=MAX_S).contains(&s) {
                return wrong(key, format!("{s} is out of range"), format!("give {least} to {MAX_S} s"));
            }
        }
        if self.interval_max_s < self.interval_min_s {
            return wrong(
                "interval_max_s",
                format!("{} s is less than interval_min_s", self.interval_max_s),
                format!("give {} s or more", self.interval_min_s),
            );
        }
        let least = HEADER_LEN as u32;
        if !(least..=MAX_BYTES).contains(&self.payload_bytes) {
            return wrong(
                "payload_bytes",
                format!("a beacon of {} bytes", self.payload_bytes),
                format!("give {least} to {MAX_BYTES} bytes"),
            );
        }
        if self.port == 0 {
            return wrong("port", "0 is not a port".to_owned(), "give 1 to 65535".to_owned());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_out_of_range_are_refused_by_key() {
        let default = Params::default;
        for (params, key) in [
            (Params { interval_min_s: 0.0, ..default() }, "interval_min_s"),
            (Params { interval_max_s: f64::NAN, ..default() }, "interval_max_s"),
            (Params { interval_max_s: 0.5, ..default() }, "interval_max_s"),
            (Params { lifetime_s: Some(0.0), ..default() }, "lifetime_s"),
            (Params { start_s: -1.0, ..default() }, "start_s"),
            (Params { stop_s: Some(1e9), ..default() }, "stop_s"),
            (Params { payload_bytes: 7, ..default() }, "payload_bytes"),
            (Params { payload_bytes: 1_401, ..default() }, "payload_bytes"),
            (Params { port: 0, ..default() }, "port"),
        ] {
            let told = params.check_ranges().expect_err(key);
            assert_eq!(told.key.as_deref(), Some(key));
        }
        assert!(default().check_ranges().is_ok());
        let regular = Params { interval_min_s: 1.0, interval_max_s: 1.0, ..default() };
        assert!(regular.check_ranges().is_ok(), "intervals need not vary");
    }
}
