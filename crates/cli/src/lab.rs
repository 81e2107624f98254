//! `wayhop lab`, and the macfilter of a scenario.

use std::fs;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::Instant;

use wayhop_core::Time;
use wayhop_daemon::lab::{Lab, MacFilter, Plan, Tasks, Wiring, check};
use wayhop_hosting::Registry;
use wayhop_scenario::{Protocol, Resolved, Scenario};
use wayhop_trace::{NodeInfo, Outputs, Recorder, RunDir, RunStatus, human_table};
use wayhop_world::links::{changes, neighbours};

use crate::args::LabArgs;
use crate::failure::{Failure, output, say, warn};
use crate::node::failure;
use crate::progress::Progress;
use crate::run::{INTERRUPTED, new_run_dir, stop_on_signal};

pub(crate) fn lab(a: &LabArgs) -> Result<ExitCode, Failure> {
    let mut scenario = a.source.load()?;
    scenario.captures.all |= a.captures;
    let resolved = scenario.resolve().map_err(Failure::usage)?;
    check(&resolved).map_err(failure)?;
    let n = resolved.addresses.len();
    let filter = match &a.macfilter {
        Some(path) => {
            let text = fs::read_to_string(path)
                .map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
            MacFilter::parse(&text, n).map_err(|e| Failure::Usage(format!("{}:{e}", path.display())))?
        }
        None => filter_of(&resolved, a.range),
    };
    let command = crate::emulate::command(a.node.as_deref(), &a.command, &resolved)?;
    if !a.quiet {
        warn(&resolved.warnings);
        warn(&unmodelled(&scenario));
    }
    let stop = stop_on_signal()?;
    let begun = Instant::now();
    let wiring = Wiring::new(&resolved).map_err(failure)?;
    // An older run gives way only to one that this user may start here.
    let file = a.source.scenario.as_deref();
    let make = || new_run_dir(a.out.as_deref(), file, &scenario, &resolved);
    let dir = (!a.no_out).then(make).transpose()?;
    let recorder = match &dir {
        Some(dir) => tables(dir, &resolved)?,
        None => Recorder::hash_only(),
    };
    let plan = Plan {
        sets: sets(&scenario.protocol, resolved.seed),
        filter,
        captures: captures(&resolved, dir.as_ref())?,
        scenario: resolved,
    };
    let resolved = &plan.scenario;
    let mut programs =
        wayhop_emu::programs(resolved, dir.as_ref().map(RunDir::path)).map_err(Failure::run)?;
    let main = command.map(|launch| {
        programs.push((Time::ZERO, launch));
        programs.len() - 1
    });
    let lab = Lab::start(&plan, wiring).map_err(failure)?;
    let registry = Registry::new(&resolved.name, &resolved.names, &resolved.addresses, &lab.namespaces())
        .map_err(Failure::run)?;
    if !a.quiet {
        let (setup_s, pid, name) = (begun.elapsed().as_secs_f64(), std::process::id(), lab.name());
        say!("{n} nodes up in {setup_s:.2} s");
        say!("enter one:        wayhop exec --run {pid} NODE -- COMMAND");
        say!("look and change:  wayhop ctl --run {name} tables, counters, link, params, watch, ...");
    }
    // The command's own output has the terminal.
    let mut progress = Progress::new(resolved.duration, a.quiet || main.is_some());
    let mut watch = |now| {
        progress.at(now);
        if stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let tasks = Tasks { programs, main, hosts: registry.hosts(), recorder, watch: &mut watch };
    let outcome = lab.run(tasks).map_err(failure)?;
    progress.done();
    let summary = outcome.summary;
    let status = if outcome.complete { RunStatus::Complete } else { RunStatus::Interrupted };
    outcome.recorder.finish(&summary, status).map_err(Failure::run)?;
    for complaint in &outcome.complaints {
        say!("wayhop: {complaint}");
    }
    if a.json {
        let text = serde_json::to_string(&summary).map_err(Failure::run)?;
        output(writeln!(std::io::stdout(), "{text}"))?;
    } else if !a.quiet {
        output(write!(std::io::stdout(), "{}", human_table(&summary)))?;
        if let Some(dir) = &dir {
            output(writeln!(std::io::stdout(), "saved in   {}", dir.path().display()))?;
        }
    }
    Ok(match (outcome.complete, summary.command_exit) {
        (false, _) => ExitCode::from(INTERRUPTED),
        (true, Some(code)) => ExitCode::from(code.clamp(0, 255) as u8),
        (true, None) => ExitCode::SUCCESS,
    })
}

/// What of a scenario has no effect in a lab.
fn unmodelled(s: &Scenario) -> Vec<String> {
    // A preset alone is nothing that the user would miss.
    let site = s.radio.site.is_some().then(|| "radio.site".to_owned());
    let keys: Vec<String> = s.radio.overrides.keys().map(|k| format!("radio.{k}")).chain(site).collect();
    if keys.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "a lab has no radio model: {} have no effect; links are --range's or --macfilter's",
        keys.join(", ")
    )]
}

/// The run's tables; the captures are the daemons'.
fn tables(dir: &RunDir, r: &Resolved) -> Result<Recorder, Failure> {
    let node = |(name, &addr): (&String, _)| NodeInfo { name: name.clone(), addr };
    let nodes = r.names.iter().zip(&r.addresses).map(node).collect();
    Recorder::start(dir.clone(), &Outputs::default(), nodes).map_err(Failure::trace)
}

/// Who must ignore whom, so that those within range hear each other.
pub(crate) fn filter_of(r: &Resolved, range_m: f64) -> MacFilter {
    let at = |t: &wayhop_world::Track| {
        let leg = t.legs().iter().find(|l| l.until > Time::ZERO).or(t.legs().last());
        leg.map_or_else(Default::default, |l| l.position(Time::ZERO))
    };
    let begin: Vec<_> = r.tracks.iter().map(at).collect();
    let changes = changes(&r.tracks, range_m, r.duration);
    MacFilter::of_links(
        &r.addresses,
        &neighbours(&begin, range_m),
        changes.into_iter().map(|c| (c.at, c.a, c.b, c.up)),
    )
}

/// The scenario's protocol as settings of a node's configuration.
fn sets(p: &Protocol, seed: u64) -> Vec<String> {
    let mut sets = vec![format!("seed={seed}"), format!("protocol.profile={}", p.profile())];
    sets.extend(p.overrides.iter().map(|(k, v)| format!("protocol.{k}={v}")));
    sets
}

fn captures(r: &Resolved, dir: Option<&RunDir>) -> Result<Vec<Option<PathBuf>>, Failure> {
    let mut files = vec![None; r.names.len()];
    let Some(dir) = dir else { return Ok(files) };
    for node in &r.captures.nodes {
        let path = std::path::absolute(dir.capture_path(&r.names[node.index()])).map_err(Failure::run)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Failure::write(folder))?;
        }
        files[node.index()] = Some(path);
    }
    Ok(files)
}
