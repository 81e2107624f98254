//! What a reproduction found, and its files.

use std::fmt::Display;
use std::path::Path;

use wayhop_report::{Page, Row, Source, rows_csv, rows_json};

/// What a reproduction found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The paper's short name: `cmu`.
    pub paper: &'static str,
    /// One row a published number.
    pub rows: Vec<Row>,
    /// The report.
    pub page: Page,
    /// Whether every run was made.
    pub complete: bool,
    /// What went wrong when there was something to show already.
    pub trouble: Option<String>,
}

/// Why a file could not be written, and what to do.
pub(crate) fn cannot_write(path: &Path, reason: impl Display) -> String {
    format!("cannot write {}: {reason}; choose another folder with --out", path.display())
}

/// What a report says of itself above its sections: `own`, the version, and what is `missing`, if anything is.
pub(crate) fn facts(own: &[(&str, &str)], missing: Option<String>) -> Vec<(String, String)> {
    let fact = |(what, value): &(&str, &str)| ((*what).to_owned(), (*value).to_owned());
    let mut all: Vec<(String, String)> = own.iter().map(fact).collect();
    all.push(("Version".to_owned(), format!("wayhop {}", wayhop_core::version::full())));
    all.extend(missing.map(|what| ("Incomplete".to_owned(), what)));
    all
}

/// How many runs an interruption has left out, if it has.
pub(crate) fn missing_runs(missing: usize, runs: usize) -> Option<String> {
    (missing > 0).then(|| format!("interrupted; {missing} of {runs} runs are missing"))
}

/// A larger difference from the paper, in % of its number, is a large miss, which each row must explain.
const LARGE_MISS_PCT: f64 = 25.0;
const NO_RUN: &str = "Not observed in any run.";
const NO_CAUSE: &str = "More than 25 % off, with unknown cause.";
const BY_CHANCE: &str =
    "More than 25 % off, but the paper's number is within the interval, so it may be chance.";

impl Outcome {
    /// Of a report. Each row with a number of ours is given its sources; one without says why, and so does a large miss.
    pub(crate) fn new(
        paper: &'static str,
        mut page: Page,
        complete: bool,
        sources: impl Fn(&Row) -> Vec<Source>,
    ) -> Self {
        for row in page.sections.iter_mut().flat_map(|s| &mut s.rows) {
            let is_far = row.difference_pct().is_some_and(|pct| pct.abs() > LARGE_MISS_PCT);
            match row.ours {
                None if row.note.is_empty() => NO_RUN.clone_into(&mut row.note),
                Some(_) if is_far && row.note.is_empty() => {
                    let why = if row.agrees() == Some(true) { BY_CHANCE } else { NO_CAUSE };
                    why.clone_into(&mut row.note);
                }
                _ => {}
            }
            if row.ours.is_some() {
                row.runs = sources(row);
            }
        }
        let rows = page.sections.iter().flat_map(|s| s.rows.iter().cloned()).collect();
        Self { paper, rows, page, complete, trouble: None }
    }

    /// Writes `report.html`, `rows.json` and `rows.csv` into `dir`, which is made if it is not there.
    pub fn write(&self, dir: &Path) -> Result<(), String> {
        let html = self.page.html().map_err(|reason| cannot_write(&dir.join("report.html"), reason))?;
        let json = format!("{}\n", rows_json(self.paper, &self.rows));
        for (name, text) in [("report.html", html), ("rows.json", json), ("rows.csv", rows_csv(&self.rows))] {
            write(&dir.join(name), &text)?;
        }
        Ok(())
    }
}

/// Writes a file and the folders above it.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), String> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder.and_then(|()| std::fs::write(path, text)).map_err(|e| cannot_write(path, e))
}
