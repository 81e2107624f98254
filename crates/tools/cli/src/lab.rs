//! `wayhop lab`.

use std::ffi::OsString;
use std::fmt::Display;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Instant;

use wayhop_lab::check;
use wayhop_runs::interruption::{stop_on_signal, unless};
use wayhop_runs::run_dir::{self, World};
use wayhop_runs::{Lab, plan, unmodelled, wiring};
use wayhop_scenario::{MacFilter, Scenario, Traffic};
use wayhop_topology::{Hearing, pathless_warnings};
use wayhop_trace::{Recorder, RunDir};

use crate::failure::{Failure, say, usage, warn};
use crate::named::command;
use crate::progress::Progress;
use crate::record::{self, RecordArgs};
use crate::scenario_args::{SourceArgs, metres};
use crate::show;

pub(crate) const EXAMPLES: &str = "\
Requires root and the Debian packages iproute2 and nftables. The nodes are Ethernet hosts without a radio model: a link is \
either up or down. Nodes reach each other as mesh-0, mesh-1, ... A COMMAND gets the terminal, and the run ends when it exits.

Examples:
  wayhop lab scenarios/chain.toml --protocol aodv
  wayhop lab scenarios/chain.toml --node 0 -- ping -c 5 mesh-4
  wayhop lab scenarios/chain.toml --duration 60             and in another terminal:
  wayhop ctl --run chain link 1 2 down
  wayhop export macfilter scenarios/first.toml --out walk.macfilter
  wayhop lab scenarios/first.toml --macfilter walk.macfilter --captures";

#[derive(Debug, clap::Args)]
pub(crate) struct LabArgs {
    #[command(flatten)]
    source: SourceArgs,
    /// MAC filter file: which nodes ignore whose frames, and when (see `wayhop export macfilter`). Default: nodes beyond --range
    #[arg(long, value_name = "FILE", conflicts_with = "range")]
    macfilter: Option<PathBuf>,
    /// Range of all radios, in metres. Default: each radio's range in free space over flat ground
    #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
    range: Option<f64>,
    /// Run directory; replaces an older run there. Default: runs/SCENARIO-PROTOCOL-SEED, with -emulation, -lab, -2, -3, ...
    /// added if that holds a run of another mode or with other settings
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write no run directory
    #[arg(long, conflicts_with_all = ["out", "captures"])]
    no_out: bool,
    /// Write DIR/captures/NODE.pcapng for each node
    #[arg(long)]
    captures: bool,
    /// Have each node's daemon write its own run directory, DIR/nodes/NODE, as in the field, for `wayhop merge`
    #[arg(long, conflicts_with = "no_out")]
    node_runs: bool,
    /// Rejected in a lab, with the reason
    #[arg(long, value_name = "NODE", num_args = 0.., hide = true)]
    receptions: Option<Vec<String>>,
    #[command(flatten)]
    record: RecordArgs,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
    /// Print no progress, warnings or table
    #[arg(long, short)]
    quiet: bool,
    /// Node that runs COMMAND: its number, mesh-N, or its name
    #[arg(long, value_name = "NODE", requires = "command")]
    node: Option<String>,
    /// Run the scenario's programs unconfined, with your rights to all files; only for scenarios you have read
    #[arg(long)]
    trust: bool,
    /// Command to run in the node once the mesh is up, with your rights; the run ends with it and returns its exit status
    #[arg(last = true, value_name = "COMMAND", requires = "node")]
    command: Vec<OsString>,
}

pub(crate) fn lab(a: &LabArgs) -> Result<ExitCode, Failure> {
    if a.receptions.is_some() {
        return Err(usage!(
            "--receptions: not supported in a lab, which does not see lost frames; simulate or emulate the scenario"
        ));
    }
    let mut scenario = a.source.load()?;
    scenario.captures.all |= a.captures;
    let resolved = scenario.resolve()?;
    let file = a.source.file();
    no_tcp(&scenario).map_err(|e| Failure::Usage(in_file(file, &e)))?;
    check(&resolved).map_err(|e| in_lab(file, e))?;
    let n = resolved.addresses.len();
    let filter = match &a.macfilter {
        Some(path) => {
            let text = fs::read_to_string(path).map_err(Failure::read(path))?;
            MacFilter::parse(&text, n).map_err(|e| usage!("{}:{e}", path.display()))?
        }
        None => resolved.macfilter(a.range),
    };
    let recorded = a.record.nodes(&resolved)?;
    let command = command(a.node.as_deref(), &a.command, &resolved)?;
    if !a.quiet {
        warn(&resolved.warnings);
        if a.macfilter.is_none() {
            warn(&pathless_warnings(&resolved, Hearing::Within(a.range)));
        }
        warn(&unmodelled(&scenario));
    }
    let stop = stop_on_signal()?;
    let begun = Instant::now();
    let is_stopped = || stop.load(Ordering::Relaxed);
    let wiring = wiring(&resolved, &is_stopped)?;
    // An older run is replaced only by one that this user may start here.
    let make = || run_dir::create(a.out.as_deref(), file, World::Lab, &scenario, &resolved);
    let dir = (!a.no_out).then(make).transpose()?.map(|made| show::made(made, a.quiet));
    let recorder = match &dir {
        Some(dir) => run_dir::tables(dir, &resolved)?,
        None => Recorder::hash_only(),
    };
    let plan = plan(
        &scenario,
        resolved,
        filter,
        dir.as_ref(),
        record::logs(recorded, dir.as_ref()).as_ref(),
        a.node_runs,
    )?;
    let dir = dir.as_ref().map(RunDir::path);
    // The command's own output has the terminal.
    let mut progress = Progress::new(plan.scenario.duration, a.quiet || command.is_some());
    let lab = Lab::start(&plan, wiring, dir, command, a.trust, &is_stopped)?;
    if !a.quiet {
        let (setup_s, pid, name) = (begun.elapsed().as_secs_f64(), std::process::id(), lab.name());
        say!("{n} nodes up in {setup_s:.2} s");
        say!("enter a node:  wayhop exec --run {pid} NODE -- COMMAND");
        say!("control:       wayhop ctl --run {name} tables, counters, link, params, watch, ...");
    }
    let mut watch = |now| {
        progress.at(now);
        unless(&stop)
    };
    let mut outcome = lab.run(recorder, &mut watch)?;
    progress.done();
    outcome.save()?;
    for complaint in &outcome.complaints {
        say!("wayhop: {complaint}");
    }
    show::summary(&outcome.summary, a.json, a.quiet, dir)?;
    Ok(show::status(&outcome))
}

/// A lab uses the kernel's TCP, and cannot run TCP flows of a scenario.
fn no_tcp(scenario: &Scenario) -> Result<(), String> {
    let Some(i) = scenario.traffic.iter().position(|t| matches!(t, Traffic::Tcp(_))) else { return Ok(()) };
    Err(format!(
        "traffic.{i}.kind: a lab cannot run flows of kind tcp; remove them (or all flows: --set traffic=[]) and run TCP \
         programs such as iperf3 in [[programs]]"
    ))
}

fn in_file(file: Option<&Path>, e: &dyn Display) -> String {
    file.map_or_else(|| e.to_string(), |file| format!("{}: {e}", file.display()))
}

/// Why a lab cannot run a scenario, with the scenario's file.
fn in_lab(file: Option<&Path>, e: wayhop_linux::Error) -> Failure {
    match e {
        wayhop_linux::Error::Config(what) => Failure::Usage(in_file(file, &what)),
        e @ wayhop_linux::Error::System(_) => e.into(),
    }
}
