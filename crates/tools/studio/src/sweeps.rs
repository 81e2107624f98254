//! The results of `wayhop sweep` in the folder of the runs.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::error::Error;

/// The means of each figure with their intervals, a line for each cell and figure.
const TABLE: &str = "table.csv";
/// What makes the plan this one.
const PLAN: &str = "sweep.json";
/// Larger files are not read.
const MOST_BYTES: u64 = 16 << 20;

pub(crate) fn is_sweep(path: &Path) -> bool {
    path.join(PLAN).is_file()
}

/// A sweep in the list: how many runs its plan has (null if it does not say), and whether they have been summed up.
pub(crate) fn about(name: &str, path: &Path) -> Value {
    let plan = path.join(PLAN);
    let is_short = fs::metadata(&plan).is_ok_and(|m| m.len() <= MOST_BYTES);
    let plan = is_short.then(|| fs::read(plan).ok()).flatten();
    let plan = plan.and_then(|text| serde_json::from_slice::<Value>(&text).ok());
    let runs = plan.as_ref().and_then(|p| p["runs"].as_array()).map(Vec::len);
    json!({"name": name, "runs": runs, "has_figures": path.join(TABLE).is_file()})
}

pub(crate) fn table(path: &Path) -> Result<String, Error> {
    let path = path.join(TABLE);
    let failed = |e: std::io::Error| {
        Error::unreadable(format!(
            "{}: {e}; it is written when the sweep ends: run the same wayhop sweep again to finish it",
            path.display()
        ))
    };
    let bytes = fs::metadata(&path).map_err(failed)?.len();
    if bytes > MOST_BYTES {
        return Err(Error::unreadable(format!(
            "{}: {bytes} bytes are too many to show; plot a figure with: wayhop plot sweep",
            path.display()
        )));
    }
    fs::read_to_string(&path).map_err(failed)
}
