//! The output of commands at the end of a run.

use std::path::Path;
use std::process::ExitCode;

use wayhop_runs::Outcome;
use wayhop_runs::run_dir::NewRunDir;
use wayhop_trace::{RunDir, Status, Summary, human_table};

use crate::failure::{Failure, json_line, out, put, say};

/// The new run directory; prints a note if it replaces an older run.
pub(crate) fn made(made: NewRunDir, quiet: bool) -> RunDir {
    if let Some(started) = made.replaced.filter(|_| !quiet) {
        say!("replacing the run of {started} in {}", made.dir.path().display());
    }
    made.dir
}

/// Prints the summary as JSON or as a table, and the run directory.
pub(crate) fn summary(summary: &Summary, json: bool, quiet: bool, dir: Option<&Path>) -> Result<(), Failure> {
    if json {
        return put(json_line(summary)?);
    }
    if quiet {
        return Ok(());
    }
    put(human_table(summary))?;
    match dir {
        Some(dir) => out!("saved in   {}", dir.display()),
        None => Ok(()),
    }
}

/// The exit status of a run: that of its command, if it failed, or 1 if another program failed.
pub(crate) fn status(outcome: &Outcome) -> ExitCode {
    match (outcome.complete, outcome.summary.command_exit) {
        (false, _) => Status::Interrupted.into(),
        (true, Some(code)) if code != 0 => ExitCode::from(code.clamp(0, 255) as u8),
        (true, _) if outcome.summary.failed_programs().is_some() => Status::Failed.into(),
        (true, _) => Status::Done.into(),
    }
}
