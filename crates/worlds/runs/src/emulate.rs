//! Runs on the real clock, with the programs of their scenarios.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Instant, SystemTime};

use wayhop_core::Time;
use wayhop_emu::{Control, Drive, Mesh, Telling};
use wayhop_netns::{Launch, Registry};
use wayhop_scenario::Resolved;
use wayhop_sim::{Pace, Simulation};
use wayhop_trace::Recorder;

use crate::connections::ConnectionWatch;
use crate::error::Error;
use crate::inputs::InputLogs;
use crate::outcome::Outcome;
use crate::programs::{self, Programs};

/// What summaries call it.
const WORLD: &str = "emulation";

/// A mesh that is up: namespaces with programs to come, and a control socket. It goes with this value.
pub struct Emulation<'a> {
    scenario: &'a Resolved,
    mesh: Mesh,
    registry: Registry,
    control: Control,
    telling: Telling,
}

/// What an emulation does beside its scenario.
pub struct Tasks<'a> {
    /// Takes the run's records.
    pub recorder: Recorder,
    /// The run directory, where programs' output and reports go.
    pub dir: Option<&'a Path>,
    /// Whether the scenario's programs have all rights of this process.
    pub trust: bool,
    /// A command with which the run ends.
    pub command: Option<Launch>,
    /// The node at whose address nodes' reports are collected.
    pub collector: Option<usize>,
    /// Logs of what goes into engines, if they are wanted.
    pub inputs: Option<&'a InputLogs>,
    /// Called now and then with the run's time; it may break the run off.
    pub watch: &'a mut dyn FnMut(Time) -> ControlFlow<()>,
}

impl<'a> Emulation<'a> {
    /// Makes the nodes, unless `is_stopped` says meanwhile that they are not wanted any more.
    pub fn new(scenario: &'a Resolved, is_stopped: impl Fn() -> bool) -> Result<Self, Error> {
        let mesh = Mesh::new(scenario, is_stopped)?;
        let control = Control::open(scenario, None)?;
        let registry = programs::registry(scenario, control.name(), &mesh.namespaces())?;
        let telling = Telling::new(control.about());
        Ok(Self { scenario, mesh, registry, control, telling })
    }

    /// The name of the run, for `wayhop ctl --run`.
    pub fn name(&self) -> &str {
        self.control.name()
    }

    /// Serves metrics at this address, too.
    pub fn open_metrics(&mut self, at: SocketAddr) -> Result<(), Error> {
        Ok(self.telling.open_metrics(at)?)
    }

    /// Runs for as long as the scenario says, or its command takes.
    pub fn run(mut self, tasks: Tasks<'_>) -> Result<Outcome, Error> {
        let log = |node, name: &str| tasks.inputs?.path(node, name);
        let mut programs = Programs::new(self.scenario, tasks.dir, tasks.trust, tasks.command, log)?;
        if let Some(node) = tasks.collector {
            let folder = tasks.dir.map(|r| r.join("reports"));
            self.telling.report_to(self.scenario.addresses[node], &self.mesh, folder.as_deref())?;
        }
        let connections = ConnectionWatch::begin(&tasks.recorder, self.scenario, &self.mesh.namespaces())?;
        let (begun, clock) = (Instant::now(), SystemTime::now());
        let mut simulation = Simulation::new(self.scenario, tasks.recorder).map_err(Error::Usage)?;
        simulation.introduce(self.scenario, WORLD);
        if let Some(inputs) = tasks.inputs {
            inputs.begin(&mut simulation, self.scenario, Pace::RealTime)?;
        }
        let drive = Drive {
            end: self.scenario.duration,
            plan: std::mem::take(&mut programs.plan),
            has_taps: self.scenario.has_taps(),
            main: programs.main,
            registry: &self.registry,
            telling: &mut self.telling,
            control: &mut self.control,
            watch: tasks.watch,
        };
        let driven = wayhop_emu::drive(&mut simulation, &self.mesh, drive);
        // The last of what runs in the nodes ends with it.
        drop(self.registry);
        programs.hand_over();
        let driven = driven?;
        let inputs = simulation.end_inputs().err();
        let (mut summary, audit, mut recorder) =
            simulation.finish(self.scenario, begun.elapsed().as_secs_f64());
        WORLD.clone_into(&mut summary.world);
        summary.lateness_us = driven.lateness.summary();
        summary.command_exit = driven.programs.command_exit;
        summary.program_exits = driven.programs.exits;
        programs.finish(clock, &mut summary, &mut recorder);
        let complaint = connections.and_then(|watch| watch.end(driven.begun, &mut recorder));
        summary.name_nodes(&self.scenario.names);
        summary.capture_drops = recorder.wants_frames().then(|| recorder.capture_drops());
        Ok(Outcome {
            complaints: driven.programs.complaints.into_iter().chain(complaint).collect(),
            ignored: driven.ignored,
            defect: audit.defect(),
            inputs,
            ..Outcome::new(summary, driven.complete, recorder)
        })
    }
}
