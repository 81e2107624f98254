//! From a plan to its runs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use toml::Value;
use wayhop_document::Error;

use crate::files;
use crate::libraries;
use crate::plan::{Axis, Plan, Seeds};

pub(crate) const MAX_RUNS: usize = 100_000;

/// One run of a plan.
#[derive(Clone, Debug, PartialEq)]
pub struct PlannedRun {
    /// Its value on each axis, in the plan's order.
    pub labels: Vec<String>,
    /// Its seed.
    pub seed: u64,
    /// What is set in the scenario, each `path.key=value`.
    pub sets: Vec<String>,
}

struct Choice {
    label: String,
    sets: Vec<String>,
}

impl Plan {
    /// Every run, the seeds innermost.
    pub fn runs(&self) -> Result<Vec<PlannedRun>, Error> {
        self.check()?;
        let sweep = &self.sweep;
        let axes = (sweep.axes.iter().enumerate())
            .map(|(k, a)| self.choices(k, a))
            .collect::<Result<Vec<_>, _>>()?;
        self.check_keys(&axes)?;
        let seeds = self.seeds()?;
        let count = axes.iter().map(Vec::len).try_fold(seeds.len(), usize::checked_mul);
        if count.is_none_or(|c| c > MAX_RUNS) {
            return Err(self.error("axis", format!("more than {MAX_RUNS} runs"), "split the plan"));
        }
        let mut base = Vec::new();
        libraries::flatten("", &sweep.set, &self.folder(), &mut base);
        let mut runs = vec![PlannedRun { labels: Vec::new(), seed: 0, sets: base }];
        for axis in &axes {
            let with = |run: &PlannedRun, choice: &Choice| PlannedRun {
                labels: [&run.labels[..], std::slice::from_ref(&choice.label)].concat(),
                seed: 0,
                sets: [&run.sets[..], &choice.sets].concat(),
            };
            runs = runs.iter().flat_map(|run| axis.iter().map(move |choice| with(run, choice))).collect();
        }
        let seeded = |run: &PlannedRun, seed: u64| PlannedRun {
            seed,
            sets: [&run.sets[..], &[format!("seed={seed}")]].concat(),
            ..run.clone()
        };
        Ok(runs.iter().flat_map(|run| seeds.iter().map(move |&seed| seeded(run, seed))).collect())
    }

    fn check(&self) -> Result<(), Error> {
        let sweep = &self.sweep;
        let mut names = BTreeSet::new();
        for (k, axis) in sweep.axes.iter().enumerate() {
            let key = format!("axis[{k}].name");
            if axis.name.trim().is_empty() || axis.name.chars().any(char::is_control) {
                return Err(self.error(&key, format!("{:?} is not a valid name", axis.name), "give a word"));
            }
            if axis.name == "seed" || !names.insert(&axis.name) {
                let reason = format!("{:?} is taken", axis.name);
                return Err(self.error(&key, reason, "give each axis a different name; seed is reserved"));
            }
        }
        if let Some(name) = &sweep.compare
            && !sweep.axes.iter().any(|a| a.name == *name && !a.replicate)
        {
            let known: Vec<&str> =
                sweep.axes.iter().filter(|a| !a.replicate).map(|a| a.name.as_str()).collect();
            let reason = format!("no axis {name:?} to compare along");
            let remedy = match &known[..] {
                [] => "remove it, or add an axis that is not a replicate".to_owned(),
                known => format!("give one of: {}", known.join(", ")),
            };
            return Err(self.error("compare", reason, remedy));
        }
        if sweep.set.contains_key("seed") {
            return Err(self.error("set.seed", "seeds cannot be set here", "use the key seeds"));
        }
        if sweep.metrics.is_empty() {
            return Err(self.error("metrics", "empty list", "give a metric, or remove the key"));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = sweep.metrics.iter().find(|m| !seen.insert(*m)) {
            let reason = format!("{twice:?} is given twice");
            return Err(self.error("metrics", reason, "give each figure once"));
        }
        if let Some(k) = sweep.metrics.iter().position(|m| m.split('.').any(str::is_empty)) {
            let key = format!("metrics[{k}]");
            let reason = format!("{:?} is not the path of a figure", sweep.metrics[k]);
            return Err(self.error(&key, reason, "give the path of a number, such as totals.goodput_bps"));
        }
        Ok(())
    }

    /// Two axes with the same key would make runs whose labels lie: the later axis wins.
    fn check_keys(&self, axes: &[Vec<Choice>]) -> Result<(), Error> {
        let mut setters: BTreeMap<&str, usize> = BTreeMap::new();
        for (k, choices) in axes.iter().enumerate() {
            for key in choices.iter().flat_map(|c| &c.sets).map(|s| s.split('=').next().unwrap_or_default()) {
                let other = *setters.entry(key).or_insert(k);
                if other != k {
                    let name = &self.sweep.axes[other].name;
                    let reason = format!("the axis {name:?} also sets {key}");
                    let remedy =
                        "set each key in one axis only; use `set` for values that change several keys";
                    return Err(self.error(&format!("axis[{k}].name"), reason, remedy));
                }
            }
        }
        Ok(())
    }

    fn seeds(&self) -> Result<Vec<u64>, Error> {
        let most = MAX_RUNS as u64;
        let seeds: Vec<u64> = match &self.sweep.seeds {
            Seeds::List(list) => list.clone(),
            Seeds::Range(r) if r.count > most => {
                return Err(self.error("seeds.count", format!("more than {most} seeds"), "give fewer"));
            }
            Seeds::Range(r) => (0..r.count).map(|k| r.first.saturating_add(k)).collect(),
        };
        // TOML's integers have a sign.
        if let Some(seed) = seeds.iter().find(|s| **s > i64::MAX as u64) {
            return Err(self.error("seeds", format!("{seed} is too large"), "give at most 2^63 - 1"));
        }
        if seeds.is_empty() {
            return Err(self.error("seeds", "empty list", "give at least one: seeds = [1]"));
        }
        if seeds.iter().collect::<BTreeSet<_>>().len() != seeds.len() {
            return Err(self.error("seeds", "a seed is given twice", "give each seed once"));
        }
        Ok(seeds)
    }

    fn choices(&self, k: usize, axis: &Axis) -> Result<Vec<Choice>, Error> {
        let here = |field: &str| format!("axis[{k}].{field}");
        let forms = [!axis.values.is_empty(), !axis.files.is_empty(), !axis.set.is_empty()];
        if forms.into_iter().filter(|f| *f).count() != 1 {
            let reason = format!("axis {:?} needs exactly one of values, files and set", axis.name);
            return Err(self.error(&here("name"), reason, "give one of them"));
        }
        let refuse = |field, reason: &str, remedy: &str| Err(self.error(&here(field), reason, remedy));
        match (axis.key.as_deref(), axis.set.is_empty()) {
            (Some("seed"), true) => return refuse("key", "seeds cannot be an axis", "use the key seeds"),
            (Some(_), false) => {
                return refuse("key", "both a key and values that set keys", "remove the key");
            }
            (None, true) => {
                let remedy = "add the key of the scenario for these values";
                return refuse("name", "values without a key", remedy);
            }
            _ => {}
        }
        let key = axis.key.as_deref().unwrap_or_default();
        let choice = |v: &Value| Choice {
            // The way to a file is not part of it: plans are moved.
            label: libraries::path(key, v)
                .and_then(|path| Some(path.file_name()?.to_string_lossy().into_owned()))
                .unwrap_or_else(|| label(v)),
            sets: vec![libraries::set(key, v, &self.folder())],
        };
        let mut choices: Vec<Choice> = axis.values.iter().map(choice).collect();
        for (i, pattern) in axis.files.iter().enumerate() {
            let found = files::matching(&self.folder(), pattern)
                .map_err(|(reason, remedy)| self.error(&format!("axis[{k}].files[{i}]"), reason, remedy))?;
            for path in found {
                let text = path.to_str().map(|p| Value::String(p.to_owned())).ok_or_else(|| {
                    self.error(&here("files"), "a name that is not UTF-8", "rename the file")
                })?;
                choices.push(Choice {
                    label: files::stem(Path::new(&path)),
                    sets: vec![format!("{key}={text}")],
                });
            }
        }
        for (i, labelled) in axis.set.iter().enumerate() {
            let mut sets = Vec::new();
            libraries::flatten("", &labelled.set, &self.folder(), &mut sets);
            if labelled.set.contains_key("seed") {
                let key = format!("axis[{k}].set[{i}].set.seed");
                return Err(self.error(&key, "seeds cannot be set here", "use the key seeds"));
            }
            choices.push(Choice { label: labelled.label.clone(), sets });
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = choices.iter().find(|c| !seen.insert(&c.label)) {
            let reason = format!("two values of axis {:?} are named {:?}", axis.name, twice.label);
            return refuse("name", &reason, "give each value once; set = [{ label, set }] gives labels");
        }
        Ok(choices)
    }
}

pub(crate) fn label(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        other => other.to_string(),
    }
}
