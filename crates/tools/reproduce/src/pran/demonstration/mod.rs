//! Figures 5 and 7 to 9: a robot's video and commands over a mesh of six nodes, emulated with real programs.
//!
//! The run is the scenario scenarios/pran/demonstration.toml. The paper's measurements are taken
//! from the packets of the programs ([`traffic`]), the robot's track ([`lap`]) and the programs'
//! own records ([`programs`]).

mod lap;
mod programs;
mod sections;
mod simulated;
#[cfg(test)]
mod tests;
mod traffic;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use wayhop_core::Time;
use wayhop_report::{Row, Source};
use wayhop_runs::interruption;
use wayhop_scenario::Scenario;

use super::part::{Options, PartResults};
use crate::outcome::write;
use crate::simulate::emulate_run;
use lap::{LapRun, LapWatch};
use programs::ProgramOutputs;
use simulated::{FILES, lap_sets};

/// Drives the robot around, once per seed. `done` is told how many seconds have passed.
pub(super) fn run(
    options: &Options,
    dir: &Path,
    stop: &AtomicBool,
    done: impl Fn(usize),
) -> Result<PartResults, String> {
    programs::check()?;
    let folder = dir.join("scenarios");
    for (name, text) in FILES {
        write(&folder.join(name), text)?;
    }
    let (mut runs, mut complaints) = (Vec::new(), Vec::new());
    let mut names = Vec::new();
    let mut complete = true;
    for (i, seed) in options.runs.each_seed().enumerate() {
        let scenario = scenario(&folder, seed, options.duration_s)?;
        names = scenario.resolve().map_err(|e| e.to_string())?.names;
        let run_dir = dir.join(format!("runs/seed-{seed}"));
        let before = i as f64 * options.duration_s;
        let mut watch = |now: Time| {
            done((before + now.as_secs_f64()) as usize);
            interruption::unless(stop)
        };
        let (made, watched) = emulate(&scenario, &folder, &run_dir, &mut watch)?;
        complaints.extend(made.complaints.iter().map(|c| format!("seed {seed}: {c}")));
        if !made.complete {
            complete = false;
            break;
        }
        let LapWatch { traffic, lap } = watched;
        let seen = ProgramOutputs::read(&run_dir.join("programs"));
        let lateness = made.summary.lateness_us.unwrap_or_default();
        runs.push(LapRun { traffic, lap, seen, lateness, duration_s: options.duration_s });
    }
    let mut sections = sections::all(&runs, &names, &complaints);
    if complete {
        let found = simulated::section(options, dir, stop)?;
        complete = found.is_some();
        sections.extend(found);
    }
    Ok(PartResults { sections, facts: vec![("Demonstration", in_words(options, &runs))], complete })
}

/// Emulates one lap; its files are in `folder`, and its run directory is `dir`.
fn emulate(
    scenario: &Scenario,
    folder: &Path,
    dir: &Path,
    watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<(wayhop_runs::Outcome, LapWatch), String> {
    let file = folder.join(FILES[0].0);
    let (outcome, watched) = emulate_run(scenario, [&file, dir], Some(LapWatch::default()), watch)?;
    Ok((outcome, watched.ok_or("the run lost its observer")?))
}

/// Which laps were made, whether they were on time, and where everything is.
fn in_words(options: &Options, runs: &[LapRun]) -> String {
    let late = runs.iter().filter(|r| r.lateness.verdict != "ok").count();
    let made = match (runs.len(), options.runs.seeds) {
        (n, of) if n as u64 == of => format!("{n} of {} s", options.duration_s),
        (n, of) => format!("interrupted; {n} of {of}, each of {} s", options.duration_s),
    };
    let verdict = match late {
        _ if runs.is_empty() => String::new(),
        0 => ", all on time".to_owned(),
        late => format!(", {late} degraded because this machine was too slow"),
    };
    format!(
        "laps: {made}, seeds from {}{verdict}. Tables of all packets are in the folder runs beside this page, the scenario in scenarios",
        options.runs.first_seed
    )
}

fn scenario(folder: &Path, seed: u64, duration_s: f64) -> Result<Scenario, String> {
    let sets = [vec![format!("seed={seed}")], lap_sets(folder, duration_s)?].concat();
    Scenario::load(&folder.join(FILES[0].0), &sets).map_err(|e| e.to_string())
}

pub(super) fn sources(row: &Row, options: &Options, dir: &Path) -> Vec<Source> {
    if let Some(plan) = simulated::plan_of(row, options, dir) {
        return vec![plan.source(dir, &options.runs)];
    }
    let sets = lap_sets(&dir.join("scenarios"), options.duration_s).unwrap_or_default();
    let sets = sets.iter().map(|s| format!(" --set {s}")).collect::<Vec<_>>().concat();
    let scenario = dir.join("scenarios").join(FILES[0].0);
    let source = |seed: u64| {
        let directory = dir.join(format!("runs/seed-{seed}")).display().to_string();
        let scenario = scenario.display();
        Source {
            command: format!("sudo wayhop emulate {scenario} --seed {seed}{sets} --out {directory}"),
            directory,
        }
    };
    options.runs.each_seed().map(source).collect()
}
