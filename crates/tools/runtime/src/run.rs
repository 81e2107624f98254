//! A run under way.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::Instant;

use serde_json::{Map, Value};
use wayhop_core::{Addr, Command, Refused, Route, Time};
use wayhop_scenario::{Resolved, Scenario};
use wayhop_sim::Simulation;
use wayhop_trace::Recorder;

use crate::counts::{Counts, Shared};
use crate::failure::Cause;

/// What agents know of each other is a table of all pairs.
const MAX_NODES: usize = 1_000;

/// A simulation, and what its nodes were told.
pub(crate) struct Run {
    pub(crate) resolved: Resolved,
    pub(crate) simulation: Simulation,
    pub(crate) counts: Shared,
    /// By node: the parameters in force, and the routes as (destination, next hop).
    told: Vec<Told>,
    begun: Instant,
}

#[derive(Clone)]
struct Told {
    parameters: Map<String, Value>,
    routes: Vec<(u32, u32)>,
}

impl Run {
    /// Reads a scenario with `sets`, each of the form `path.key=value`, on top.
    pub(crate) fn new(scenario: &Path, sets: &[String]) -> Result<Self, Cause> {
        let scenario = Scenario::load(scenario, sets)?;
        let resolved = scenario.resolve()?;
        // A library ends its process when it misbehaves; a process of its own may end.
        if wayhop_protocols::library(resolved.protocol.description()).is_some()
            || scenario.applications.iter().any(|a| a.library.is_some())
        {
            return Err(Cause::input(
                "libraries and Python modules cannot be stepped in the process; use wayhop.run, or a protocol that is built in",
            ));
        }
        let n = resolved.addresses.len();
        if n > MAX_NODES {
            return Err(Cause::input(format!("{n} nodes are too many to step; give at most {MAX_NODES}")));
        }
        let counts = Shared::new(Counts::new(resolved.addresses.iter().map(|a| Addr::from(*a))));
        let recorder = Recorder::hash_only().observed_by(Box::new(counts.clone()));
        let simulation = Simulation::new(&resolved, recorder).map_err(Cause::input)?;
        let told = Told { parameters: resolved.protocol.values(), routes: Vec::new() };
        Ok(Self { told: vec![told; n], resolved, simulation, counts, begun: Instant::now() })
    }

    /// Runs to this time, or to the end if that comes first, or until `watch` breaks off.
    pub(crate) fn run_until(
        &mut self,
        at: Time,
        watch: &mut dyn FnMut(Time) -> ControlFlow<()>,
    ) -> Result<(), Cause> {
        let now = self.simulation.now();
        if at < now {
            let (at, now) = (at.as_secs_f64(), now.as_secs_f64());
            return Err(Cause::input(format!(
                "the run is at {now} s already; give a time later than {at} s"
            )));
        }
        self.simulation.run_until(at.min(self.resolved.duration), watch);
        Ok(())
    }

    /// Whether there is nothing more to run.
    pub(crate) fn is_over(&self) -> bool {
        self.simulation.now() >= self.resolved.duration
    }

    /// Gives a node other values of some parameters. A node that is down is not told, nor one that has these values.
    pub(crate) fn set_parameters(&mut self, node: u32, changes: Map<String, Value>) -> Result<(), Cause> {
        let mut values = self.told(node)?.parameters.clone();
        values.extend(changes);
        if self.told(node)?.parameters == values || !self.is_told(node) {
            return Ok(());
        }
        let json = Value::Object(values.clone()).to_string();
        self.command(node, &Command::SetParameters { json })?;
        self.told[node as usize].parameters = values;
        Ok(())
    }

    /// Replaces the routes of a node, each a destination and a next hop. A node that is down is not told.
    pub(crate) fn set_routes(&mut self, node: u32, routes: Vec<(u32, u32)>) -> Result<(), Cause> {
        let address = |n: u32| {
            let found = self.resolved.addresses.get(n as usize).copied();
            found.ok_or_else(|| self.no_node(n))
        };
        let route = |&(to, by): &(u32, u32)| Ok::<_, Cause>(Route::to_host(address(to)?, address(by)?, 1));
        let list = routes.iter().map(route).collect::<Result<_, _>>()?;
        if self.told(node)?.routes == routes || !self.is_told(node) {
            return Ok(());
        }
        self.command(node, &Command::SetRoutes { routes: list })?;
        self.told[node as usize].routes = routes;
        Ok(())
    }

    /// Ends the run, and returns its summary as JSON.
    pub(crate) fn finish(self) -> Result<String, Cause> {
        let is_over = self.is_over();
        let wall_s = self.begun.elapsed().as_secs_f64();
        let (summary, audit, _) = self.simulation.finish(&self.resolved, wall_s);
        if let Some(what) = audit.defect().filter(|_| is_over) {
            return Err(Cause::defect(&what));
        }
        serde_json::to_string(&summary).map_err(|e| Cause::Run(e.to_string()))
    }

    fn told(&self, node: u32) -> Result<&Told, Cause> {
        self.told.get(node as usize).ok_or_else(|| self.no_node(node))
    }

    fn no_node(&self, node: u32) -> Cause {
        Cause::input(format!("there is no node {node}; give 0 to {}", self.told.len() - 1))
    }

    /// Whether commands reach a node. One that is down forgets what it was told, or may.
    fn is_told(&mut self, node: u32) -> bool {
        let is_up = self.simulation.is_up(node);
        if !is_up {
            let parameters = self.resolved.protocol.values();
            self.told[node as usize] = Told { parameters, routes: Vec::new() };
        }
        is_up
    }

    fn command(&mut self, node: u32, command: &Command) -> Result<(), Cause> {
        let done = self.simulation.command(node, command);
        done.map_err(|Refused(why)| Cause::input(format!("node {node}: {why}")))
    }
}
