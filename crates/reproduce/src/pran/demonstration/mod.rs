//! Figures 5 and 7 to 9: a robot's video and commands over a mesh of six nodes, emulated with real programs.
//!
//! The run is the scenario scenarios/pran/demonstration.toml. What the paper measured is taken from the packets of the
//! programs ([`traffic`]), from the robot's track ([`lap`]) and from what the programs left ([`programs`]).

mod lap;
mod programs;
mod run;
mod sections;
#[cfg(test)]
mod tests;
mod traffic;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use wayhop_core::Time;
use wayhop_report::Section;
use wayhop_runs::{Emulation, Error, Tasks, interruption, run_dir};
use wayhop_scenario::{Map, Scenario, Shape};
use wayhop_trace::{HopEvent, Observer, PositionEvent};

use super::options::Options;
use crate::outcome::write;
use lap::Lap;
use programs::Seen;
use run::Run;
use traffic::Traffic;

/// The scenario and its map.
const FILES: [(&str, &str); 2] = [
    ("demonstration.toml", include_str!("../../../../../scenarios/pran/demonstration.toml")),
    ("floor.geojson", include_str!("../../../../../scenarios/pran/floor.geojson")),
];

/// What there is to show, and whether every run was made.
pub(super) struct Found {
    pub(super) sections: Vec<Section>,
    /// What was run, in words.
    pub(super) fact: String,
    pub(super) complete: bool,
}

/// Drives the robot around, `options.seeds` times. `done` is told how many seconds have passed.
pub(super) fn run(
    options: &Options,
    dir: &Path,
    stop: &AtomicBool,
    done: impl Fn(usize),
) -> Result<Found, String> {
    programs::check()?;
    let folder = dir.join("scenarios");
    for (name, text) in FILES {
        write(&folder.join(name), text).map_err(|e| e.to_string())?;
    }
    let (mut runs, mut complaints) = (Vec::new(), Vec::new());
    let mut names = Vec::new();
    let mut complete = true;
    for (i, seed) in (options.first_seed..).take(options.seeds as usize).enumerate() {
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
        let Watch { traffic, lap } = watched;
        let seen = Seen::read(&run_dir.join("programs"));
        let lateness = made.summary.lateness_us.unwrap_or_default();
        runs.push(Run { traffic, lap, seen, lateness, duration_s: options.duration_s });
    }
    let sections = sections::all(&runs, &names, &complaints);
    Ok(Found { sections, fact: in_words(options, &runs), complete })
}

/// Emulates one lap; its files are in `folder`, and its run directory is `dir`.
fn emulate(
    scenario: &Scenario,
    folder: &Path,
    dir: &Path,
    watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<(wayhop_runs::Outcome, Watch), String> {
    let resolved = scenario.resolve().map_err(|e| e.to_string())?;
    let text = |e: Error| e.to_string();
    let emulation = Emulation::new(&resolved, || false).map_err(text)?;
    let file = folder.join(FILES[0].0);
    let run = run_dir::create(Some(dir), Some(&file), run_dir::World::Emulation, scenario, &resolved)
        .map_err(text)?
        .dir;
    let recorder = run_dir::tables(&run, &resolved).map_err(text)?.observed_by(Box::new(Watch::default()));
    let tasks =
        Tasks { recorder, dir: Some(dir), trust: false, command: None, collector: None, inputs: None, watch };
    let mut outcome = emulation.run(tasks).map_err(text)?;
    let watched = outcome.take_observer();
    outcome.save().map_err(text)?;
    outcome.check().map_err(|e| format!("{}: {e}", resolved.name))?;
    Ok((outcome, watched.ok_or("the run lost its observer")?))
}

/// Which laps were made, whether they were on time, and where everything is.
fn in_words(options: &Options, runs: &[Run]) -> String {
    let late = runs.iter().filter(|r| r.lateness.verdict != "ok").count();
    let made = match (runs.len(), options.seeds) {
        (n, of) if n as u64 == of => format!("{n} of {} s", options.duration_s),
        (n, of) => format!("stopped; {n} of {of}, each of {} s", options.duration_s),
    };
    let verdict = match late {
        _ if runs.is_empty() => String::new(),
        0 => ", all on time".to_owned(),
        late => format!(", {late} degraded: this machine was late"),
    };
    format!(
        "laps: {made}, seeds from {}{verdict}. Tables of all packets are in the folder runs beside this page, the scenario in scenarios",
        options.first_seed
    )
}

/// The scenario with this seed and with a lap of this length.
fn scenario(folder: &Path, seed: u64, duration_s: f64) -> Result<Scenario, String> {
    let file = folder.join(FILES[0].0);
    let origin = Scenario::load(&file, &[]).map_err(|e| e.to_string())?.origin.unwrap_or_default();
    let map = Map::parse(FILES[1].1, origin).map_err(|e| e.to_string())?;
    let length_m = lap_length_m(&map).ok_or("the map of the demonstration has no lap")?;
    let speed = length_m / duration_s;
    let sets = [
        format!("seed={seed}"),
        format!("duration_s={duration_s:?}"),
        format!("movement.speed_min_mps={speed:?}"),
        format!("movement.speed_max_mps={speed:?}"),
    ];
    Scenario::load(&file, &sets).map_err(|e| e.to_string())
}

fn lap_length_m(map: &Map) -> Option<f64> {
    let points = map.features().iter().find_map(|f| match &f.shape {
        Shape::Line(points) => Some(points),
        _ => None,
    })?;
    Some(points.windows(2).map(|w| w[0].distance(w[1])).sum())
}

/// Sees a run.
#[derive(Debug, Default)]
struct Watch {
    traffic: Traffic,
    lap: Lap,
}

impl Observer for Watch {
    fn hop(&mut self, e: &HopEvent) {
        self.traffic.hop(e);
    }
    fn position(&mut self, e: &PositionEvent) {
        self.lap.position(e);
    }
}
