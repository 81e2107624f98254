//! Runs with a daemon for each node.

use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use wayhop_core::{NodeId, Time, file_name};
use wayhop_lab::{Plan, StopFlag, Wiring};
use wayhop_netns::{Launch, Registry};
use wayhop_scenario::{MacFilter, Resolved, Scenario, daemon_settings};
use wayhop_trace::{Recorder, RunDir};

use crate::connections::ConnectionWatch;
use crate::error::Error;
use crate::inputs::InputLogs;
use crate::outcome::Outcome;
use crate::programs::{self, Programs};

/// A lab whose nodes are up. They go with this value.
pub struct Lab {
    daemons: wayhop_lab::Lab,
    registry: Registry,
    programs: Programs,
    scenario: Resolved,
}

impl Lab {
    /// Starts the daemons on what was made for this plan's scenario. `dir` is the run directory, where programs' output
    /// goes; with `command` the run ends. With `trust` the scenario's programs have all rights of this process.
    pub fn start(
        plan: &Plan,
        wiring: Wiring,
        dir: Option<&Path>,
        command: Option<Launch>,
        trust: bool,
        is_stopped: StopFlag<'_>,
    ) -> Result<Self, Error> {
        let scenario = &plan.scenario;
        let log = |node: NodeId, name: &str| {
            let own = plan.inputs.get(node.index())?.as_ref()?;
            Some(own.with_file_name(file_name(name) + ".jsonl"))
        };
        let programs = Programs::new(scenario, dir, trust, command, log)?;
        let daemons = unless_stopped(wayhop_lab::Lab::start(plan, wiring, is_stopped), is_stopped)?;
        let registry = programs::registry(scenario, daemons.name(), &daemons.namespaces())?;
        Ok(Self { daemons, registry, programs, scenario: scenario.clone() })
    }

    /// The name of the run, for `wayhop ctl --run`.
    pub fn name(&self) -> &str {
        self.daemons.name()
    }

    /// Runs for as long as the scenario says, or its command takes. `watch` is called now and then with the run's time and
    /// may break it off.
    pub fn run(
        mut self,
        recorder: Recorder,
        watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<Outcome, Error> {
        let connections = ConnectionWatch::begin(&recorder, &self.scenario, &self.daemons.namespaces())?;
        let (programs, main) = (std::mem::take(&mut self.programs.plan), self.programs.main);
        let tasks = wayhop_lab::Tasks { programs, main, registry: &self.registry, recorder, watch };
        let begun = SystemTime::now();
        let ended = self.daemons.run(tasks);
        // The last of what runs in the nodes ends with it.
        drop(self.registry);
        self.programs.hand_over();
        let mut ended = ended?;
        self.programs.finish(begun, &mut ended.summary, &mut ended.recorder);
        ended.summary.name_nodes(&self.scenario.names);
        ended.complaints.extend(connections.and_then(|w| w.end(ended.begun, &mut ended.recorder)));
        let outcome = Outcome::new(ended.summary, ended.complete, ended.recorder);
        Ok(Outcome { complaints: ended.complaints, ..outcome })
    }
}

/// The nodes' hosts and what is between them, unless `is_stopped` says meanwhile that they are not wanted any more.
pub fn wiring(scenario: &Resolved, is_stopped: StopFlag<'_>) -> Result<Wiring, Error> {
    unless_stopped(Wiring::new(scenario, is_stopped), is_stopped)
}

/// A lab that fails after it was stopped fails for that.
fn unless_stopped<T>(made: Result<T, wayhop_linux::Error>, is_stopped: StopFlag<'_>) -> Result<T, Error> {
    made.map_err(|e| if is_stopped() { Error::Stopped(e.to_string()) } else { e.into() })
}

/// The plan of a scenario's lab. Captures go into `dir`, the run directory, and so do logs of inputs.
pub fn plan(
    scenario: &Scenario,
    resolved: Resolved,
    filter: MacFilter,
    dir: Option<&RunDir>,
    inputs: Option<&InputLogs>,
    node_runs: bool,
) -> Result<Plan, Error> {
    let mut sets = daemon_settings(scenario);
    sets.push(format!("seed={}", resolved.seed));
    let captures = captures(&resolved, dir)?;
    let inputs = logs(&resolved, inputs)?;
    let runs = node_runs.then(|| self::node_runs(&resolved, dir)).transpose()?.unwrap_or_default();
    let keys = scenario.security.keys_text();
    Ok(Plan { sets, keys, filter, captures, inputs, runs, scenario: resolved })
}

/// Where the nodes' own run directories are.
fn node_runs(r: &Resolved, dir: Option<&RunDir>) -> Result<Vec<Option<PathBuf>>, Error> {
    let Some(dir) = dir else { return Ok(Vec::new()) };
    let one = |name: &String| {
        let path = std::path::absolute(dir.node_run_path(name)).map_err(Error::run)?;
        fs::create_dir_all(&path)
            .map_err(|e| Error::Run(format!("cannot create {}: {e}", path.display())))?;
        Ok(Some(path))
    };
    r.names.iter().map(one).collect()
}

fn logs(r: &Resolved, inputs: Option<&InputLogs>) -> Result<Vec<Option<PathBuf>>, Error> {
    let Some(InputLogs { dir, nodes }) = inputs else { return Ok(Vec::new()) };
    dir.make_inputs_dir()?;
    files(r, nodes, |name| dir.inputs_path(name))
}

/// A file for each of these nodes, by node.
fn files(
    r: &Resolved,
    nodes: &[NodeId],
    path: impl Fn(&str) -> PathBuf,
) -> Result<Vec<Option<PathBuf>>, Error> {
    let mut files = vec![None; r.names.len()];
    for node in nodes {
        let path = std::path::absolute(path(&r.names[node.index()]));
        files[node.index()] = Some(path.map_err(Error::run)?);
    }
    Ok(files)
}

/// What of a scenario has no effect in a lab.
pub fn unmodelled(s: &Scenario) -> Vec<String> {
    // A preset alone is nothing that the user would miss.
    let site = s.radio.site.is_some().then(|| "radio.site".to_owned());
    let channel = s.radio.channel.is_some().then(|| "radio.channel".to_owned());
    let keys: Vec<String> =
        s.radio.overrides.keys().map(|k| format!("radio.{k}")).chain(channel).chain(site).collect();
    let further = s.radios.iter().enumerate().flat_map(|(i, r)| {
        let given = r.overrides.keys().map(String::as_str);
        let site = r.site.is_some().then_some("site");
        given.chain(site).map(move |k| format!("radios[{i}].{k}")).collect::<Vec<_>>()
    });
    let keys: Vec<String> = keys.into_iter().chain(further).collect();
    let mut remarks = Vec::new();
    if !keys.is_empty() {
        remarks.push(format!(
            "a lab has no radio model, so {} have no effect; links come from --range or --macfilter",
            keys.join(", ")
        ));
    }
    if !s.wires.is_empty() {
        remarks.push("a lab uses the kernel's wires: rate_mbps, delay_us and loss have no effect".to_owned());
    }
    remarks
}

fn captures(r: &Resolved, dir: Option<&RunDir>) -> Result<Vec<Option<PathBuf>>, Error> {
    let Some(dir) = dir else { return Ok(Vec::new()) };
    let files = files(r, &r.captures.nodes, |name| dir.capture_path(name))?;
    for folder in files.iter().flatten().filter_map(|path| path.parent()) {
        fs::create_dir_all(folder)
            .map_err(|e| Error::Run(format!("cannot write {}: {e}", folder.display())))?;
    }
    Ok(files)
}
