//! What captions say of means.

use crate::runs::Runs;

/// Of how many runs means are, and what their intervals are.
pub(crate) fn means(runs: &Runs<'_>) -> String {
    let counts: Vec<usize> = runs.columns.iter().map(|c| c.runs.len()).collect();
    let (fewest, most) =
        (counts.iter().min().copied().unwrap_or(0), counts.iter().max().copied().unwrap_or(0));
    match (fewest, most) {
        (_, 1) if counts.len() == 1 => "One run, without intervals.".to_owned(),
        (_, 1) => "One run each, without intervals.".to_owned(),
        (a, b) if a == b => {
            let each = if counts.len() > 1 { " each" } else { "" };
            format!("Means over {a} runs{each} with 95 % intervals over runs (Student's t).")
        }
        (a, b) => format!("Means over {a} to {b} runs with 95 % intervals over runs (Student's t)."),
    }
}

/// That some runs are not in a mean.
pub(crate) fn left_out(missing: usize, all: usize, what: &str) -> String {
    match missing {
        0 => String::new(),
        n => format!(" {n} of {all} runs are left out: {what} is undefined in them."),
    }
}

/// The same of means of logarithms.
pub(crate) fn geometric(means: &str) -> String {
    means.replace("Means", "Geometric means")
}
