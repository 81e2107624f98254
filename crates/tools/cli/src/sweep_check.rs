//! `wayhop sweep --check`: the number of runs of a plan, and the estimated time and disk space.

use std::path::Path;
use std::process::ExitCode;

use wayhop_runs::interruption::stop_on_signal;
use wayhop_sweep::{DueRuns, Plan};

use crate::check::rounded;
use crate::failure::{Failure, put};
use crate::sweep::cost::Cost;

/// Prints the estimate; runs and writes nothing.
pub(crate) fn check(plan: &Plan, dir: &Path, threads: usize) -> Result<ExitCode, Failure> {
    let left = DueRuns::of(plan, dir)?;
    let cost = Cost::of(&left, plan, &*stop_on_signal()?)?;
    let due = left.due.len();
    let at_a_time = threads.min(due).max(1);
    let time = |run_s: f64| in_words(run_s * due as f64 / at_a_time as f64);
    let done = left.runs - due;
    let mut lines = vec![("runs", format!("{}, {done} of them finished in {}", left.runs, dir.display()))];
    if due > 0 {
        let captures = if plan.sweep.captures { ", and captures" } else { "" };
        let [low, high] = cost.run_s_range;
        lines.push(("jobs", format!("{at_a_time} runs at a time")));
        lines.push(("time", format!("about {} ({} to {})", time(cost.run_s), time(low), time(high))));
        lines.push(("disk", format!("about {} MB{captures}", rounded(cost.run_bytes * due as f64 / 1e6))));
        let of = (cost.samples, cost.combinations);
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
