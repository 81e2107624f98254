//! `wayhop lab`.

mod args;

use std::fmt::Display;
use std::fs;
use std::path::Path;
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

use crate::failure::{Failure, say, warn};
use crate::named::command;
use crate::progress::Progress;
use crate::{record, show};

pub(crate) use args::{EXAMPLES, LabArgs};

pub(crate) fn lab(a: &LabArgs) -> Result<ExitCode, Failure> {
    let mut scenario = a.source.load()?;
    scenario.captures.all |= a.captures;
    scenario.receptions.all |= a.receptions.is_some();
    let resolved = scenario.resolve()?;
    let file = a.source.file();
    no_tcp(&scenario).map_err(|e| Failure::Usage(in_file(file, &e)))?;
    check(&resolved).map_err(|e| in_lab(file, e))?;
    let n = resolved.addresses.len();
    let filter = match &a.macfilter {
        Some(path) => {
            let text = fs::read_to_string(path)
                .map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
            MacFilter::parse(&text, n).map_err(|e| Failure::Usage(format!("{}:{e}", path.display())))?
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
