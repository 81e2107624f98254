//! What the steps found and did, host by host.

use schemars::JsonSchema;
use serde::Serialize;

use crate::config::Host;
use crate::error::{Kind, Trouble};

/// What a step found and did.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Report {
    /// The fleet: the name of its file.
    pub fleet: String,
    /// The step: `check`, `push`, `start`, `stop` or `fetch`.
    pub action: String,
    /// Whether it succeeded at all hosts.
    pub ok: bool,
    /// The run that it is about; null before the first start.
    pub run: Option<String>,
    /// When that run starts or started, seconds since 1970 by this machine's clock; null before the first start.
    pub starts_unix_s: Option<f64>,
    /// The hosts, in the order of the file.
    pub hosts: Vec<HostReport>,
}

/// What a step found and did at a host.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct HostReport {
    /// Its name.
    pub name: String,
    /// Where ssh finds it.
    pub ssh: String,
    /// Which node it is.
    pub node: String,
    /// Whether the step succeeded here.
    pub ok: bool,
    /// `ok`; `lost`: it did not answer; `refused`: its host key or the login; `wrong`: something there is; `stopped`: broken off.
    pub state: String,
    /// What is wrong, each with its remedy.
    pub problems: Vec<String>,
    /// What `check` found, as far as it came; null with other steps.
    pub check: Option<CheckResult>,
    /// What `push` did; null with other steps.
    pub push: Option<PushResult>,
    /// What `start` did; null with other steps.
    pub start: Option<StartResult>,
    /// What `stop` did, or `start` where another host could not start; null otherwise.
    pub stop: Option<StopResult>,
    /// What `fetch` did; null with other steps.
    pub fetch: Option<FetchResult>,
}

/// What `check` found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Checked")]
pub struct CheckResult {
    /// What `wayhop --version` says there; null if there is none.
    pub version: Option<String>,
    /// The processor, as `uname -m` says.
    pub machine: Option<String>,
    /// The clock; null if it cannot be asked.
    pub clock: Option<Clock>,
    /// Room on the disk of the fleet's folder, MiB.
    pub free_mib: Option<u64>,
    /// Whether the node would be root.
    pub root: bool,
    /// The interfaces: name, and `up`, `down` or `missing`.
    pub interfaces: Vec<(String, String)>,
    /// What kind of position the receiver has (`none`, `3d`, `rtk-fixed`, ...); null without a gpsd.
    pub gps: Option<String>,
    /// Its horizontal accuracy, metres; null if nobody says.
    pub gps_accuracy_m: Option<f64>,
    /// Whether a node runs there already.
    pub runs: bool,
}

/// How wrong a clock is.
#[derive(Copy, Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Clock {
    /// The host's clock less this machine's, seconds.
    pub offset_s: f64,
    /// How wrong that may be at most, seconds: half of the time that the answer took.
    pub error_s: f64,
}

/// What `push` did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Pushed")]
pub struct PushResult {
    /// Files that were sent.
    pub sent: Vec<String>,
    /// Files that were there already, by their digests.
    pub same: Vec<String>,
    /// Octets that were sent, compressed where the host has gzip.
    pub bytes: u64,
    /// Octets of these files there.
    pub unpacked_bytes: u64,
    /// SHA-256 of what is there now, by file, as it was computed there.
    pub digests: std::collections::BTreeMap<String, String>,
}

/// What `start` did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Started")]
pub struct StartResult {
    /// The node's process there, or that which waits for the time.
    pub pid: Option<u32>,
    /// The clock.
    pub clock: Option<Clock>,
    /// Whether the node was seen to be ready after the start.
    pub ready: bool,
}

/// What `stop` did, or `start` where another host could not start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Stopped")]
pub struct StopResult {
    /// `ended`: in good order; `was over`: it had ended before; `never ran`: there is no such run.
    pub outcome: String,
    /// The programs of `[[start]]` there.
    pub programs: Vec<EndedProgram>,
}

/// A program that began with the node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct EndedProgram {
    /// Its name.
    pub name: String,
    /// `ended`: by SIGTERM; `was over`: it had ended before; `killed`: it did not end within 10 s.
    pub outcome: String,
}

/// What `fetch` did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Fetched")]
pub struct FetchResult {
    /// The run directory here.
    pub directory: String,
    /// Files of the run there.
    pub files: u64,
    /// Their octets.
    pub bytes: u64,
    /// Octets that this step brought.
    pub brought_bytes: u64,
    /// Whether all are here, and their digests are those there.
    pub complete: bool,
}

impl HostReport {
    /// Of a host at which nothing was done yet.
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

    /// Something is wrong; the first thing says in which way.
    pub(crate) fn note(&mut self, trouble: &Trouble) {
        if self.ok {
            self.ok = false;
            let state = match trouble.kind {
                Kind::Lost => "lost",
                Kind::Refused => "refused",
                Kind::Wrong => "wrong",
                Kind::Stopped => "stopped",
            };
            state.clone_into(&mut self.state);
        }
        let text = trouble.to_string();
        if !self.problems.contains(&text) {
            self.problems.push(text);
        }
    }

    /// What a step came to.
    pub(crate) fn with<T>(host: &Host, outcome: Result<T, Trouble>, put: impl FnOnce(&mut Self, T)) -> Self {
        let mut report = Self::of(host);
        match outcome {
            Ok(t) => put(&mut report, t),
            Err(trouble) => report.note(&trouble),
        }
        report
    }
}
