//! `wayhop run`.

use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use wayhop_scenario::{Movement, Resolved, Scenario, Traffic};
use wayhop_sim::Simulation;
use wayhop_trace::{InputFile, Manifest, NodeInfo, Outputs, Recorder, RunDir, RunStatus, human_table};

use crate::args::RunArgs;
use crate::failure::{Failure, output, say, warn};
use crate::progress::Progress;

/// The exit status of a run that the user stopped: 128 + SIGINT, as shells have it.
pub(crate) const INTERRUPTED: u8 = 130;

pub(crate) fn run(a: &RunArgs) -> Result<ExitCode, Failure> {
    let mut scenario = a.source.load()?;
    scenario.captures.all |= a.captures;
    scenario.output.ns2_trace |= a.ns2_trace;
    let resolved = scenario.resolve().map_err(Failure::usage)?;
    if !a.quiet {
        warn(&resolved.warnings);
        if !resolved.programs.is_empty() {
            warn(&["its programs do not run in simulation; `wayhop emulate` runs them".to_owned()]);
        }
    }
    let geometry = a.geometry()?;
    let stop = stop_on_signal()?;

    let dir = (!a.no_out).then(|| run_dir(a, &scenario, &resolved)).transpose()?;
    let recorder = match &dir {
        Some(dir) => recorder(dir, &resolved)?,
        None => Recorder::hash_only(),
    };
    let begun = Instant::now();
    let mut simulation = Simulation::new(&resolved, recorder).map_err(Failure::usage)?;
    let mut progress = Progress::new(resolved.duration, a.quiet);
    let complete = simulation.run(|now| {
        progress.at(now);
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    progress.done();
    let (mut summary, audit, recorder) = simulation.finish(&resolved, begun.elapsed().as_secs_f64());
    if let Some(geometry) = &geometry {
        geometry.annotate(&mut summary, &resolved);
    }

    let status = if complete { RunStatus::Complete } else { RunStatus::Interrupted };
    recorder.finish(&summary, status).map_err(Failure::run)?;
    if a.json {
        let text = serde_json::to_string(&summary).map_err(Failure::run)?;
        output(writeln!(std::io::stdout(), "{text}"))?;
    } else if !a.quiet {
        output(write!(std::io::stdout(), "{}", human_table(&summary)))?;
        if let Some(dir) = &dir {
            output(writeln!(std::io::stdout(), "saved in   {}", dir.path().display()))?;
        }
    }
    if let Some(defect) = audit.defect() {
        return Err(Failure::Run(format!("defect in Wayhop, please report it with the scenario: {defect}")));
    }
    if complete {
        return Ok(ExitCode::SUCCESS);
    }
    let written = if dir.is_some() { "; what is written is complete up to there" } else { "" };
    say!("wayhop: stopped at {:.3} s of simulated time{written}", summary.simulated_s);
    Ok(ExitCode::from(INTERRUPTED))
}

/// Signals that follow each other sooner are one: `timeout`, and other programs that start this one, pass on the Ctrl-C that
/// the terminal sent to all of them.
const ONE_SIGNAL: Duration = Duration::from_millis(300);

/// A flag that Ctrl-C and SIGTERM raise.
pub(crate) fn stop_on_signal() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&stop);
    let mut first = None;
    ctrlc::set_handler(move || {
        raised.store(true, Ordering::Relaxed);
        // The second time the user means it.
        if first.get_or_insert_with(Instant::now).elapsed() > ONE_SIGNAL {
            std::process::exit(i32::from(INTERRUPTED));
        }
    })
    .map_err(Failure::run)?;
    Ok(stop)
}

pub(crate) fn run_dir(a: &RunArgs, scenario: &Scenario, resolved: &Resolved) -> Result<RunDir, Failure> {
    new_run_dir(a.out.as_deref(), a.source.scenario.as_deref(), scenario, resolved)
}

/// A run directory: at `out`, or where runs of this scenario belong. `file` is the scenario's, if it is one.
pub(crate) fn new_run_dir(
    out: Option<&Path>,
    file: Option<&Path>,
    scenario: &Scenario,
    resolved: &Resolved,
) -> Result<RunDir, Failure> {
    let default = || {
        let (name, protocol, seed) = (&resolved.name, resolved.protocol.name(), resolved.seed);
        let name: String =
            name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect();
        PathBuf::from("runs").join(format!("{name}-{protocol}-{seed}"))
    };
    let path = out.map_or_else(default, Path::to_path_buf);
    let text = toml::to_string(scenario).map_err(Failure::run)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let command = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    let mut manifest = Manifest::new(text, resolved.seed, command, now);
    manifest.inputs = inputs(file, scenario)?;
    RunDir::create(path, &manifest).map_err(Failure::trace)
}

/// The files that the run was made from.
fn inputs(toml: Option<&Path>, scenario: &Scenario) -> Result<Vec<InputFile>, Failure> {
    let base = toml.and_then(Path::parent).unwrap_or(Path::new(""));
    let movement = match &scenario.movement {
        Movement::Ns2 { path, .. } => Some(base.join(path)),
        _ => None,
    };
    let traffic = scenario.traffic.iter().filter_map(|t| match t {
        Traffic::Ns2(f) => Some(base.join(&f.path)),
        _ => None,
    });
    let file = |path: PathBuf| {
        let bytes =
            fs::read(&path).map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
        Ok(InputFile::new(path.to_string_lossy(), &bytes))
    };
    toml.map(Path::to_path_buf).into_iter().chain(movement).chain(traffic).map(file).collect()
}

pub(crate) fn recorder(dir: &RunDir, r: &Resolved) -> Result<Recorder, Failure> {
    let outputs = Outputs {
        tables: true,
        capture_nodes: Some(r.captures.nodes.clone()),
        captures: (!r.captures.nodes.is_empty()).then_some(r.captures.snap_length),
        ns2_trace: r.ns2_trace.then(|| dir.path().join("trace.tr")),
    };
    let node = |(name, &addr): (&String, _)| NodeInfo { name: name.clone(), addr };
    let nodes = r.names.iter().zip(&r.addresses).map(node).collect();
    Recorder::start(dir.clone(), &outputs, nodes).map_err(Failure::trace)
}
