//! `wayhop recover`, and what commands say of runs that did not come to their end.

use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{RunDir, how_it_ended, recover as mend};

use crate::failure::{Failure, output, say};

/// What it does, and examples, for the help.
pub(crate) const HELP: &str = "\
A run that was killed (kill -9, power failure) has incomplete Parquet files; tables.checkpoint holds the rest, up to at most 5 s before the \
end. Wayhop's own commands read such a run as it is. `recover` completes the files for other programs (polars, pandas), computes \
summary.json and the tables flows and outcomes from the table packets, and sets the status in manifest.json to killed. It refuses runs \
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

pub(crate) fn recover(a: &RecoverArgs) -> Result<ExitCode, Failure> {
    for run in &a.runs {
        let path = run.display();
        let text = match mend(run, CLASSIFIER).map_err(Failure::trace)? {
            None => format!("{path}: nothing to do: the run ended normally or has been recovered\n"),
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
        output(stdout().write_all(text.as_bytes()))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens a run to read it. That it did not come to its end is said.
pub(crate) fn open(path: &Path) -> Result<RunDir, Failure> {
    let run = RunDir::open(path, CLASSIFIER).map_err(Failure::trace)?;
    say_how_it_ended(&run);
    Ok(run)
}

/// Says of a run that was killed, or goes on, how far its record goes.
pub(crate) fn say_how_it_ended(run: &RunDir) {
    // What is wrong with its tables is said by who reads them.
    if let Ok(Some(how)) = how_it_ended(run) {
        say!("{how}");
    }
}
