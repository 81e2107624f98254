//! `wayhop emulate` and `wayhop exec`.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Instant;

use wayhop_runs::interruption::{stop_on_signal, unless};
use wayhop_runs::run_dir::World;
use wayhop_runs::{Emulation, Tasks};
use wayhop_topology::{Hearing, pathless_warnings};
use wayhop_trace::RunDir;

use crate::failure::{Failure, say, usage, warn};
use crate::named::{command, named};
use crate::progress::Progress;
use crate::run::args::RunArgs;
use crate::{record, show};

pub(crate) const EXAMPLES: &str = "\
Requires root. Nodes reach each other as mesh-0, mesh-1, ... on the interface mesh0. The scenario's [[programs]] run in its nodes. \
A COMMAND gets the terminal, and the run ends when it exits.

Examples:
  wayhop emulate scenarios/chain.toml --node 0 -- ping -c 5 mesh-4
  wayhop emulate scenarios/chain.toml --duration 60         and in another terminal:
  wayhop exec 4 -- iperf3 -s                                and in a third:
  wayhop exec 0 -- iperf3 -c mesh-4";

pub(crate) const EXEC_EXAMPLES: &str = "\
Examples:
  wayhop exec 0 -- ping mesh-3
  wayhop exec --run chain gateway -- bash";

#[derive(Debug, clap::Args)]
pub(crate) struct EmulateArgs {
    #[command(flatten)]
    run: RunArgs,
    /// Node that runs COMMAND: its number, mesh-N, or its name
    #[arg(long, value_name = "NODE", requires = "command")]
    node: Option<String>,
    /// Serve the counters of all nodes to Prometheus at this address, under /metrics
    #[arg(long, value_name = "ADDRESS:PORT")]
    metrics: Option<SocketAddr>,
    /// Have each node report its counters and position once a second, to DIR/reports and over the mesh to this node, where
    /// `wayhop collect` receives them
    #[arg(long, value_name = "NODE")]
    collector: Option<String>,
    /// Run the scenario's programs unconfined, with your rights to all files; only for scenarios you have read
    #[arg(long)]
    trust: bool,
    /// Command to run in the node once the mesh is up, with your rights; the run ends with it and returns its exit status
    #[arg(last = true, value_name = "COMMAND", requires = "node")]
    command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ExecArgs {
    /// Run to use, if there are several: its scenario's name or its process ID
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// Node: its number, mesh-N, or its name
    node: String,
    /// Command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProgramArgs {
    orders: String,
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

pub(crate) fn emulate(a: &EmulateArgs) -> Result<ExitCode, Failure> {
    let (scenario, resolved) = a.run.load()?;
    let command = command(a.node.as_deref(), &a.command, &resolved)?;
    let collector = a.collector.as_deref().map(|name| named("--collector", name, &resolved)).transpose()?;
    let recorded = a.run.record.nodes(&resolved)?;
    if a.run.check {
        a.run.geometry()?;
        return a.run.to_check("emulation", &scenario, &resolved).show();
    }
    if !a.run.quiet {
        warn(&resolved.warnings);
        warn(&pathless_warnings(&resolved, Hearing::Radios));
    }
    let stop = stop_on_signal()?;
    let begun = Instant::now();
    let mut emulation = Emulation::new(&resolved, || stop.load(Ordering::Relaxed))?;
    let setup_s = begun.elapsed().as_secs_f64();

    let geometry = a.run.geometry()?;
    if let Some(at) = a.metrics {
        emulation.open_metrics(at)?;
    }
    // All checks have passed: only now is an older run replaced.
    let (dir, recorder) = a.run.open(World::Emulation, &scenario, &resolved)?;
    let recorder = if dir.is_some() { recorder.in_real_time() } else { recorder };
    let inputs = record::logs(recorded, dir.as_ref());
    let dir = dir.as_ref().map(RunDir::path);
    if !a.run.quiet {
        let (nodes, pid, name) = (resolved.addresses.len(), std::process::id(), emulation.name());
        say!("{nodes} nodes up in {setup_s:.2} s");
        say!("enter a node:  wayhop exec --run {pid} NODE -- COMMAND");
        say!("control:       wayhop ctl --run {name} tables, position, link, params, watch, ...");
    }

    // The command's own output has the terminal.
    let mut progress = Progress::new(resolved.duration, a.run.quiet || command.is_some());
    let mut watch = |now| {
        progress.at(now);
        unless(&stop)
    };
    let inputs = inputs.as_ref();
    let mut outcome = emulation.run(Tasks {
        recorder,
        dir,
        trust: a.trust,
        command,
        collector,
        inputs,
        watch: &mut watch,
    })?;
    progress.done();
    if let Some(geometry) = &geometry {
        geometry.annotate(&mut outcome.summary, &resolved);
    }
    outcome.save()?;
    for complaint in &outcome.complaints {
        say!("wayhop: {complaint}");
    }
    if outcome.ignored > 0 && !a.run.quiet {
        say!(
            "wayhop: {} packets of programs were ignored: not IP, or not from their node's address",
            outcome.ignored
        );
    }
    show::summary(&outcome.summary, a.run.json, a.run.quiet, dir)?;
    outcome.check()?;
    Ok(show::status(&outcome))
}

/// The helper process that a run starts for each node with programs.
pub(crate) fn init() -> Result<(), Failure> {
    wayhop_netns::keep_pids().map_err(Failure::run)
}

/// The process that a run starts for each program, and that becomes the program.
pub(crate) fn program(a: &ProgramArgs) -> Result<ExitCode, Failure> {
    wayhop_netns::become_program(&a.orders, &a.command)?;
    Ok(ExitCode::FAILURE)
}

pub(crate) fn exec(a: &ExecArgs) -> Result<ExitCode, Failure> {
    let run = wayhop_netns::find(a.run.as_deref())?;
    let node = run.node(&a.node).ok_or_else(|| {
        let last = run.names.len().saturating_sub(1);
        usage!("{}: no such node; give a number from 0 to {last}, mesh-0 to mesh-{last}, or a name", a.node)
    })?;
    let status = wayhop_netns::exec(&run, node, &a.command)?;
    Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)))
}
