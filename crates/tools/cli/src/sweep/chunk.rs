//! `wayhop sweep --chunk` and `--prepare`: what workers and their coordinator call.

use std::io::{self, stdin};
use std::path::{Path, absolute};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::{fs, thread};

use serde_json::json;
use wayhop_report::Document;
use wayhop_runs::interruption::stop_on_signal;
use wayhop_sweep::{Chunk, ChunkOutput, Plan, Prepared, run_chunk};
use wayhop_trace::Status;

use super::cost::Cost;
use crate::failure::{Failure, put, say, usage};
use crate::job_progress::JobProgress;

/// Runs a chunk, and writes its lines to `results` or into `dir`.
pub(super) fn run(
    plan: &Plan,
    chunk: &str,
    (dir, results): (&Path, Option<&Path>),
    threads: usize,
    quiet: bool,
) -> Result<ExitCode, Failure> {
    let stop = stop_on_signal()?;
    let chunk = read(chunk, &stop)?;
    let output = match results {
        None => ChunkOutput::Folder,
        Some(path) if path == Path::new("-") => ChunkOutput::Standard,
        Some(path) => ChunkOutput::File(path),
    };
    let progress = OnceLock::new();
    let at = |done, of| progress.get_or_init(|| JobProgress::new(of, "runs", quiet)).at(done);
    let outcome = run_chunk(plan, &chunk, (dir, output), threads, &stop, at);
    if let Some(progress) = progress.get() {
        progress.done();
    }
    let outcome = outcome?;
    if !quiet {
        let earlier = if outcome.found > 0 {
            format!(", {} of them from earlier", outcome.found)
        } else {
            String::new()
        };
        say!("{} of {} runs of the chunk{earlier}", outcome.done, outcome.runs);
    }
    Ok(if outcome.done == outcome.runs { ExitCode::SUCCESS } else { Status::Interrupted.into() })
}

fn read(chunk: &str, stop: &Arc<AtomicBool>) -> Result<Chunk, Failure> {
    let is_part = chunk.contains('/') && chunk.chars().all(|c| c.is_ascii_digit() || c == '/');
    if is_part {
        return Chunk::part(chunk).map_err(|e| usage!("--chunk {e}"));
    }
    let text = if chunk == "-" { from_input(stop) } else { fs::read_to_string(chunk) };
    let text =
        text.map_err(|e| usage!("--chunk {chunk}: cannot be read: {e}; give K/N, a file of runs, or -"))?;
    Chunk::list(&text).map_err(|e| usage!("--chunk {chunk}: {e}"))
}

/// The list on standard input, up to its end or an empty line. After an empty line the end of input stops the chunk: a worker
/// that is killed does not leave it running.
fn from_input(stop: &Arc<AtomicBool>) -> io::Result<String> {
    let mut text = String::new();
    while stdin().read_line(&mut text)? > 0 {
        if text.ends_with("\n\n") || text == "\n" {
            text.pop();
            let stop = Arc::clone(stop);
            thread::spawn(move || {
                let _ = io::copy(&mut stdin(), &mut io::sink());
                stop.store(true, Ordering::Relaxed);
            });
            break;
        }
    }
    Ok(text)
}

/// Merges what workers left, and prints what is left to run.
pub(super) fn prepare(plan: &Plan, dir: &Path, warn: impl FnMut(&str)) -> Result<ExitCode, Failure> {
    let prepared = Prepared::new(plan, dir, warn)?;
    let left: Vec<String> = prepared.left().map(|(number, id)| format!("{number} {id}")).collect();
    // Paths in DIR/plan.toml start at the folder's own path, without links.
    let own = fs::canonicalize(dir).map_err(|e| usage!("cannot find {}: {e}", dir.display()))?;
    let files: Vec<String> = prepared.files(plan)?.iter().map(|p| text(p)).collect::<Result<_, _>>()?;
    let own = text(&own)?;
    let planned = prepared.planned();
    let due = prepared.into_due();
    let cost = Cost::of(&due, plan, &*stop_on_signal()?)?;
    let told = json!({
        "dir": own,
        "runs": planned,
        "done": planned - left.len(),
        "left": left,
        "run_s": (cost.samples > 0).then_some(cost.run_s),
        "files": files,
        "recorded": plan.sweep.tables || plan.sweep.captures,
    });
    put(format!("{}\n", Document::from(told)))?;
    Ok(ExitCode::SUCCESS)
}

/// An absolute path, for JSON.
fn text(path: &Path) -> Result<String, Failure> {
    let whole = absolute(path).map_err(|e| usage!("cannot find {}: {e}", path.display()))?;
    let told = whole.to_str().map(str::to_owned);
    told.ok_or_else(|| usage!("{}: a name that is not UTF-8; rename the file", path.display()))
}
