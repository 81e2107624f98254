//! What a reproduction found, and its files.

use std::io;
use std::path::{Path, PathBuf};

use wayhop_report::{Page, Row, rows_csv, rows_json};

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

/// A file that could not be written.
#[derive(Debug)]
pub struct OutcomeError {
    /// Which.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

impl std::fmt::Display for OutcomeError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot write {}: {}; choose another folder with --out", self.path.display(), self.reason)
    }
}

impl std::error::Error for OutcomeError {}

impl Outcome {
    /// Writes `report.html`, `rows.json` and `rows.csv` into `dir`, which is made if it is not there.
    pub fn write(&self, dir: &Path) -> Result<(), OutcomeError> {
        let html =
            self.page.html().map_err(|reason| OutcomeError { path: dir.join("report.html"), reason })?;
        let json = format!("{}\n", rows_json(self.paper, &self.rows));
        for (name, text) in [("report.html", html), ("rows.json", json), ("rows.csv", rows_csv(&self.rows))] {
            write(&dir.join(name), &text)?;
        }
        Ok(())
    }
}

/// Writes a file and the folders above it.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), OutcomeError> {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    let error = |e: io::Error| OutcomeError { path: path.to_owned(), reason: e.to_string() };
    folder.and_then(|()| std::fs::write(path, text)).map_err(error)
}
