//! `wayhop run`.

pub(crate) mod args;
mod seeds;

use std::process::ExitCode;

use wayhop_runs::interruption::{stop_on_signal, unless};
use wayhop_runs::run_dir::{self, World};
use wayhop_runs::{Clock, memory, simulate};
use wayhop_scenario::{Resolved, Scenario};
use wayhop_topology::{Hearing, pathless_warnings};
use wayhop_trace::{Recorder, RunDir};

use crate::check::Check;
use crate::failure::{Failure, say, usage, warn};
use crate::progress::Progress;
use crate::{record, show};
use args::RunArgs;

pub(crate) use args::{EXAMPLES, RunCommand};
pub(crate) use seeds::run_command;

/// Simulates a scenario; `clock` creates its clock after all checks.
pub(crate) fn run(
    a: &RunArgs,
    clock: impl FnOnce(&Resolved) -> Result<Clock, Failure>,
) -> Result<ExitCode, Failure> {
    let geometry = a.geometry()?;
    let (scenario, resolved) = a.load()?;
    memory::check(&scenario, &resolved)?;
    let recorded = a.record.nodes(&resolved)?;
    let all_warnings = || {
        let pathless = pathless_warnings(&resolved, Hearing::Radios);
        [resolved.warnings.clone(), warnings(&resolved), pathless].concat()
    };
    if a.check {
        return Check { warnings: all_warnings(), ..a.to_check("sim", &scenario, &resolved) }.show();
    }
    if !a.quiet {
        warn(&all_warnings());
    }
    memory::prepare(&resolved);
    let stop = stop_on_signal()?;
    let mut clock = clock(&resolved)?;

    let (dir, recorder) = a.open(World::Simulation, &scenario, &resolved)?;
    let mut progress = Progress::new(resolved.duration, a.quiet);
    let inputs = record::logs(recorded, dir.as_ref());
    let mut outcome = simulate(&resolved, recorder, inputs.as_ref(), &mut clock, |now| {
        progress.at(now);
        unless(&stop)
    })?;
    progress.done();
    if let Some(geometry) = &geometry {
        geometry.annotate(&mut outcome.summary, &resolved);
    }
    outcome.save()?;
    show::summary(&outcome.summary, a.json, a.quiet, dir.as_ref().map(RunDir::path))?;
    outcome.check()?;
    if !outcome.complete {
        let written = if dir.is_some() { "; the files are complete up to there" } else { "" };
        say!("wayhop: interrupted at {:.3} s of simulated time{written}", outcome.summary.simulated_s);
    }
    Ok(show::status(&outcome))
}

/// Warnings about the result of a simulation, besides those of its scenario.
pub(crate) fn warnings(resolved: &Resolved) -> Vec<String> {
    let mut all = Vec::new();
    let has_bundles = resolved.dtn.as_ref().is_some_and(|d| !d.flows.is_empty());
    if resolved.flows.is_empty() && resolved.programs.is_empty() && !has_bundles {
        all.push("the scenario has no [[traffic]]: only the routing protocol sends".to_owned());
    }
    if !resolved.programs.is_empty() {
        all.push("[[programs]] do not run in simulation; use `wayhop emulate`".to_owned());
    }
    all
}

impl RunArgs {
    /// The scenario with what the options change in it.
    pub(crate) fn load(&self) -> Result<(Scenario, Resolved), Failure> {
        let mut scenario = self.source.load()?;
        scenario.captures.all |= self.captures;
        scenario.output.ns2_trace |= self.ns2_trace;
        memory::check_count(&scenario)?;
        let mut resolved = scenario.resolve()?;
        self.receptions.apply(&mut scenario, &mut resolved)?;
        resolved.identities = self.identities;
        if self.identities && resolved.tables.flows.is_some() {
            return Err(usage!("--identities needs the rows of all flows; remove output.flows"));
        }
        Ok((scenario, resolved))
    }

    /// The run directory, unless there is none, and what records the run. An older run is replaced: all checks come before.
    pub(crate) fn open(
        &self,
        world: World,
        scenario: &Scenario,
        resolved: &Resolved,
    ) -> Result<(Option<RunDir>, Recorder), Failure> {
        if self.no_out {
            return Ok((None, Recorder::hash_only()));
        }
        let made = run_dir::create(self.out.as_deref(), self.source.file(), world, scenario, resolved)?;
        let dir = show::made(made, self.quiet);
        let recorder = run_dir::recorder(&dir, world, resolved)?;
        Ok((Some(dir), recorder))
    }

    /// What `--check` shows of a run in this world.
    pub(crate) fn to_check<'a>(
        &'a self,
        world: &'static str,
        scenario: &'a Scenario,
        resolved: &'a Resolved,
    ) -> Check<'a> {
        let switches = [
            ("captures.all", "--captures", self.captures),
            ("output.ns2_trace", "--ns2-trace", self.ns2_trace),
            ("receptions.all", "--receptions", scenario.receptions.all && self.receptions.is_wanted()),
        ];
        let given = switches.into_iter().filter(|s| s.2).map(|(key, option, _)| (key, option));
        Check {
            source: &self.source,
            scenario,
            resolved,
            world,
            warnings: [resolved.warnings.clone(), pathless_warnings(resolved, Hearing::Radios)].concat(),
            switched: given.collect(),
            writes: !self.no_out,
            json: self.json,
            quiet: self.quiet,
        }
    }
}
