//! `wayhop emulate` and `wayhop exec`.

use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Instant;

use wayhop_core::Time;
use wayhop_emu::{Control, Drive, Mesh, Telling};
use wayhop_hosting::{Launch, Registry};
use wayhop_scenario::Resolved;
use wayhop_sim::Simulation;
use wayhop_trace::{Recorder, RunStatus, Summary, human_table};

use crate::args::{EmulateArgs, ExecArgs};
use crate::failure::{Failure, output, say, warn};
use crate::progress::Progress;
use crate::run::{INTERRUPTED, recorder, run_dir, stop_on_signal};

pub(crate) fn emulate(a: &EmulateArgs) -> Result<ExitCode, Failure> {
    let mut scenario = a.run.source.load()?;
    scenario.captures.all |= a.run.captures;
    scenario.output.ns2_trace |= a.run.ns2_trace;
    let resolved = scenario.resolve().map_err(Failure::usage)?;
    let command = command(a.node.as_deref(), &a.command, &resolved)?;
    let collector = a.collector.as_deref().map(|name| named("--collector", name, &resolved)).transpose()?;
    if !a.run.quiet {
        warn(&resolved.warnings);
    }
    let stop = stop_on_signal()?;
    let begun = Instant::now();
    let mesh = Mesh::new(&resolved).map_err(Failure::run)?;
    let (names, addresses) = (&resolved.names, &resolved.addresses);
    let registry =
        Registry::new(&resolved.name, names, addresses, &mesh.namespaces()).map_err(Failure::run)?;
    let mut control = Control::open(&resolved).map_err(Failure::run)?;
    let setup_s = begun.elapsed().as_secs_f64();

    let geometry = a.run.geometry()?;
    let mut telling = telling(a, &control)?;
    // What can fail has not: only now an older run gives way.
    let dir = (!a.run.no_out).then(|| run_dir(&a.run, &scenario, &resolved)).transpose()?;
    let recorder = match &dir {
        Some(dir) => recorder(dir, &resolved)?.in_real_time(),
        None => Recorder::hash_only(),
    };
    let run = dir.as_ref().map(wayhop_trace::RunDir::path);
    let mut plan = wayhop_emu::programs(&resolved, run).map_err(Failure::run)?;
    if let Some(node) = collector {
        let folder = run.map(|r| r.join("reports"));
        telling.report_to(resolved.addresses[node], &mesh, folder.as_deref()).map_err(Failure::run)?;
    }
    let main = command.map(|launch| {
        plan.push((Time::ZERO, launch));
        plan.len() - 1
    });
    if !a.run.quiet {
        let (nodes, pid, name) = (resolved.addresses.len(), std::process::id(), control.name());
        say!("{nodes} nodes up in {setup_s:.2} s");
        say!("enter one:        wayhop exec --run {pid} NODE -- COMMAND");
        say!("look and change:  wayhop ctl --run {name} tables, position, link, params, watch, ...");
    }

    let begun = Instant::now();
    let mut simulation = Simulation::new(&resolved, recorder).map_err(Failure::usage)?;
    // The command's own output has the terminal.
    let mut progress = Progress::new(resolved.duration, a.run.quiet || main.is_some());
    let mut watch = |now| {
        progress.at(now);
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let drive = Drive {
        end: resolved.duration,
        plan,
        main,
        hosts: registry.hosts(),
        telling: &mut telling,
        control: &mut control,
        watch: &mut watch,
    };
    let outcome = wayhop_emu::drive(&mut simulation, &mesh, drive).map_err(Failure::run)?;
    progress.done();
    let (mut summary, audit, recorder) = simulation.finish(&resolved, begun.elapsed().as_secs_f64());
    "emulation".clone_into(&mut summary.world);
    summary.lateness_us = Some(outcome.lateness.summary());
    summary.command_exit = outcome.command_exit;
    if let Some(geometry) = &geometry {
        geometry.annotate(&mut summary, &resolved);
    }
    let status = if outcome.complete { RunStatus::Complete } else { RunStatus::Interrupted };
    summary.capture_drops = recorder.wants_frames().then(|| recorder.capture_drops());
    recorder.finish(&summary, status).map_err(Failure::run)?;

    for complaint in &outcome.complaints {
        say!("wayhop: {complaint}");
    }
    if outcome.ignored > 0 && !a.run.quiet {
        say!(
            "wayhop: {} packets of programs were left out: not IPv4, or not from their node's address",
            outcome.ignored
        );
    }
    show(a, &summary, dir.as_ref().map(wayhop_trace::RunDir::path))?;
    if let Some(defect) = audit.defect() {
        return Err(Failure::Run(format!("defect in Wayhop, please report it with the scenario: {defect}")));
    }
    Ok(match (outcome.complete, outcome.command_exit) {
        (false, _) => ExitCode::from(INTERRUPTED),
        (true, Some(code)) => ExitCode::from(code.clamp(0, 255) as u8),
        (true, None) => ExitCode::SUCCESS,
    })
}

/// The command of the command line, and its node.
pub(crate) fn command(
    node: Option<&str>,
    command: &[std::ffi::OsString],
    resolved: &Resolved,
) -> Result<Option<Launch>, Failure> {
    let Some(name) = node else { return Ok(None) };
    let node = named("--node", name, resolved)?;
    Ok(Some(Launch { node: node as u32, command: command.to_vec(), output: None, has_terminal: true }))
}

/// What the run is to tell of its nodes.
fn telling(a: &EmulateArgs, control: &Control) -> Result<Telling, Failure> {
    let mut telling = Telling::new(control.about());
    if let Some(at) = a.metrics {
        telling.open_metrics(at).map_err(Failure::run)?;
    }
    Ok(telling)
}

/// The number of a node that an option names.
fn named(option: &str, name: &str, resolved: &Resolved) -> Result<usize, Failure> {
    wayhop_core::node_named(&resolved.names, name).ok_or_else(|| {
        let last = resolved.names.len() - 1;
        Failure::Usage(format!(
            "{option} {name}: there is no such node; give 0 to {last}, mesh-0 to mesh-{last}, or a name"
        ))
    })
}

fn show(a: &EmulateArgs, summary: &Summary, dir: Option<&Path>) -> Result<(), Failure> {
    if a.run.json {
        let text = serde_json::to_string(summary).map_err(Failure::run)?;
        return output(writeln!(std::io::stdout(), "{text}"));
    }
    if a.run.quiet {
        return Ok(());
    }
    output(write!(std::io::stdout(), "{}", human_table(summary)))?;
    match dir {
        Some(dir) => output(writeln!(std::io::stdout(), "saved in   {}", dir.display())),
        None => Ok(()),
    }
}

pub(crate) fn exec(a: &ExecArgs) -> Result<ExitCode, Failure> {
    let run = wayhop_hosting::find(a.run.as_deref()).map_err(Failure::usage)?;
    let node = run.node(&a.node).ok_or_else(|| {
        let last = run.names.len().saturating_sub(1);
        Failure::Usage(format!(
            "{}: there is no such node; give 0 to {last}, mesh-0 to mesh-{last}, or a name",
            a.node
        ))
    })?;
    Err(Failure::run(wayhop_hosting::exec(&run, node, &a.command)))
}
