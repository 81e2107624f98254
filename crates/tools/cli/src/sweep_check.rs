//! `wayhop sweep --check`: the number of runs of a plan, and the estimated time and disk space.

use std::path::Path;
use std::process::ExitCode;

use wayhop_runs::estimate::Estimate;
use wayhop_runs::interruption::stop_on_signal;
use wayhop_sweep::{DueRuns, Plan};

use crate::check::rounded;
use crate::failure::{Failure, put};

/// Combinations whose beginning is simulated.
const MOST_SAMPLES: usize = 8;
/// Size of a line of `runs.jsonl`, bytes: constant part, and per flow.
const LINE_BYTES: (f64, f64) = (2e3, 400.0);
/// Size of a run directory, bytes: constant part, and per event, as measured over 30 s of `first.toml` with each protocol.
const FOLDER_BYTES: (f64, f64) = (50e3, 6.0);

/// Prints the estimate; runs and writes nothing.
pub(crate) fn check(plan: &Plan, dir: &Path, threads: usize) -> Result<ExitCode, Failure> {
    let survey = DueRuns::of(plan, dir)?;
    let combinations = survey.combinations();
    // Spread over all of them: some protocols take several times as long as others.
    let step = combinations.len().div_ceil(MOST_SAMPLES).max(1);
    let samples: Vec<_> = combinations.iter().step_by(step).collect();
    let is_recorded = plan.sweep.tables || plan.sweep.captures;
    let stop = stop_on_signal()?;
    let (mut wall_s, mut low_s, mut high_s, mut bytes) = (0.0, 0.0, 0.0, 0.0);
    for run in &samples {
        let resolved = survey.scenario(run)?;
        let e = Estimate::of_simulation(&resolved, is_recorded, &stop)?;
        let [low, high] = e.wall_s_range.unwrap_or_default();
        wall_s += e.wall_s.unwrap_or_default();
        (low_s, high_s) = (low_s + low, high_s + high);
        bytes += LINE_BYTES.0 + LINE_BYTES.1 * resolved.flows.len() as f64;
        if is_recorded {
            bytes += FOLDER_BYTES.0 + FOLDER_BYTES.1 * e.events.unwrap_or(0) as f64;
        }
    }
    let due = survey.due.len();
    let a_sample = due as f64 / samples.len().max(1) as f64;
    let at_a_time = threads.min(due).max(1);
    let time = |seconds: f64| in_words(seconds * a_sample / at_a_time as f64);
    let done = survey.runs - due;
    let mut lines = vec![("runs", format!("{}, {done} of them finished in {}", survey.runs, dir.display()))];
    if due > 0 {
        let captures = if plan.sweep.captures { ", and captures" } else { "" };
        lines.push(("jobs", format!("{at_a_time} runs at a time")));
        lines.push(("time", format!("about {} ({} to {})", time(wall_s), time(low_s), time(high_s))));
        lines.push(("disk", format!("about {} MB{captures}", rounded(bytes * a_sample / 1e6))));
        let of = (samples.len(), combinations.len());
        lines.push(("based on", format!("the beginning of {} of {} combinations of values", of.0, of.1)));
    }
    let text: Vec<String> = lines.iter().map(|(name, words)| format!("{name:<10} {words}\n")).collect();
    put(text.concat())?;
    Ok(ExitCode::SUCCESS)
}

/// A time in the unit in which it has few digits.
pub(crate) fn in_words(seconds: f64) -> String {
    match seconds {
        s if s < 100.0 => format!("{} s", rounded(s)),
        s if s < 6000.0 => format!("{} min", rounded(s / 60.0)),
        s => format!("{} h", rounded(s / 3600.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::in_words;

    #[test]
    fn times_have_a_unit_with_few_digits() {
        for (seconds, words) in
            [(0.5, "0.50 s"), (42.0, "42 s"), (600.0, "10 min"), (7200.0, "2.0 h"), (3.6e6, "1000 h")]
        {
            assert_eq!(in_words(seconds), words);
        }
    }
}
