//! Whose results a folder holds.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use wayhop_report::Document;

use crate::error::SweepError;
use crate::files::replace;
use crate::plan::Plan;

/// What stays the same when a plan is extended or corrected: `sweep.json`.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Owner {
    /// The plan's name.
    sweep: String,
    /// The name of the scenario's file. Folders are moved.
    scenario: String,
    /// The names of the axes, in the plan's order.
    axes: Vec<String>,
    /// The runs of the plan as it was last, in its order: what `runs.jsonl` has besides is of earlier ones.
    #[serde(default)]
    runs: Vec<String>,
}

/// The file in a folder of results.
const OWNER: &str = "sweep.json";

impl Owner {
    fn of(plan: &Plan, runs: &[String]) -> Self {
        let file = plan.sweep.scenario.file_name().unwrap_or_default();
        Self {
            sweep: plan.sweep.name.clone(),
            scenario: file.to_string_lossy().into_owned(),
            axes: plan.sweep.axes.iter().map(|a| a.name.clone()).collect(),
            runs: runs.to_vec(),
        }
    }

    fn words(&self) -> String {
        let Self { sweep, scenario, axes, .. } = self;
        let over = if axes.is_empty() { "seeds".to_owned() } else { axes.join(", ") };
        format!("{sweep:?} ({scenario} over {over})")
    }
}

/// Takes a folder for the results of this plan, whose runs are `runs`. One that holds another plan's is refused and left alone.
pub(crate) fn claim(dir: &Path, plan: &Plan, runs: &[String]) -> Result<(), SweepError> {
    let ours = Owner::of(plan, runs);
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

/// The runs of the plan whose results the folder holds, by their ids; `None` if it holds none.
pub(crate) fn runs_of(dir: &Path) -> Result<Option<Vec<String>>, SweepError> {
    Ok(read(dir)?.map(|owner| owner.runs))
}

fn read(dir: &Path) -> Result<Option<Owner>, SweepError> {
    let path = dir.join(OWNER);
    match fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text).map(Some).map_err(|e| {
            let path = path.display();
            SweepError::Usage(format!("{path}: not written by a sweep: {e}; choose another folder"))
        }),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(None),
        Err(e) => Err(SweepError::Run(format!("cannot read {}: {e}", path.display()))),
    }
}
