//! Runs on the real clock, with the programs of their scenarios.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use wayhop_core::Time;
use wayhop_emu::{Control, Drive, Mesh, Telling};
use wayhop_netns::Registry;
use wayhop_scenario::Scenario;
use wayhop_sim::Simulation;
use wayhop_trace::{Manifest, NodeInfo, Observer, Outputs, Recorder, RunDir, RunStatus, Summary};

/// A run that was made.
pub(crate) struct Emulated<O> {
    /// What the observer has become.
    pub(crate) observer: O,
    pub(crate) summary: Summary,
    /// What went wrong with programs.
    pub(crate) complaints: Vec<String>,
    /// Nobody broke it off.
    pub(crate) complete: bool,
}

/// Emulates a scenario for as long as it says; the run directory is `dir`. `watch` is called now and then with the run's
/// time and may break it off.
#[allow(clippy::disallowed_methods, reason = "a run on the real clock says when it was")]
pub(crate) fn emulate<O: Observer>(
    scenario: &Scenario,
    dir: &Path,
    observer: O,
    watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
) -> Result<Emulated<O>, String> {
    fn text_of(e: impl std::fmt::Display) -> String {
        e.to_string()
    }
    let resolved = scenario.resolve().map_err(text_of)?;
    let mesh = Mesh::new(&resolved).map_err(text_of)?;
    let (names, addresses) = (&resolved.names, &resolved.addresses);
    let registry = Registry::new(&resolved.name, names, addresses, &mesh.namespaces()).map_err(text_of)?;
    let mut control = Control::open(&resolved).map_err(text_of)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let command = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    let manifest = Manifest::new(toml::to_string(scenario).map_err(text_of)?, resolved.seed, command, now);
    let run = RunDir::create(dir, &manifest).map_err(text_of)?;
    let node = |(name, &addr): (&String, _)| NodeInfo { name: name.clone(), addr };
    let nodes = resolved.names.iter().zip(&resolved.addresses).map(node).collect();
    let recorder = Recorder::start(run, &Outputs::default(), nodes).map_err(text_of)?;

    let begun = Instant::now();
    let mut simulation = Simulation::new(&resolved, recorder.observed_by(Box::new(observer)))?;
    let plan = wayhop_emu::programs(&resolved, Some(dir)).map_err(text_of)?;
    let mut telling = Telling::new(control.about());
    let drive = Drive {
        end: resolved.duration,
        plan,
        main: None,
        hosts: registry.hosts(),
        telling: &mut telling,
        control: &mut control,
        watch,
    };
    let outcome = wayhop_emu::drive(&mut simulation, &mesh, drive).map_err(text_of)?;
    let (mut summary, audit, mut recorder) = simulation.finish(&resolved, begun.elapsed().as_secs_f64());
    "emulation".clone_into(&mut summary.world);
    summary.lateness_us = Some(outcome.lateness.summary());
    let observer = recorder.take_observer();
    let status = if outcome.complete { RunStatus::Complete } else { RunStatus::Interrupted };
    recorder.finish(&summary, status).map_err(text_of)?;
    if let Some(defect) = audit.defect() {
        return Err(format!("{}: defect in Wayhop, please report it: {defect}", resolved.name));
    }
    let observer = observer.ok_or("the run lost its observer")?;
    Ok(Emulated { observer, summary, complaints: outcome.complaints, complete: outcome.complete })
}
