//! Where a run came from, and how it ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use wayhop_core::hex;

/// How a run ended.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// It is under way, or it was killed before it could say how it ended.
    #[default]
    Running,
    /// It came to its end.
    Complete,
    /// The user stopped it; what is there is whole up to that moment.
    Interrupted,
    /// An error stopped it.
    Failed,
    /// It was killed, and `wayhop recover` mended it.
    Killed,
}

/// Everything needed to do a run again, and how it ended: `manifest.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// Wayhop's version.
    pub wayhop: String,
    /// How the run ended.
    pub status: RunStatus,
    /// Why it failed; of a run that came to its end, which programs in its nodes did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// The scenario's text, with everything that the command line set.
    pub scenario: String,
    /// SHA-256 of the scenario's text.
    pub scenario_sha256: String,
    /// Files that the scenario names.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub inputs: Vec<InputFile>,
    /// The seed of all random streams.
    pub seed: u64,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The operating system and the processor architecture.
    pub host: String,
    /// When the run started, UTC, as RFC 3339 writes it.
    pub started: String,
    /// Of a run that `wayhop merge` made: from which runs, and how their clocks were set.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub merged: Option<MergeRecord>,
}

/// From which runs one was merged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Merged")]
pub struct MergeRecord {
    /// The node whose clock the times count by.
    pub reference: String,
    /// The runs, in the order of the nodes' numbers.
    pub runs: Vec<MergedRun>,
    /// Nodes that share no frame with the others and were left out.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left_apart: Vec<String>,
    /// Keys about the whole mesh, such as `protocol.hello`, for which other nodes' configurations do not say what the reference's does.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub differing: Vec<String>,
}

impl Eq for MergeRecord {}

/// One node's run, and what its clock showed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergedRun {
    /// The node's name.
    pub node: String,
    /// The directory, as it was given.
    pub run: String,
    /// When that run started by its own host's clock, UTC.
    pub started: String,
    /// Its clock.
    pub clock: ClockFit,
}

/// A clock by frames that several nodes heard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockFit {
    /// By how much the clock is fast against the reference: microseconds in a second of its own.
    pub drift_ppm: f64,
    /// Standard error of that; null with too few frames.
    pub drift_error_ppm: Option<f64>,
    /// Standard error of the node's times in the merged run, microseconds: the largest of beginning, middle and end. Null with too
    /// few frames.
    pub error_us: Option<f64>,
    /// By how much the node's times can be wrong at most, microseconds, if the drift is right: no frame is received before it is
    /// sent. Null if frames passed in one direction only.
    pub bound_us: Option<f64>,
    /// Frames that count for this node.
    pub frames: u64,
    /// Of those, the ones that are far off the fit.
    pub outliers: u64,
    /// What is to be added to the node's times, by parts of its run: more than one if the clock was set meanwhile.
    pub segments: Vec<ClockSegment>,
}

/// A part of a run in which its clock was not set.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockSegment {
    /// The part's begin by the node's own clock, seconds since its run's start.
    pub from_s: f64,
    /// Time of the merged run less time of the node's run, at the part's begin, seconds.
    pub offset_s: f64,
}

/// A file that a scenario names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputFile {
    /// As the scenario names it.
    pub path: String,
    /// Its length, octets.
    pub bytes: u64,
    /// SHA-256 of its content.
    pub sha256: String,
}

impl InputFile {
    /// The file `path`, which holds `content`.
    pub fn new(path: impl Into<String>, content: &[u8]) -> Self {
        Self { path: path.into(), bytes: content.len() as u64, sha256: sha256_hex(content) }
    }
}

impl Manifest {
    /// The manifest of a run that starts now; `started_unix_s` is the wall clock in seconds since 1970.
    pub fn new(scenario: impl Into<String>, seed: u64, command: Vec<String>, started_unix_s: u64) -> Self {
        let scenario = scenario.into();
        Self {
            wayhop: wayhop_core::version::full().to_owned(),
            scenario_sha256: sha256_hex(scenario.as_bytes()),
            scenario,
            seed,
            command,
            host: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            started: rfc3339(started_unix_s),
            ..Self::default()
        }
    }
}

fn sha256_hex(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The moment `unix_s` seconds after 1970, in UTC.
fn rfc3339(unix_s: u64) -> String {
    let (days, s) = (unix_s / 86_400, unix_s % 86_400);
    let (y, m, d) = civil(days.cast_signed());
    format!("{y:04}-{m:02}-{d:02}T{:02}:{:02}:{:02}Z", s / 3600, s / 60 % 60, s % 60)
}

/// The Gregorian date, as year, month and day, `days` days after 1 January 1970, or before it. It is counted in years that begin on 1 March, so
/// that the leap day is the last.
pub fn civil(days: i64) -> (i64, i64, i64) {
    const DAYS_FROM_0000_03_01: i64 = 719_468;
    let n = days + DAYS_FROM_0000_03_01;
    let (era, day_of_era) = (n.div_euclid(146_097), n.rem_euclid(146_097));
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_date_u() {
        // From `date -u -d @N`.
        for (s, expected) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_709_251_199, "2024-02-29T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (1_795_292_745, "2026-11-21T20:25:45Z"),
        ] {
            assert_eq!(rfc3339(s), expected);
        }
    }

    #[test]
    fn the_scenario_is_hashed_with_sha256() {
        // The first test vector of FIPS 180-4.
        let m = Manifest::new("abc", 1, vec![], 0);
        assert_eq!(m.scenario_sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
