//! Whose results a folder holds, and their plan, from which the same runs can be made again.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use wayhop_document::relative_path;
use wayhop_report::Document;

use crate::error::SweepError;
use crate::files::replace;
use crate::libraries;
use crate::matrix::PlannedRun;
use crate::plan::{Plan, Seeds, Sweep};

/// What stays the same when a plan is extended or corrected: `sweep.json`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Owner {
    sweep: String,
    /// The name of the scenario's file. Folders are moved.
    scenario: String,
    axes: Vec<String>,
    /// The runs of the plan as it was last, in its order: what `runs.jsonl` has besides is of earlier ones.
    #[serde(default)]
    pub(crate) runs: Vec<String>,
    /// Their labels by the plan. A finished run's own are those of the plan that it ran for.
    #[serde(default)]
    labels: Vec<Vec<String>>,
}

const OWNER: &str = "sweep.json";

impl Owner {
    fn of(plan: &Plan, runs: &[PlannedRun], ids: &[String]) -> Self {
        let file = plan.sweep.scenario.file_name().unwrap_or_default();
        Self {
            sweep: plan.sweep.name.clone(),
            scenario: file.to_string_lossy().into_owned(),
            axes: plan.sweep.axes.iter().map(|a| a.name.clone()).collect(),
            runs: ids.to_vec(),
            labels: runs.iter().map(|run| run.labels.clone()).collect(),
        }
    }

    /// The runs by their ids, with a label for each of `axes` axes; older folders have none here.
    pub(crate) fn labels(&self, axes: usize) -> BTreeMap<&str, Option<&Vec<String>>> {
        let labels = |i: usize| self.labels.get(i).filter(|labels: &&Vec<String>| labels.len() == axes);
        self.runs.iter().enumerate().map(|(i, id)| (id.as_str(), labels(i))).collect()
    }

    fn words(&self) -> String {
        let Self { sweep, scenario, axes, .. } = self;
        let over = if axes.is_empty() { "seeds".to_owned() } else { axes.join(", ") };
        format!("{sweep:?} ({scenario} over {over})")
    }
}

/// Takes a folder for the results of this plan, whose runs are `runs`, with these ids. One that holds another plan's is refused and left alone.
pub(crate) fn claim(dir: &Path, plan: &Plan, runs: &[PlannedRun], ids: &[String]) -> Result<(), SweepError> {
    let ours = Owner::of(plan, runs, ids);
    if let Some(theirs) = read(dir)? {
        if theirs == ours {
            return Ok(());
        }
        if (&theirs.sweep, &theirs.scenario, &theirs.axes) != (&ours.sweep, &ours.scenario, &ours.axes) {
            let (dir, theirs, ours) = (dir.display(), theirs.words(), ours.words());
            let reason = format!("{dir} contains the results of another plan, {theirs}; this one is {ours}");
            return Err(SweepError::Usage(format!("{reason}; choose another --out, or remove the folder")));
        }
    }
    let keys = serde_json::to_value(&ours).unwrap_or_default();
    replace(&dir.join(OWNER), &serde_json::to_vec_pretty(&Document::from(keys)).unwrap_or_default())
}

/// Whether a folder holds the results of a sweep.
pub fn is_sweep(dir: &Path) -> bool {
    dir.join(OWNER).is_file()
}

/// Whose results the folder holds; `None` if it holds none.
pub(crate) fn read(dir: &Path) -> Result<Option<Owner>, SweepError> {
    let path = dir.join(OWNER);
    match fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|e| {
            let path = path.display();
            SweepError::Usage(format!("{path}: not written by a sweep: {e}; choose another folder"))
        }),
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(e) => Err(SweepError::Run(format!("cannot read {}: {e}", path.display()))),
    }
}

pub(crate) const PLAN: &str = "plan.toml";

/// Writes the plan into the folder of its results, with all that the command line said. One that says the same is left alone,
/// with its comments.
pub(crate) fn write_plan(plan: &Plan, dir: &Path) -> Result<(), SweepError> {
    let path = dir.join(PLAN);
    let sweep = moved(plan, dir)?;
    if Plan::load(&path).is_ok_and(|own| own.sweep == sweep) {
        return Ok(());
    }
    let text = toml::to_string(&sweep).map_err(|e| SweepError::Run(format!("cannot write the plan: {e}")))?;
    let head =
        "# The plan of this sweep with all changes from the command line; run it with `wayhop sweep`.\n";
    replace(&path, (head.to_owned() + &text).as_bytes())
}

/// Whether a folder holds results of this plan, perhaps with other seeds or figures, and with other files for each run.
pub fn continues(plan: &Plan, dir: &Path) -> bool {
    let same = |sweep: Sweep| Sweep {
        seeds: Seeds::default(),
        metrics: Vec::new(),
        tables: false,
        captures: false,
        compare: None,
        ..sweep
    };
    let theirs = Plan::load(&dir.join(PLAN));
    theirs.is_ok_and(|theirs| moved(plan, dir).is_ok_and(|ours| same(ours) == same(theirs.sweep)))
}

/// The plan's keys with its relative paths from another folder.
fn moved(plan: &Plan, dir: &Path) -> Result<Sweep, SweepError> {
    let cannot =
        |path: &Path, e: &std::io::Error| SweepError::Run(format!("cannot find {}: {e}", path.display()));
    let whole = |path: &Path| fs::canonicalize(path).map_err(|e| cannot(path, &e));
    let there = whole(dir)?;
    let folder = plan.folder();
    // The name itself may be a pattern.
    let from_there = |path: &Path| {
        if path.is_absolute() {
            return Ok(path.to_path_buf());
        }
        let full = folder.join(path);
        let parent = full.parent().filter(|p| *p != Path::new("")).unwrap_or(Path::new("."));
        let name = full.file_name().unwrap_or_default();
        whole(parent).map(|p| relative_path(&there, &p.join(name)))
    };
    let mut sweep = plan.sweep.clone();
    sweep.scenario = from_there(&sweep.scenario)?;
    sweep.chains = sweep.chains.as_deref().map(from_there).transpose()?;
    for pattern in sweep.axes.iter_mut().flat_map(|a| &mut a.files) {
        *pattern = from_there(Path::new(pattern.as_str()))?.to_string_lossy().into_owned();
    }
    for axis in &mut sweep.axes {
        let key = axis.key.as_deref().unwrap_or_default();
        for value in &mut axis.values {
            libraries::replace_value(key, value, &from_there)?;
        }
        for labelled in &mut axis.set {
            libraries::replace("", &mut labelled.set, &from_there)?;
        }
    }
    libraries::replace("", &mut sweep.set, &from_there)?;
    Ok(sweep)
}
