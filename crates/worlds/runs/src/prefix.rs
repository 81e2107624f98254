//! The beginning of a run, from which its cost is extrapolated.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use wayhop_core::Time;
use wayhop_scenario::Resolved;
use wayhop_sim::Simulation;
use wayhop_trace::Recorder;

use crate::error::Error;

/// How far a run has come.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    /// Simulated time.
    pub(crate) at: Time,
    /// Events until then.
    pub(crate) events: u64,
    /// Wall time until then, seconds, from the first event on.
    pub(crate) wall_s: f64,
}

/// The beginning of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunPrefix {
    /// How long it took to build the run, seconds.
    pub(crate) setup_s: f64,
    /// At equal steps of simulated time; the last one where the run was broken off.
    pub(crate) samples: Vec<Sample>,
    /// Whether it is the whole run.
    pub(crate) complete: bool,
}

/// Into how many steps a run is divided.
const STEPS: u64 = 200;

/// Simulates a scenario until `watch` breaks off, which gets the simulated time and the wall time. Nothing is written.
pub(crate) fn prefix(
    scenario: &Resolved,
    mut watch: impl FnMut(Time, Duration) -> ControlFlow<()>,
) -> Result<RunPrefix, Error> {
    let begun = Instant::now();
    let mut simulation = Simulation::new(scenario, Recorder::hash_only()).map_err(Error::Usage)?;
    let setup_s = begun.elapsed().as_secs_f64();
    let begun = Instant::now();
    let mut samples = Vec::new();
    let mut complete = false;
    for step in 1..=STEPS {
        let end = (u128::from(scenario.duration.as_nanos()) * u128::from(step) / u128::from(STEPS)) as u64;
        let reached = simulation.run_until(Time::from_nanos(end), &mut |now| watch(now, begun.elapsed()));
        samples.push(Sample {
            at: simulation.now(),
            events: simulation.events(),
            wall_s: begun.elapsed().as_secs_f64(),
        });
        complete = reached && step == STEPS;
        if !reached || watch(simulation.now(), begun.elapsed()).is_break() {
            break;
        }
    }
    Ok(RunPrefix { setup_s, samples, complete })
}
