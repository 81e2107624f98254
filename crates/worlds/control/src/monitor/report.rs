//! One report: a line of a log, and the content of a datagram.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::gps::Gps;
use crate::messages::Place;

/// The version of the format, the value of a report's key `wayhop_report`.
pub const VERSION: u64 = 1;

/// The longest datagram, octets: with IP, UDP and a source route it fits into one frame of any of our radios.
pub const LONGEST_DATAGRAM: usize = 1200;

/// The most counters that a report from elsewhere may have.
const MOST_COUNTERS: usize = 256;
/// The longest name in one.
const LONGEST_NAME: usize = 64;

/// What a node knows of itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// [`VERSION`].
    pub wayhop_report: u64,
    /// The node's name.
    pub node: String,
    /// Which start of the node this is: seconds since 1970 at its first report. It distinguishes
    /// restarted numbers from late ones.
    pub start_unix_s: u64,
    /// The report's number since then, from 0.
    pub number: u64,
    /// The node's clock, seconds since 1970.
    pub time_unix_s: f64,
    /// Where it is, if it knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<Place>,
    /// How good its receiver's position is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gps: Option<Gps>,
    /// What it has counted since its start.
    #[serde(default)]
    pub counters: BTreeMap<String, u64>,
    /// How many counters were left out, so that the report fits into a datagram.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub counters_left_out: u64,
    /// How many reports the node could not write into its own log.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub not_logged: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Report {
    /// The line of a log, without its end.
    pub fn to_line(&self) -> String {
        // Text and numbers; a float that is none becomes null.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The content of a datagram: at most [`LONGEST_DATAGRAM`] octets. Counters that do not fit are left out from the end of
    /// the alphabet, and counted.
    pub fn to_datagram(&self) -> Vec<u8> {
        let whole = self.to_line();
        if whole.len() <= LONGEST_DATAGRAM {
            return whole.into_bytes();
        }
        let mut cut = Self { counters: BTreeMap::new(), ..self.clone() };
        cut.node = cut.node.chars().take(LONGEST_NAME).collect();
        cut.counters_left_out = u64::MAX;
        let mut room = LONGEST_DATAGRAM.saturating_sub(cut.to_line().len());
        for (name, value) in &self.counters {
            // "name":value, - and a name that needs escapes takes more.
            let needed = serde_json::to_string(name).map_or(0, |n| n.len()) + value.to_string().len() + 2;
            if needed > room {
                break;
            }
            room -= needed;
            cut.counters.insert(name.clone(), *value);
        }
        cut.counters_left_out = (self.counters.len() - cut.counters.len()) as u64;
        cut.to_line().into_bytes()
    }

    /// Reads a datagram. Whatever is in it, this is harmless, and what is accepted is small.
    pub fn parse(datagram: &[u8]) -> Result<Self, String> {
        if datagram.len() > LONGEST_DATAGRAM {
            return Err(format!("longer than {LONGEST_DATAGRAM} bytes"));
        }
        let report: Self = serde_json::from_slice(datagram).map_err(|e| format!("not a report: {e}"))?;
        if report.wayhop_report != VERSION {
            return Err(format!("version {}, this is version {VERSION}", report.wayhop_report));
        }
        let is_name =
            |n: &str| !n.is_empty() && n.len() <= 4 * LONGEST_NAME && !n.chars().any(char::is_control);
        if !is_name(&report.node) {
            return Err("the node's name is invalid".to_owned());
        }
        if report.counters.len() > MOST_COUNTERS || !report.counters.keys().all(|k| is_name(k)) {
            return Err("too many counters, or one with an invalid name".to_owned());
        }
        if let Some(place) = &report.position {
            place.check().map_err(|e| e.message)?;
        }
        Ok(report)
    }
}
