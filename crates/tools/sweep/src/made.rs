//! The methods of a sweep's runs, for a report.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde_json::Value;

use crate::archive::for_each_line;
use crate::error::SweepError;
use crate::owner::runs_of;
use crate::plan::{Plan, Sweep};
use crate::written::PLAN;

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
    let Some(ids) = runs_of(dir)? else { return Ok(None) };
    let sweep = Plan::load(&dir.join(PLAN))?.sweep;
    let wanted: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    let mut done: BTreeSet<String> = BTreeSet::new();
    let mut made = Provenance {
        values: vec![Vec::new(); sweep.axes.len()],
        planned: ids.len(),
        done: 0,
        seeds: BTreeSet::new(),
        said: BTreeMap::new(),
        sweep,
    };
    for_each_line(&dir.join("runs.jsonl"), |record| {
        let Some(id) = record["id"].as_str().filter(|id| wanted.contains(id)) else { return true };
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
        for (axis, values) in made.sweep.axes.iter().zip(&mut made.values) {
            let Some(label) = record["run"][&axis.name].as_str() else { return false };
            if !values.iter().any(|v| v == label) {
                values.push(label.to_owned());
            }
        }
        true
    })?;
    made.done = done.len();
    Ok(Some(made))
}
