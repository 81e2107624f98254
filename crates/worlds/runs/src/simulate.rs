//! Runs in simulated time.

use std::ops::ControlFlow;
use std::time::Instant;

use wayhop_core::Time;
#[cfg(feature = "linux")]
use wayhop_emu::Control;
use wayhop_scenario::Resolved;
use wayhop_sim::{Pace, Simulation};
use wayhop_trace::Recorder;

use crate::error::Error;
use crate::inputs::InputLogs;
use crate::outcome::Outcome;

/// How simulated time passes.
pub enum Clock {
    /// As fast as the machine can.
    Free {
        /// Threads that simulate; more than one only where [`wayhop_sim::why_one_thread`] has no objection.
        threads: usize,
    },
    /// Simulated seconds per second. Clients of the socket follow the run and change it.
    #[cfg(feature = "linux")]
    Paced {
        /// Simulated seconds in a second.
        speed: f64,
        /// The socket.
        control: Control,
    },
}

impl Clock {
    /// A clock of this speed, with a control socket for the scenario's nodes.
    #[cfg(feature = "linux")]
    pub fn paced(scenario: &Resolved, speed: f64) -> Result<Self, Error> {
        Ok(Self::Paced { speed, control: Control::open(scenario, Some(speed))? })
    }
}

/// Simulates a scenario, and logs what goes into engines, if that is wanted. `watch` is called now and then with the simulated time and may break the run off.
pub fn simulate(
    scenario: &Resolved,
    recorder: Recorder,
    inputs: Option<&InputLogs>,
    clock: &mut Clock,
    watch: impl FnMut(Time) -> ControlFlow<()>,
) -> Result<Outcome, Error> {
    let begun = Instant::now();
    let mut simulation = Simulation::new(scenario, recorder).map_err(Error::Usage)?;
    simulation.introduce(scenario, "sim");
    if let Some(inputs) = inputs {
        inputs.begin(&mut simulation, scenario, Pace::Whole)?;
    }
    let complete = match clock {
        Clock::Free { threads } => {
            let started = simulation.use_threads(threads.saturating_sub(1));
            started.map_err(|e| Error::Run(format!("cannot start {threads} threads: {e}")))?;
            simulation.run(watch)
        }
        #[cfg(feature = "linux")]
        Clock::Paced { speed, control } => {
            wayhop_emu::pace(&mut simulation, scenario.duration, *speed, control, watch)?
        }
    };
    let inputs = simulation.end_inputs().err();
    let (summary, audit, recorder) = simulation.finish(scenario, begun.elapsed().as_secs_f64());
    Ok(Outcome { defect: audit.defect(), inputs, ..Outcome::new(summary, complete, recorder) })
}

/// Simulates a scenario to its end, and checks that it was consistent; `None` if `stop` broke it off.
pub fn to_end(
    scenario: &Resolved,
    recorder: Recorder,
    stop: impl Fn() -> bool,
) -> Result<Option<Outcome>, Error> {
    let watch = |_| if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
    let outcome = simulate(scenario, recorder, None, &mut Clock::Free { threads: 1 }, watch)?;
    if !outcome.complete {
        return Ok(None);
    }
    outcome.check()?;
    Ok(Some(outcome))
}
