//! What a run directory leaves out: said to its readers, and left out of its summary.

use std::collections::BTreeMap;

use crate::{Error, PartialRecord, RunDir, Summary};

/// The longest list of the summary of a run directory with an entry for each node: two megabytes of JSON.
const MOST_ENTRIES: usize = 10_000;

/// What the record of a run leaves out, as a sentence for its readers; `None` if it is complete.
///
/// # Errors
/// There is no readable manifest.
pub fn what_is_left_out(run: &RunDir) -> Result<Option<String>, Error> {
    let record = run.manifest()?.record.filter(|r| !r.is_whole());
    Ok(record.map(|r| format!("{}: the record is partial: {}", run.path().display(), r.phrases().join("; "))))
}

/// Empties lists of the summary that are too long, and says in the manifest and in the summary what the record leaves out.
pub(crate) fn shorten(run: &RunDir, summary: &mut Summary) -> Result<(), Error> {
    fn empty<T>(list: &mut Vec<T>, name: &str, left_out: &mut BTreeMap<String, u64>) {
        if list.len() > MOST_ENTRIES {
            left_out.insert(name.to_owned(), list.len() as u64);
            *list = Vec::new();
        }
    }
    summary.record = run.manifest()?.record;
    let mut lists = BTreeMap::new();
    empty(&mut summary.applications, "applications", &mut lists);
    empty(&mut summary.energy, "energy", &mut lists);
    empty(&mut summary.outages, "outages", &mut lists);
    if lists.is_empty() {
        return Ok(());
    }
    let record = PartialRecord { summary_lists: lists, ..summary.record.take().unwrap_or_default() };
    summary.record = Some(record.clone());
    run.note(record)
}
