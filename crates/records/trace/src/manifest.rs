//! Where a run came from, and how it ended.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use wayhop_core::{Description, LibraryFile, hex};

use crate::PartialRecord;

/// How a run ended.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunStatus {
    /// Running, or killed.
    #[default]
    Running,
    /// Finished.
    Complete,
    /// Stopped by the user; the files are complete up to then.
    Interrupted,
    /// Stopped by an error.
    Failed,
    /// Killed, and completed by `wayhop recover`.
    Killed,
}

/// Everything needed to repeat a run, and its outcome: `manifest.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Manifest {
    /// Version of Wayhop.
    pub wayhop: String,
    /// How the run ended.
    pub status: RunStatus,
    /// Why the run failed; for a finished run, which programs in its nodes failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<String>,
    /// Text of the scenario, with all settings from the command line.
    pub scenario: String,
    /// SHA-256 of the scenario's text.
    pub scenario_sha256: String,
    /// Files that the scenario refers to.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub inputs: Vec<InputFile>,
    /// The library that the routing protocol comes from, if it is not built in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub library: Option<LibraryRecord>,
    /// Seed of all random number streams.
    pub seed: u64,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// The operating system and the processor architecture.
    pub host: String,
    /// When the run started, UTC, as RFC 3339 writes it.
    pub started: String,
    /// For a merged run: its source runs, and the corrections of their clocks.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub merged: Option<MergeRecord>,
    /// What the tables and the summary leave out; absent if nothing.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub record: Option<PartialRecord>,
}

/// The shared library of a run's routing protocol. The names of its messages are here so that the run can be read without it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Library")]
pub struct LibraryRecord {
    /// Name of its protocol.
    pub protocol: String,
    /// Its version, by its own account; empty if it has none.
    pub version: String,
    /// Its file, on the machine of the run.
    pub path: String,
    /// Size of the file, bytes.
    pub bytes: u64,
    /// SHA-256 of the file.
    pub sha256: String,
    /// Names of the classes of its routing packets.
    pub classes: Vec<String>,
    /// Bits and names of the types of its messages.
    pub types: Vec<(u8, String)>,
}

impl LibraryRecord {
    /// A protocol, and the file that it comes from.
    pub fn new(protocol: &Description, file: LibraryFile) -> Self {
        let LibraryFile { path, bytes, sha256, version } = file;
        let types = protocol.messages.types.iter().map(|(bit, name)| (*bit, (*name).to_owned()));
        Self {
            protocol: protocol.name.to_owned(),
            classes: protocol.messages.classes.iter().map(|&c| c.to_owned()).collect(),
            types: types.collect(),
            path: path.to_string_lossy().into_owned(),
            version,
            bytes,
            sha256,
        }
    }
}

/// Sources of a merged run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Merged")]
pub struct MergeRecord {
    /// Node whose clock is the common clock.
    pub reference: String,
    /// The runs, in the order of the nodes' numbers.
    pub runs: Vec<MergedRun>,
    /// Nodes that were left out because they share no frames or packets with the others.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub left_apart: Vec<String>,
    /// Keys about the whole mesh, such as `protocol.hello`, whose values differ from the reference node's on other nodes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub differing: Vec<String>,
}

impl Eq for MergeRecord {}

/// A node's run and its clock.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MergedRun {
    /// The node's name.
    pub node: String,
    /// The directory, as given.
    pub run: String,
    /// When that run started by its own host's clock, UTC.
    pub started: String,
    /// Its clock.
    pub clock: ClockFit,
}

/// A clock by frames and packets that several nodes recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockFit {
    /// Drift of the clock relative to the reference, microseconds per second of its own time; positive if fast.
    pub drift_ppm: f64,
    /// Standard error of the drift; null with too few frames.
    pub drift_error_ppm: Option<f64>,
    /// Standard error of the node's times in the merged run, microseconds: the largest at the beginning, middle and end. Null
    /// with too few frames.
    pub error_us: Option<f64>,
    /// Largest possible error of the node's times, microseconds, given the drift: no frame is received before it is sent. Null
    /// if they passed in one direction only.
    pub bound_us: Option<f64>,
    /// Number of frames used for this node, and of packets that crossed nodes without a run here.
    pub frames: u64,
    /// Number of these that are outliers.
    pub outliers: u64,
    /// Corrections to add to the node's times, by parts of its run: more than one if the clock was set during the run.
    pub segments: Vec<ClockSegment>,
}

/// A part of a run in which its clock was not set.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClockSegment {
    /// Start of the part by the node's own clock, seconds since the start of its run.
    pub from_s: f64,
    /// Time of the merged run minus time of the node's run, at the start of the part, seconds.
    pub offset_s: f64,
}

/// A file that a scenario refers to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct InputFile {
    /// Its path in the scenario.
    pub path: String,
    /// Its size, bytes.
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
