//! `wayhop recover`, and the notes of other commands on runs that did not finish.

use std::path::{Path, PathBuf};

use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{RunDir, how_it_ended, recover as mend, what_is_left_out};

use crate::failure::{Failure, put, say};

pub(crate) const HELP: &str = "\
A run that was killed (kill -9, power failure) has incomplete Parquet files; tables.checkpoint holds the rest, except for at most the \
last 5 s. Wayhop's own commands read such a run directly. `recover` completes the files for other programs (polars, pandas), computes \
summary.json and the tables flows and outcomes from the table packets, and sets the status in manifest.json to killed. It rejects runs \
that are still running, and leaves finished ones unchanged.

Examples:
  wayhop recover runs/first-dsr-1
  wayhop recover runs/field/*";

#[derive(Debug, clap::Args)]
pub(crate) struct RecoverArgs {
    /// Run directories
    #[arg(required = true, value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
}

pub(crate) fn recover(a: &RecoverArgs) -> Result<(), Failure> {
    for run in &a.runs {
        let path = run.display();
        let text = match mend(run, CLASSIFIER).map_err(Failure::trace)? {
            None => format!("{path}: nothing to do; the run ended normally or was already recovered\n"),
            Some(done) => {
                let tables = done.tables.iter().filter(|(_, rows)| *rows > 0);
                let rows: Vec<String> = tables.map(|(table, rows)| format!("{table} {rows}")).collect();
                format!(
                    "{path}: recovered up to {:.3} s; at most 5 s before the kill are lost\nrows: {}\n",
                    done.until_s,
                    rows.join(", ")
                )
            }
        };
        put(text)?;
    }
    Ok(())
}

/// Opens a run to read it, and notes if it did not finish, or if its record is partial.
pub(crate) fn open(path: &Path) -> Result<RunDir, Failure> {
    let run = RunDir::open(path, CLASSIFIER).map_err(Failure::trace)?;
    say_how_it_ended(&run);
    say_what_is_left_out(&run)?;
    Ok(run)
}

/// Prints what the record of a run leaves out.
pub(crate) fn say_what_is_left_out(run: &RunDir) -> Result<(), Failure> {
    if let Some(what) = what_is_left_out(run).map_err(Failure::trace)? {
        say!("{what}");
    }
    Ok(())
}

/// Prints how far the record of a killed or running run goes.
pub(crate) fn say_how_it_ended(run: &RunDir) {
    // Errors in its tables are reported when they are read.
    if let Ok(Some(how)) = how_it_ended(run) {
        say!("{how}");
    }
}
