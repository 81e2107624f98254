//! Results of the steps, host by host.

use schemars::JsonSchema;
use serde::Serialize;

use crate::config::Host;
use crate::error::{Trouble, TroubleKind};

/// Results of a step.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// Name of the fleet: that of its file.
    pub fleet: String,
    /// The step: `check`, `push`, `start`, `stop` or `fetch`.
    pub action: String,
    /// Whether it succeeded on all hosts.
    pub ok: bool,
    /// The run; null before the first start.
    pub run: Option<String>,
    /// Start time of the run, seconds since 1970 by this machine's clock; null before the first start.
    pub starts_unix_s: Option<f64>,
    /// The hosts, in the order of the file.
    pub hosts: Vec<HostReport>,
}

/// Results of a step on a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct HostReport {
    /// Name of the host.
    pub name: String,
    /// Its destination for ssh.
    pub ssh: String,
    /// Its node.
    pub node: String,
    /// Whether the step succeeded here.
    pub ok: bool,
    /// `ok`; `lost`: no answer; `refused`: host key or login rejected; `wrong`: a problem on the host; `stopped`: interrupted.
    pub state: String,
    /// The problems, each with its remedy.
    pub problems: Vec<String>,
    /// Results of `check`, possibly incomplete; null for other steps.
    pub check: Option<CheckResult>,
    /// Results of `push`; null for other steps.
    pub push: Option<PushResult>,
    /// Results of `start`; null for other steps.
    pub start: Option<StartResult>,
    /// Results of `stop`, or of `start` if another host could not start; null otherwise.
    pub stop: Option<StopResult>,
    /// Results of `fetch`; null for other steps.
    pub fetch: Option<FetchResult>,
}

/// Results of `check`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Checked")]
pub struct CheckResult {
    /// Output of `wayhop --version` there; null if it is not installed.
    pub version: Option<String>,
    /// The processor, from `uname -m`.
    pub machine: Option<String>,
    /// The clock; null if it cannot be read.
    pub clock: Option<Clock>,
    /// Free space on the disk of the fleet's folder, MiB.
    pub free_mib: Option<u64>,
    /// Whether the node would run as root.
    pub root: bool,
    /// The interfaces: name, and `up`, `down` or `missing`.
    pub interfaces: Vec<(String, String)>,
    /// Kind of position that the GPS receiver has (`none`, `3d`, `rtk-fixed`, ...); null without gpsd.
    pub gps: Option<String>,
    /// Its horizontal accuracy, metres; null if unknown.
    pub gps_accuracy_m: Option<f64>,
    /// Whether a node is already running there.
    pub runs: bool,
}

/// Offset of a clock.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Clock {
    /// Offset of the host's clock from this machine's, seconds.
    pub offset_s: f64,
    /// Largest error of the offset, seconds: half the round-trip time.
    pub error_s: f64,
}

/// Results of `push`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Pushed")]
pub struct PushResult {
    /// Files that were sent.
    pub sent: Vec<String>,
    /// Files that the host already had, by their digests.
    pub same: Vec<String>,
    /// Bytes sent, compressed if the host has gzip.
    pub bytes: u64,
    /// Uncompressed size of these files, bytes.
    pub unpacked_bytes: u64,
    /// SHA-256 of the files on the host, as computed there.
    pub digests: std::collections::BTreeMap<String, String>,
}

/// Results of `start`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Started")]
pub struct StartResult {
    /// Process ID of the node there, or of the process that waits for the start time.
    pub pid: Option<u32>,
    /// The clock.
    pub clock: Option<Clock>,
    /// Whether the node was ready after the start.
    pub ready: bool,
}

/// Results of `stop`, or of `start` if another host could not start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Stopped")]
pub struct StopResult {
    /// `ended`: stopped cleanly; `was over`: had ended before; `never ran`: there is no such run.
    pub outcome: String,
    /// The programs of `[[start]]` there.
    pub programs: Vec<EndedProgram>,
}

/// A program that started with the node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct EndedProgram {
    /// Its name.
    pub name: String,
    /// `ended`: by SIGTERM; `was over`: had ended before; `killed`: did not end within 10 s.
    pub outcome: String,
}

/// Results of `fetch`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Fetched")]
pub struct FetchResult {
    /// The run directory here.
    pub directory: String,
    /// Number of files of the run on the host.
    pub files: u64,
    /// Their size, bytes.
    pub bytes: u64,
    /// Bytes fetched in this step.
    pub brought_bytes: u64,
    /// Whether all files are here, with the same digests.
    pub complete: bool,
}

impl HostReport {
    /// The report of a host before anything is done.
    pub fn of(host: &Host) -> Self {
        Self {
            name: host.name.clone(),
            ssh: host.ssh.clone(),
            node: host.node.clone(),
            ok: true,
            state: "ok".to_owned(),
            ..Self::default()
        }
    }

    /// Adds a problem; the first one determines the state.
    pub(crate) fn note(&mut self, trouble: &Trouble) {
        if self.ok {
            self.ok = false;
            let state = match trouble.kind {
                TroubleKind::Lost => "lost",
                TroubleKind::Refused => "refused",
                TroubleKind::Wrong => "wrong",
                TroubleKind::Stopped => "stopped",
            };
            state.clone_into(&mut self.state);
        }
        let text = trouble.to_string();
        if !self.problems.contains(&text) {
            self.problems.push(text);
        }
    }

    /// Adds a problem of the host itself.
    pub(crate) fn wrong(&mut self, what: impl Into<String>, remedy: impl Into<String>) {
        self.note(&Trouble::wrong(what, remedy));
    }

    /// What to show: the first problem, or else this.
    pub(crate) fn first_problem_or<'a>(&'a self, well: &'a str) -> &'a str {
        self.problems.first().map_or(well, String::as_str)
    }

    /// The report of a step with this outcome.
    pub(crate) fn with<T>(host: &Host, outcome: Result<T, Trouble>, put: impl FnOnce(&mut Self, T)) -> Self {
        let mut report = Self::of(host);
        match outcome {
            Ok(t) => put(&mut report, t),
            Err(trouble) => report.note(&trouble),
        }
        report
    }
}
