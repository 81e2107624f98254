//! `wayhop replay`.

mod library;
mod show;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use wayhop_core::{Application, Configured};
use wayhop_dtn::MemoryStore;
use wayhop_dtn::node::{self, Node};
use wayhop_replay::{ApplicationHeader, Engines, Header, LogError, Reader, Replay, ReplayVerdict, check};
use wayhop_trace::Status;

use crate::failure::{Failure, harmless, say, usage};
use crate::scenario_args::whole;

pub(crate) const EXAMPLES: &str = "\
Exit codes: 0 same behaviour; 1 a difference; 2 unusable log; 3 same behaviour up to the end of a truncated log.

Examples:
  wayhop run scenarios/chain.toml --record-inputs --out runs/chain
  wayhop replay runs/chain/inputs/*.jsonl
  wayhop replay runs/chain/inputs/left.jsonl --set protocol.hello=always
  wayhop replay runs/flood/inputs/*.jsonl --library ./libflood.so";

#[derive(Debug, clap::Args)]
pub(crate) struct ReplayArgs {
    /// Logs from --record-inputs, plain or gzip
    #[arg(required = true, value_name = "LOG")]
    logs: Vec<PathBuf>,
    /// Set a parameter of the protocol, to see how the same inputs are handled with it (repeatable)
    #[arg(long = "set", value_name = "protocol.KEY=VALUE")]
    sets: Vec<String>,
    /// Load the protocol or application of a log from this shared library or Python module (repeatable)
    #[arg(long = "library", value_name = "FILE")]
    libraries: Vec<PathBuf>,
    /// Show every difference, not only the first of each log
    #[arg(long)]
    all: bool,
    /// Number of inputs to show before each difference
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = whole(0..=u16::MAX), allow_negative_numbers = true)]
    context: u16,
    /// Print one JSON object per log and, with --all, one per difference before it
    #[arg(long)]
    json: bool,
    /// Print no progress
    #[arg(long, short)]
    quiet: bool,
}

/// Time between two lines of progress.
const TELL_EVERY: Duration = Duration::from_secs(5);
/// Inputs between two looks at the clock.
const LOOK_EVERY: u64 = 4_096;

/// The exit status of several logs is the worst of theirs.
const FROM_BEST_TO_WORST: [Status; 4] = [Status::Done, Status::SameSoFar, Status::Failed, Status::Usage];

pub(crate) fn replay(a: &ReplayArgs) -> Result<ExitCode, Failure> {
    let changes = a.sets.iter().map(|s| change(s)).collect::<Result<Map<String, Value>, _>>()?;
    let mut worst = Status::Done;
    for path in &a.logs {
        let status = match one(a, path, &changes) {
            Ok(ReplayVerdict::Same) => Status::Done,
            Ok(ReplayVerdict::SameSoFar) => Status::SameSoFar,
            Ok(ReplayVerdict::Differs) => Status::Failed,
            Err(ReplayFailure::Log(e)) => {
                say!("wayhop: {}", harmless(&e.to_string()));
                Status::Usage
            }
            Err(ReplayFailure::Other(e)) => return Err(e),
        };
        let rank = |s: Status| FROM_BEST_TO_WORST.iter().position(|o| *o == s);
        if rank(status) > rank(worst) {
            worst = status;
        }
    }
    Ok(worst.into())
}

/// Why a log was not replayed to its end.
enum ReplayFailure {
    /// There is something wrong with it.
    Log(LogError),
    /// There is something wrong with something else.
    Other(Failure),
}

impl From<LogError> for ReplayFailure {
    fn from(e: LogError) -> Self {
        Self::Log(e)
    }
}
impl From<Failure> for ReplayFailure {
    fn from(e: Failure) -> Self {
        Self::Other(e)
    }
}

fn one(a: &ReplayArgs, path: &Path, changes: &Map<String, Value>) -> Result<ReplayVerdict, ReplayFailure> {
    let reader = Reader::open(path)?;
    let header = reader.header().clone();
    if let Some(application) = &header.application {
        return of_application(a, path, reader, application, changes);
    }
    let description = library::protocol(&header.protocol, &a.libraries).map_err(|e| reader.wrong(e))?;
    let recorded = header.engines(description).map_err(|e| reader.wrong(e))?;
    let engines = Engines {
        first: changed(recorded.first, changes)?,
        after_reboot: changed(recorded.after_reboot, changes)?,
    };
    play(a, path, &header, Replay::new(reader, engines))
}

fn of_application(
    a: &ReplayArgs,
    path: &Path,
    reader: Reader,
    of: &ApplicationHeader,
    changes: &Map<String, Value>,
) -> Result<ReplayVerdict, ReplayFailure> {
    if !changes.is_empty() {
        let why = format!(
            "--set applies to protocols only, and {} is the log of an application; replay it without --set",
            path.display()
        );
        return Err(Failure::Usage(why).into());
    }
    let header = reader.header().clone();
    let application = made(of, header.node, &a.libraries).map_err(|e| reader.wrong(e))?;
    play(a, path, &header, Replay::of_application(reader, application))
}

/// The application of a log: one of the registry or of a library, or a bundle node, whose store is empty at first as it was.
fn made(
    of: &ApplicationHeader,
    node: Option<u32>,
    libraries: &[PathBuf],
) -> Result<Box<dyn Application>, String> {
    if of.name == node::NAME {
        let settings = serde_json::from_value(of.parameters.clone().into())
            .map_err(|e| format!("invalid settings of a bundle node: {e}"))?;
        return Ok(Box::new(Node::new(settings, MemoryStore::default())));
    }
    let description = library::application(&of.name, libraries)?;
    Ok(of.application(description)?.parameters.application(node))
}

fn play(
    a: &ReplayArgs,
    path: &Path,
    header: &Header,
    replay: Replay,
) -> Result<ReplayVerdict, ReplayFailure> {
    let size = std::fs::metadata(path).map_or(0, |m| m.len());
    let mut replay = replay.with_context(usize::from(a.context));
    let show = show::Show { log: path, header, json: a.json };
    let (begun, mut told) = (Instant::now(), TELL_EVERY);
    let mut first = None;
    while !replay.is_over() {
        let difference = match replay.step() {
            Ok(difference) => difference,
            Err(e) => {
                // Report what was found before the error.
                show.before_error(replay.report());
                return Err(e.into());
            }
        };
        if let Some(d) = difference {
            if a.all || first.is_none() {
                show.difference(&d, replay.context(), a.all)?;
            }
            first.get_or_insert(d);
        }
        let inputs = replay.report().inputs;
        if !a.quiet && inputs.is_multiple_of(LOOK_EVERY) && begun.elapsed() >= told {
            told = begun.elapsed() + TELL_EVERY;
            // The uncompressed size of a gzip file is not known.
            let share = (replay.position() as f64 / size.max(1) as f64 * 100.0).min(100.0);
            let share = if path.extension() == Some("gz".as_ref()) {
                String::new()
            } else {
                format!(", {share:.0} %")
            };
            say!("replayed {inputs} inputs{share}");
        }
    }
    let report = replay.report();
    show.end(report, first.as_ref())?;
    Ok(report.verdict())
}

/// The protocol with other values of some parameters.
fn changed(recorded: Configured, changes: &Map<String, Value>) -> Result<Configured, Failure> {
    let mut configured = recorded;
    for (key, value) in changes {
        let usage = |what: String| usage!("--set protocol.{key}={value}: {what}");
        if !configured.values().contains_key(key) {
            let protocol = configured.name();
            return Err(usage(format!(
                "{protocol} has no such parameter; the first line of the log lists all"
            )));
        }
        configured = configured.with(key, value.clone()).map_err(usage)?;
    }
    check(&configured).map_err(Failure::Usage)?;
    Ok(configured)
}

/// `protocol.KEY=VALUE`. A value that is not TOML is text, as everywhere.
fn change(set: &str) -> Result<(String, Value), Failure> {
    let wrong = |what: &str| usage!("--set {set}: {what}; use --set protocol.KEY=VALUE");
    let (path, value) = set.split_once('=').ok_or_else(|| wrong("missing ="))?;
    let key = path
        .trim()
        .strip_prefix("protocol.")
        .filter(|k| !k.is_empty())
        .ok_or_else(|| wrong("only parameters of the protocol can be changed"))?;
    let value = value.trim();
    let parsed = toml::from_str::<toml::Table>(&format!("x = {value}")).ok();
    let value = match parsed.and_then(|mut t| t.remove("x")).map(serde_json::to_value) {
        Some(Ok(value)) => value,
        _ => Value::String(value.to_owned()),
    };
    Ok((key.to_owned(), value))
}
