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
use crate::hosted::{Agents, Applications};
use crate::inputs::InputLogs;
use crate::outcome::Outcome;
use crate::programs::Programs;

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
        let (names, addresses) = (&scenario.names, &scenario.addresses);
        let addresses6 = scenario.ipv6.as_ref().map_or(&[][..], |plan| &plan.addresses);
        let control = Control::open(scenario, None)?;
        let namespaces = mesh.namespaces();
        let registry =
            Registry::new(&scenario.name, control.name(), names, addresses, addresses6, &namespaces)
                .map_err(Error::run)?;
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
        let (mut plan, leave) = Programs::new(self.scenario, tasks.dir, tasks.trust)?.split();
        let agents = Agents::new(self.scenario, tasks.dir)?.map(|(agents, launches)| {
            plan.extend(launches.into_iter().map(|l| (Time::ZERO, l)));
            agents
        });
        let applications =
            Applications::new(self.scenario, tasks.dir, |node, name| tasks.inputs?.path(node, name))?.map(
                |(applications, launches)| {
                    plan.extend(launches.into_iter().map(|l| (Time::ZERO, l)));
                    applications
                },
            );
        if let Some(node) = tasks.collector {
            let folder = tasks.dir.map(|r| r.join("reports"));
            self.telling.report_to(self.scenario.addresses[node], &self.mesh, folder.as_deref())?;
        }
        let main = tasks.command.map(|launch| {
            plan.push((Time::ZERO, launch));
            plan.len() - 1
        });
        let connections = ConnectionWatch::begin(&tasks.recorder, self.scenario, &self.mesh.namespaces())?;
        let (begun, clock) = (Instant::now(), SystemTime::now());
        let mut simulation = Simulation::new(self.scenario, tasks.recorder).map_err(Error::Usage)?;
        simulation.introduce(self.scenario, WORLD);
        if let Some(inputs) = tasks.inputs {
            inputs.begin(&mut simulation, self.scenario, Pace::RealTime)?;
        }
        let drive = Drive {
            end: self.scenario.duration,
            plan,
            main,
            registry: &self.registry,
            telling: &mut self.telling,
            control: &mut self.control,
            watch: tasks.watch,
        };
        let driven = wayhop_emu::drive(&mut simulation, &self.mesh, drive);
        // The last of what runs in the nodes ends with it.
        drop(self.registry);
        Programs::hand_over(leave.as_deref());
        let driven = driven?;
        let inputs = simulation.end_inputs();
        let (mut summary, audit, mut recorder) =
            simulation.finish(self.scenario, begun.elapsed().as_secs_f64());
        WORLD.clone_into(&mut summary.world);
        summary.lateness_us = driven.lateness.summary();
        summary.command_exit = driven.programs.command_exit;
        summary.program_exits = driven.programs.exits;
        let end = Time::from_secs_f64(summary.simulated_s);
        summary.bundles = agents.map(|agents| agents.finish(clock, end, &mut recorder));
        if let Some(applications) = applications {
            let own = std::mem::take(&mut summary.applications);
            summary.applications = applications.finish(clock, end, &mut recorder, own);
        }
        let complaint = connections.and_then(|watch| watch.end(driven.begun, &mut recorder));
        summary.name_nodes(&self.scenario.names);
        summary.capture_drops = recorder.wants_frames().then(|| recorder.capture_drops());
        let mut outcome =
            Outcome::new(summary, driven.complete, recorder).audited(&audit).with_inputs(inputs);
        outcome.complaints = driven.programs.complaints;
        outcome.complaints.extend(complaint);
        outcome.ignored = driven.ignored;
        Ok(outcome)
    }
}
