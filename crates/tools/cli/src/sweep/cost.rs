//! The estimated cost of the runs that are left of a plan.

use std::sync::atomic::AtomicBool;

use wayhop_runs::estimate::Estimate;
use wayhop_sweep::{DueRuns, Plan};

use crate::failure::Failure;

/// Combinations whose beginning is simulated.
const MOST_SAMPLES: usize = 8;
/// Size of a line of `runs.jsonl`, bytes: constant part, and per flow.
const LINE_BYTES: (f64, f64) = (2e3, 400.0);
/// Size of a run directory, bytes: constant part, and per event, as measured over 30 s of `first.toml` with each protocol.
const FOLDER_BYTES: (f64, f64) = (50e3, 6.0);

/// What a run costs on average.
#[derive(Debug, Default)]
pub(crate) struct Cost {
    /// Time on one processor, seconds.
    pub(crate) run_s: f64,
    /// The time is probably between these, seconds.
    pub(crate) run_s_range: [f64; 2],
    /// Disk space, bytes.
    pub(crate) run_bytes: f64,
    /// Memory of the largest run, bytes, by the pessimistic estimate.
    pub(crate) memory_bytes: u64,
    /// Combinations of values that it is based on.
    pub(crate) samples: usize,
    /// Combinations that are left.
    pub(crate) combinations: usize,
}

impl Cost {
    /// Simulates the beginnings of some of the runs. Nothing is left: zero.
    pub(crate) fn of(left: &DueRuns, plan: &Plan, stop: &AtomicBool) -> Result<Self, Failure> {
        let combinations = left.combinations();
        // Spread over all of them: some protocols take several times as long as others.
        let step = combinations.len().div_ceil(MOST_SAMPLES).max(1);
        let samples: Vec<_> = combinations.iter().step_by(step).collect();
        let is_recorded = plan.sweep.tables || plan.sweep.captures;
        let of = samples.len().max(1) as f64;
        let mut cost = Self { samples: samples.len(), combinations: combinations.len(), ..Self::default() };
        for run in samples {
            let resolved = left.scenario(run)?;
            let e = Estimate::of_simulation(&resolved, is_recorded, stop)?;
            let [low, high] = e.wall_s_range.unwrap_or_default();
            cost.run_s += e.wall_s.unwrap_or_default() / of;
            cost.run_s_range[0] += low / of;
            cost.run_s_range[1] += high / of;
            cost.run_bytes += (LINE_BYTES.0 + LINE_BYTES.1 * resolved.flows.len() as f64) / of;
            if is_recorded {
                cost.run_bytes += (FOLDER_BYTES.0 + FOLDER_BYTES.1 * e.events.unwrap_or(0) as f64) / of;
            }
            let memory = e.memory_bytes_range.map_or(0, |[_, high]| high);
            cost.memory_bytes = cost.memory_bytes.max(memory);
        }
        Ok(cost)
    }
}
