//! The plan next to its results: self-contained, so that it repeats the same runs.

use std::fs;
use std::path::Path;

use wayhop_document::relative_path;

use crate::error::SweepError;
use crate::files::replace;
use crate::plan::{Plan, Seeds, Sweep};

/// The plan's file in a folder of results.
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
    Ok(sweep)
}
