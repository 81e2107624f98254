//! Whose results a folder holds.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use wayhop_report::Document;

use crate::error::SweepError;
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
}

impl Owner {
    fn of(plan: &Plan) -> Self {
        let file = plan.sweep.scenario.file_name().unwrap_or_default();
        Self {
            sweep: plan.sweep.name.clone(),
            scenario: file.to_string_lossy().into_owned(),
            axes: plan.sweep.axes.iter().map(|a| a.name.clone()).collect(),
        }
    }

    fn words(&self) -> String {
        let Self { sweep, scenario, axes } = self;
        let over = if axes.is_empty() { "seeds".to_owned() } else { axes.join(", ") };
        format!("{sweep:?} ({scenario} over {over})")
    }
}

/// Takes a folder for the results of this plan. One that holds another plan's is refused and left alone.
pub(crate) fn claim(dir: &Path, plan: &Plan) -> Result<(), SweepError> {
    let path = dir.join("sweep.json");
    let ours = Owner::of(plan);
    match fs::read(&path) {
        Ok(text) => {
            let theirs: Owner = serde_json::from_slice(&text).map_err(|e| {
                let path = path.display();
                SweepError::Usage(format!("{path}: not written by a sweep: {e}; give another --out"))
            })?;
            if theirs == ours {
                return Ok(());
            }
            let (dir, theirs, ours) = (dir.display(), theirs.words(), ours.words());
            let reason = format!("{dir} holds the results of another plan, {theirs}; this one is {ours}");
            Err(SweepError::Usage(format!("{reason}; give another --out, or take the folder away")))
        }
        Err(e) if e.kind() == ErrorKind::NotFound => {
            let keys = serde_json::to_value(&ours).unwrap_or_default();
            let text = serde_json::to_vec_pretty(&Document::from(keys)).unwrap_or_default();
            fs::write(&path, text)
                .map_err(|e| SweepError::Run(format!("cannot write {}: {e}", path.display())))
        }
        Err(e) => Err(SweepError::Run(format!("cannot read {}: {e}", path.display()))),
    }
}
