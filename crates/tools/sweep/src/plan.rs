//! The keys of a plan.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_document::{Document, Error};

use crate::figures::full_name;

const HEAD: &str = include_str!("reference_head.md");

/// A plan: a scenario, and what varies in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// Name for folders and tables. Default: the file's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Scenario file; relative paths start at the plan's folder.
    pub scenario: PathBuf,
    /// Keys of the scenario to set in all runs, such as `duration_s = 100` or `radio.preset = "80211b"`.
    #[serde(default, skip_serializing_if = "toml::Table::is_empty")]
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub set: toml::Table,
    /// Seeds of each combination.
    #[serde(default)]
    pub seeds: Seeds,
    /// Axes. Every combination of their values is run.
    #[serde(default, rename = "axis", skip_serializing_if = "Vec::is_empty")]
    pub axes: Vec<Axis>,
    /// Whether summaries include what the geometry allowed each flow, as with `wayhop run --topology`.
    #[serde(default)]
    pub topology: bool,
    /// CSV file (hops,kbps) with the throughput of chains of 1, 2, ... hops, for the expected throughput. Implies `topology`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chains: Option<PathBuf>,
    /// Figures of the run summaries to summarise, by their path: `totals.goodput_bps`, `flows.0.topology.path_changes`. `totals`
    /// may be omitted.
    #[serde(default = "metrics")]
    pub metrics: Vec<String>,
    /// Whether each run writes a run directory with tables, as `wayhop run` does, in the folder `runs` of the results.
    #[serde(default)]
    pub tables: bool,
    /// Whether run directories contain a capture of each node, as with `wayhop run --captures`. Implies `tables`.
    #[serde(default)]
    pub captures: bool,
    /// Axis along which paired differences are computed, each value against the first. Default: the first axis that is not a
    /// `replicate`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<String>,
}

/// Seeds: a list, or a first seed and a count.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "seeds are a list of whole numbers from 0, such as [1, 2, 3], or a first seed and a count, such as { first \
                 = 1, count = 10 }"
)]
pub enum Seeds {
    /// A list.
    List(Vec<u64>),
    /// Consecutive seeds.
    Range(SeedRange),
}

/// Consecutive seeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeedRange {
    /// The first seed.
    #[serde(default = "one")]
    pub first: u64,
    /// Number of seeds.
    pub count: u64,
}

/// One axis. Give `key` with `values` or `files`, or `set`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Its name in tables.
    pub name: String,
    /// Key of the scenario, such as `protocol.name` or `traffic.0.window`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The values of `key`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<String>")]
    pub values: Vec<toml::Value>,
    /// Files as the values of `key`: names or patterns with `*` in the file name, relative to the plan's folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// Values that set several keys, each with a label: `{ label = "10 m/s", set = { movement.speed_factor = 5,
    /// duration_s = 360 } }`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<LabelledValue>,
    /// Whether its values are repetitions of the same experiment, such as mobility patterns: means and intervals are over
    /// them, and differences are paired by them.
    #[serde(default)]
    pub replicate: bool,
}

/// A value of an axis that sets several keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Labelled")]
pub struct LabelledValue {
    /// Its label in tables.
    pub label: String,
    /// The keys of the scenario, with their values.
    #[schemars(with = "std::collections::BTreeMap<String, String>")]
    pub set: toml::Table,
}

fn one() -> u64 {
    1
}

fn metrics() -> Vec<String> {
    ["totals.delivery_ratio", "totals.goodput_bps", "totals.latency_ms.mean", "totals.routing_packets"]
        .map(str::to_owned)
        .to_vec()
}

impl Default for Seeds {
    fn default() -> Self {
        Self::Range(SeedRange { first: 1, count: 1 })
    }
}

/// A plan with the text it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Its keys.
    pub sweep: Sweep,
    document: Document,
}

impl Plan {
    /// Reads a TOML file.
    pub fn load(path: &Path) -> Result<Self, Error> {
        let mut plan = Self::of(Document::load(path)?)?;
        if plan.sweep.name.is_empty() {
            plan.sweep.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        }
        Ok(plan)
    }

    /// Reads TOML text; relative paths in it count from the working directory.
    pub fn from_text(text: &str) -> Result<Self, Error> {
        Self::of(Document::new(None, text.to_owned()))
    }

    /// A plan that runs this scenario once.
    pub fn of_scenario(path: &Path) -> Self {
        let sweep = Sweep {
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            scenario: path.to_path_buf(),
            metrics: metrics(),
            ..Sweep::default()
        };
        Self { sweep, document: Document::default() }
    }

    /// Reads a TOML file, a plan or a scenario. A plan is a file with the key `scenario`, or with another that only plans have.
    pub fn load_either(path: &Path) -> Result<Self, Error> {
        let document = Document::load(path)?;
        let is_scenario = document.deserialize::<toml::Table>().is_ok_and(|table| {
            !["scenario", "seeds", "axis", "metrics", "compare"].iter().any(|key| table.contains_key(*key))
        });
        if is_scenario { Ok(Self::of_scenario(path)) } else { Self::load(path) }
    }

    fn of(document: Document) -> Result<Self, Error> {
        let mut sweep: Sweep = document.deserialize().map_err(|mut e| {
            e.remedy = e.remedy.replace("scenario.md", "sweep.md");
            e
        })?;
        sweep.metrics.iter_mut().for_each(|m| *m = full_name(m));
        Ok(Self { sweep, document })
    }

    /// The folder that its paths count from.
    pub fn folder(&self) -> PathBuf {
        self.path().and_then(Path::parent).map(Path::to_path_buf).unwrap_or_default()
    }

    /// Whether it was made of a scenario, and not read.
    pub fn is_of_scenario(&self) -> bool {
        self.document == Document::default()
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.document.path.as_deref()
    }

    /// The scenario file.
    pub fn scenario(&self) -> PathBuf {
        self.folder().join(&self.sweep.scenario)
    }

    pub(crate) fn error(&self, key: &str, reason: impl Into<String>, remedy: impl Into<String>) -> Error {
        self.document.error(key, reason, remedy)
    }
}

/// `docs/reference/sweep.md`.
pub fn reference_markdown() -> String {
    let sections = [("axis", "Axis"), ("axis.set", "Labelled"), ("seeds", "SeedRange")];
    HEAD.to_owned() + &wayhop_document::reference_tables::<Sweep>(&sections)
}
