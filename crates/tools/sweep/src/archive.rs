//! The results of a sweep, read back from their folder.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::error::SweepError;
use crate::figures::{figure, full_totals, is_count, is_known, meant};
use crate::lines::{RESULTS, for_each_line};
use crate::matrix::PlannedRun;
use crate::owner::{self, PLAN};
use crate::plan::{Plan, Sweep};

/// The runs of a plan that are done, with one figure of each.
pub(crate) struct Archive {
    pub(crate) sweep: Sweep,
    pub(crate) planned: usize,
    /// Those that are done, in the plan's order.
    pub(crate) runs: Vec<(PlannedRun, Option<f64>)>,
}

impl Archive {
    /// Reads a folder of results. `way` picks the figure; without it, it is the plan's first, and the answer names it.
    pub(crate) fn read(dir: &Path, way: Option<&str>) -> Result<(Self, String), SweepError> {
        let shown = dir.display();
        let Some(owner) = owner::read(dir)? else { return Err(no_sweep(dir)) };
        let plan = Plan::load(&dir.join(PLAN))?;
        let way = way.map_or_else(|| plan.sweep.metrics.first().cloned().unwrap_or_default(), str::to_owned);
        let planned = owner.labels(plan.sweep.axes.len());
        let mut found: BTreeMap<String, (PlannedRun, Option<f64>)> = BTreeMap::new();
        let mut specimen = Value::Null;
        for_each_line(&dir.join(RESULTS), |record| {
            let id = record["id"].as_str().unwrap_or_default();
            let Some(labels) = planned.get(id) else { return true };
            let labels = labels.cloned().or_else(|| own_labels(&plan.sweep, record));
            let (Some(labels), Some(seed)) = (labels, record["run"]["seed"].as_u64()) else { return false };
            if specimen.is_null() {
                specimen = complete(&record["summary"]);
            }
            let run = PlannedRun { labels, seed, sets: Vec::new() };
            found.insert(id.to_owned(), (run, figure(&record["summary"], &way)));
            true
        })?;
        if found.is_empty() {
            return Err(SweepError::Usage(format!(
                "{shown}: no run of the plan has finished; run them with: wayhop sweep {shown}/{PLAN}"
            )));
        }
        let is_told = found.values().any(|(_, v)| v.is_some());
        // A missing kind in counts by kind is 0, even if the kind does not exist.
        if !(is_known(&specimen, &way) || is_told && !is_count(&way)) {
            let remedy = meant(&specimen, &way).map_or_else(
                || "give a figure of the summary that `wayhop run --json` prints".to_owned(),
                |way| format!("did you mean {way:?}?"),
            );
            return Err(SweepError::Usage(format!("{shown}: no run has a figure {way:?}; {remedy}")));
        }
        if !is_told {
            return Err(SweepError::Usage(format!(
                "{shown}: {way} is undefined in all {} runs (such as a latency where nothing arrived); give another figure",
                found.len()
            )));
        }
        let runs = owner.runs.iter().filter_map(|id| found.remove(id)).collect();
        Ok((Self { sweep: plan.sweep, planned: owner.runs.len(), runs }, way))
    }
}

/// The labels that a run had when it finished.
fn own_labels(sweep: &Sweep, record: &Value) -> Option<Vec<String>> {
    sweep.axes.iter().map(|axis| record["run"][&axis.name].as_str().map(str::to_owned)).collect()
}

/// What a folder of results says of its runs.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// The plan's keys.
    pub sweep: Sweep,
    /// How many runs the plan has.
    pub planned: usize,
    /// How many are done.
    pub done: usize,
    /// Their seeds.
    pub seeds: BTreeSet<u64>,
    /// What their summaries say: `wayhop`, `world`, `protocol`, `scenario`, `simulated_s`, with each answer once.
    pub said: BTreeMap<&'static str, BTreeSet<String>>,
    /// The values of each axis that runs have, in the order of the results, by the axis's place in the plan.
    pub values: Vec<Vec<String>>,
}

/// The keys of a summary that tell how a run was made.
const KEYS: [&str; 5] = ["wayhop", "world", "protocol", "scenario", "simulated_s"];

/// Reads how the runs in a folder were made; `None` if it holds no sweep.
pub fn made(dir: &Path) -> Result<Option<Provenance>, SweepError> {
    let Some(owner) = owner::read(dir)? else { return Ok(None) };
    let sweep = Plan::load(&dir.join(PLAN))?.sweep;
    let planned = owner.labels(sweep.axes.len());
    let mut done: BTreeSet<String> = BTreeSet::new();
    let mut made = Provenance {
        values: vec![Vec::new(); sweep.axes.len()],
        planned: owner.runs.len(),
        done: 0,
        seeds: BTreeSet::new(),
        said: BTreeMap::new(),
        sweep,
    };
    for_each_line(&dir.join(RESULTS), |record| {
        let id = record["id"].as_str().unwrap_or_default();
        let Some(labels) = planned.get(id) else { return true };
        let labels = labels.cloned().or_else(|| own_labels(&made.sweep, record));
        let Some(labels) = labels else { return false };
        done.insert(id.to_owned());
        made.seeds.extend(record["run"]["seed"].as_u64());
        for key in KEYS {
            let value = match &record["summary"][key] {
                Value::String(s) => s.clone(),
                Value::Number(n) => n.as_f64().map(wayhop_report::plain).unwrap_or_default(),
                _ => continue,
            };
            made.said.entry(key).or_default().insert(value);
        }
        for (label, values) in labels.into_iter().zip(&mut made.values) {
            if !values.contains(&label) {
                values.push(label);
            }
        }
        true
    })?;
    made.done = done.len();
    Ok(Some(made))
}

fn complete(summary: &Value) -> Value {
    let mut all = summary.clone();
    if let Some(all) = all.as_object_mut() {
        all.insert("totals".to_owned(), serde_json::to_value(full_totals()).unwrap_or_default());
    }
    all
}

fn no_sweep(dir: &Path) -> SweepError {
    let shown = dir.display();
    SweepError::Usage(if dir.join("manifest.json").is_file() {
        format!(
            "{shown}: the directory of a single run; give the folder of `wayhop run SCENARIO --seeds 10` or `wayhop \
             sweep`"
        )
    } else if dir.is_dir() {
        format!(
            "{shown}: no results of a sweep; give a folder written by `wayhop sweep` or `wayhop run --seeds`"
        )
    } else {
        format!("{shown}: not a folder; give a folder written by `wayhop sweep` or `wayhop run --seeds`")
    })
}
