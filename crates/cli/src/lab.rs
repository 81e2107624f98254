//! `wayhop lab`, and the macfilter of a scenario.

use std::fs;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use wayhop_core::Time;
use wayhop_daemon::lab::{MacFilter, Plan, run_lab};
use wayhop_scenario::{Protocol, Resolved};
use wayhop_trace::{Outputs, Recorder, RunDir, RunStatus, human_table};
use wayhop_world::links::{changes, neighbours};

use crate::args::LabArgs;
use crate::failure::{Failure, output, say, warn};
use crate::node::failure;
use crate::run::{INTERRUPTED, new_run_dir, stop_on_signal};

/// More daemons than this are hardly meant for one machine.
const MAX_NODES: usize = 250;

pub(crate) fn lab(a: &LabArgs) -> Result<ExitCode, Failure> {
    let scenario = a.source.load()?;
    let resolved = scenario.resolve().map_err(Failure::usage)?;
    let n = resolved.addresses.len();
    if n > MAX_NODES {
        return Err(Failure::Usage(format!(
            "{n} nodes are more than a lab runs ({MAX_NODES}); simulate or emulate them"
        )));
    }
    let filter = match &a.macfilter {
        Some(path) => {
            let text = fs::read_to_string(path)
                .map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
            MacFilter::parse(&text, n).map_err(|e| Failure::Usage(format!("{}:{e}", path.display())))?
        }
        None => filter_of(&resolved, a.range),
    };
    let command = match &a.node {
        None => None,
        Some(name) => {
            let node = wayhop_hosting::node_named(&resolved.names, name).ok_or_else(|| {
                Failure::Usage(format!(
                    "--node {name}: there is no such node; give 0 to {last}, mesh-0 to mesh-{last}, or a name",
                    last = n - 1
                ))
            })?;
            Some((node, a.command.clone()))
        }
    };
    if !a.quiet {
        warn(&resolved.warnings);
    }
    let file = a.source.scenario.as_deref();
    let make = || new_run_dir(a.out.as_deref(), file, &scenario, &resolved);
    let dir = (!a.no_out).then(make).transpose()?;
    let recorder = match &dir {
        Some(dir) => {
            let outputs = Outputs { tables: false, ..Outputs::default() };
            Recorder::start(dir.clone(), &outputs, Vec::new()).map_err(Failure::trace)?
        }
        None => Recorder::hash_only(),
    };
    let plan = Plan {
        names: resolved.names.clone(),
        addresses: resolved.addresses.clone(),
        protocol: scenario.protocol.name.clone(),
        sets: sets(&scenario.protocol, resolved.seed),
        filter,
        flows: resolved.flows.clone(),
        captures: captures(a, &resolved, dir.as_ref())?,
        duration: Duration::from_nanos(resolved.duration.as_nanos()),
        command,
    };
    let stop = stop_on_signal()?;
    let outcome = run_lab(&plan, &stop).map_err(failure)?;
    let mut summary = outcome.summary;
    env!("CARGO_PKG_VERSION").clone_into(&mut summary.wayhop);
    summary.scenario.clone_from(&resolved.name);
    summary.seed = resolved.seed;
    let status = if outcome.complete { RunStatus::Complete } else { RunStatus::Interrupted };
    recorder.finish(&summary, status).map_err(Failure::run)?;
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
    let mut sets = vec![format!("seed={seed}"), format!("protocol.profile={}", p.profile)];
    sets.extend(p.overrides.iter().map(|(k, v)| format!("protocol.{k}={v}")));
    sets
}

fn captures(
    a: &LabArgs,
    r: &Resolved,
    dir: Option<&RunDir>,
) -> Result<Vec<Option<std::path::PathBuf>>, Failure> {
    let mut files = vec![None; r.names.len()];
    let Some(dir) = dir else { return Ok(files) };
    for (i, name) in r.names.iter().enumerate() {
        if a.captures || r.captures.nodes.iter().any(|n| n.index() == i) {
            let path = std::path::absolute(dir.capture_path(name)).map_err(Failure::run)?;
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder).map_err(Failure::write(folder))?;
            }
            files[i] = Some(path);
        }
    }
    Ok(files)
}
