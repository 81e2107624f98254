//! An open run: what the page receives first, and its tables.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use wayhop_protocols::CLASSIFIER;
use wayhop_scenario::Scenario;
use wayhop_trace::{Manifest, RunDir, RunStatus, Summary, how_it_ended};

use crate::connections::{self, OfConnection};
use crate::error::Error;
use crate::frames::Source;
use crate::hops::hops;
use crate::motion::Motion;
use crate::overview::Overview;
use crate::packets;
use crate::rows::{RowQuery, rows};
use crate::series;
use crate::sightings::Captures;
use crate::sizes;
use crate::story::{self, StoryQuery};
use crate::table::OpenTable;

/// Nodes whose names are told.
const MOST_NODES: usize = 100_000;

/// An open run.
pub(crate) struct OpenRun {
    dir: RunDir,
    /// When its manifest was last written: a run that was done again is another one.
    written: Option<SystemTime>,
    info: Value,
    motion: Motion,
    numbers: FxHashMap<String, i32>,
    names: Vec<String>,
    captures: Captures,
    overview: Arc<Overview>,
}

impl Drop for OpenRun {
    fn drop(&mut self) {
        self.overview.stop();
    }
}

impl OpenRun {
    /// Opens a run directory. What of it cannot be read is a problem that the page shows; only a directory without a manifest
    /// is none at all.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let dir = RunDir::open(path, CLASSIFIER)?;
        let written = last_written(path);
        let manifest = dir.manifest()?;
        let mut problems = Vec::new();
        if manifest.status == RunStatus::Failed {
            let why = manifest.error.as_deref().unwrap_or("unknown error");
            problems.push(format!("{}: the run failed: {why}", path.display()));
        }
        // What is wrong with its tables is told below.
        problems.extend(how_it_ended(&dir).ok().flatten());
        let summary = noted(dir.summary().map_err(Error::from), &mut problems);
        let motion = noted(OpenTable::open(&dir, "positions").and_then(|t| Motion::read(&t)), &mut problems)
            .unwrap_or_default();
        let packets = noted(OpenTable::open(&dir, "packets"), &mut problems);
        let names = noted(names(&dir), &mut problems).unwrap_or_default();
        let numbers = addresses(&names);
        let recorded = packets.as_ref().and_then(OpenTable::end).unwrap_or(0);
        let end_ns = summary.as_ref().map_or(0, |s| (s.simulated_s * 1e9) as i64).max(recorded).max(1);
        let nodes = motion.nodes().max(names.len()).min(MOST_NODES);
        let overview = Arc::new(Overview::new(nodes, end_ns));
        let info = json!({
            "nodes": nodes,
            "names": names.iter().map(|n| &n["name"]).collect::<Vec<_>>(),
            "addresses": names.iter().map(|n| &n["address"]).collect::<Vec<_>>(),
            "end_ns": end_ns,
            "rows": packets.as_ref().map_or(0, OpenTable::rows),
            "range_m": range_m(&manifest, summary.as_ref(), nodes),
            "status": manifest.status,
            "started": manifest.started,
            "wayhop": manifest.wayhop,
            "seed": manifest.seed,
            "scenario": summary.as_ref().map(|s| &s.scenario),
            "world": summary.as_ref().map(|s| &s.world),
            "protocol": summary.as_ref().map(|s| &s.protocol),
            "totals": summary.as_ref().map(|s| &s.totals),
            "flows": summary.as_ref().map(|s| &s.flows),
            "trace_hash": summary.as_ref().map(|s| &s.trace_hash),
            "connections": OpenTable::open(&dir, "connections").map_or(0, |t| t.rows()),
            "problems": problems,
        });
        if let Some(table) = packets {
            let counted = Arc::clone(&overview);
            std::thread::spawn(move || counted.read(&table));
        }
        let names = names.iter().map(|n| n["name"].as_str().unwrap_or_default().to_owned()).collect();
        Ok(Self { dir, written, info, motion, numbers, names, captures: Captures::default(), overview })
    }

    /// Whether the directory holds another run by now.
    pub(crate) fn is_stale(&self) -> bool {
        last_written(self.dir.path()) != self.written
    }

    pub(crate) fn info(&self) -> &Value {
        &self.info
    }

    pub(crate) fn positions(&self, from: i64, to: i64) -> Vec<u8> {
        self.motion.window(from, to)
    }

    pub(crate) fn packets(&self, from: i64, to: i64) -> Result<Vec<u8>, Error> {
        packets::window(&OpenTable::open(&self.dir, "packets")?, &self.numbers, from, to)
    }

    pub(crate) fn rows(&self, wanted: &RowQuery) -> Result<Value, Error> {
        rows(&self.dir, wanted)
    }

    pub(crate) fn story(&self, asked: &StoryQuery) -> Result<Value, Error> {
        let mut answer = story::answer(&self.dir, asked)?;
        for story in answer["stories"].as_array_mut().into_iter().flatten() {
            story["hops"] = json!(self.hops(story)?);
        }
        Ok(answer)
    }

    /// Where the packet of a story went, as far as its steps are told.
    fn hops(&self, story: &Value) -> Result<Vec<Value>, Error> {
        let times = || story["steps"].as_array().into_iter().flatten().filter_map(|s| s["time_s"].as_f64());
        let (Some(packet), Some(first), Some(last)) =
            (story["packet"].as_i64(), times().next(), times().next_back())
        else {
            return Ok(Vec::new());
        };
        // Seconds are rounded: a microsecond more on both sides.
        let [from, to] = [first * 1e9 - 1e3, last * 1e9 + 1e3].map(|ns| ns as i64);
        hops(&OpenTable::open(&self.dir, "packets")?, &self.numbers, packet, from, to)
    }

    pub(crate) fn losses(&self, node: Option<usize>) -> Result<Vec<u8>, Error> {
        self.overview.losses(&self.motion, node)
    }

    pub(crate) fn figure(&self, wanted: series::SeriesQuery) -> Result<Vec<u8>, Error> {
        series::figure(&self.dir, wanted, self.info["end_ns"].as_i64().unwrap_or(1))
    }

    pub(crate) fn sizes(&self, node: Option<i32>) -> Result<Vec<u8>, Error> {
        sizes::lengths(&self.dir, node, self.info["end_ns"].as_i64().unwrap_or(1))
    }

    pub(crate) fn tcp(&self, wanted: series::OfFlow) -> Result<Vec<u8>, Error> {
        series::tcp(&self.dir, wanted)
    }

    pub(crate) fn connections(&self) -> Result<Value, Error> {
        connections::list(&self.dir)
    }

    pub(crate) fn connection(&self, wanted: &OfConnection) -> Result<Vec<u8>, Error> {
        connections::one(&self.dir, wanted)
    }

    /// Where frames of packets are found.
    pub(crate) fn frames(&self) -> Source<'_> {
        Source { run: &self.dir, names: &self.names, captures: &self.captures }
    }

    pub(crate) fn overview(&self, node: Option<usize>) -> Result<Vec<u8>, Error> {
        self.overview.frame(node)
    }
}

fn last_written(run: &Path) -> Option<SystemTime> {
    let manifest: PathBuf = run.join("manifest.json");
    manifest.metadata().and_then(|m| m.modified()).ok()
}

/// What could be had, or a problem more.
fn noted<T>(had: Result<T, Error>, problems: &mut Vec<String>) -> Option<T> {
    had.map_err(|e| problems.push(e.what)).ok()
}

/// The rows of the table `nodes`.
fn names(dir: &RunDir) -> Result<Vec<Value>, Error> {
    let table = OpenTable::open(dir, "nodes")?;
    let mut nodes = Vec::new();
    for index in 0..table.groups() {
        let group = table.group(index)?;
        let all = 0..group.rows().min(MOST_NODES - nodes.len());
        let (names, addresses) = (group.values("name", &all)?, group.values("address", &all)?);
        let six = group.values("address6", &all).unwrap_or_else(|_| vec![Value::Null; all.len()]);
        nodes.extend(
            names
                .into_iter()
                .zip(addresses)
                .zip(six)
                .map(|((name, address), six)| json!({"name": name, "address": address, "address6": six})),
        );
    }
    Ok(nodes)
}

/// The node of each address.
fn addresses(names: &[Value]) -> FxHashMap<String, i32> {
    let of = |(i, n): (i32, &Value)| {
        let texts = ["address", "address6"].map(|k| n[k].as_str().map(|a| (a.to_owned(), i)));
        texts.into_iter().flatten().collect::<Vec<_>>()
    };
    (0..).zip(names).flat_map(of).collect()
}

/// How far a node's radio reaches, if the run had a radio model and one radio; else the page draws the links that packets used.
fn range_m(manifest: &Manifest, summary: Option<&Summary>, nodes: usize) -> Option<f64> {
    if !summary.is_some_and(|s| matches!(s.world.as_str(), "sim" | "emulation")) {
        return None;
    }
    // Where its nodes move is recorded: nothing that the scenario names is read for this.
    let still = ["movement={kind=\"grid\",spacing_m=100}", "traffic=[]", "duration_s=1"].map(str::to_owned);
    // Movement that lists the nodes says how many there are; a grid does not.
    let still = [&still[..], &[format!("nodes.count={nodes}")]].concat();
    let resolved = Scenario::from_text(&manifest.scenario, &still).ok()?.resolve().ok()?;
    (resolved.interfaces.radios.len() == 1).then(|| resolved.radio().nominal_range_m())
}
