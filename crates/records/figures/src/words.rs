//! What captions say of means.

use crate::column::Column;
use crate::methods;
use crate::runs::Runs;

/// Of how many runs means are, and what their intervals are.
pub(crate) fn means(runs: &Runs<'_>) -> String {
    let counts: Vec<usize> = runs.columns.iter().map(|c| c.runs.len()).collect();
    let (fewest, most) =
        (counts.iter().min().copied().unwrap_or(0), counts.iter().max().copied().unwrap_or(0));
    let text = match (fewest, most) {
        (_, 1) if counts.len() == 1 => "One run, without intervals.".to_owned(),
        (_, 1) => "One run each, without intervals.".to_owned(),
        (a, b) if a == b => {
            let each = if counts.len() > 1 { " each" } else { "" };
            format!("Means over {a} runs{each} with 95 % intervals (Student's t).")
        }
        (a, b) => format!("Means over {a} to {b} runs with 95 % intervals (Student's t)."),
    };
    text + &shortfalls(runs)
}

/// Which runs did not come to their end, and which have a partial record.
pub(crate) fn shortfalls(runs: &Runs<'_>) -> String {
    let of = |c: &Column| {
        let text = methods::shortfalls(c);
        let name = runs.legend(c);
        if name.is_empty() { text } else { text.replace("The run ", &format!("{name}: the run ")) }
    };
    runs.columns.iter().map(of).collect::<Vec<_>>().concat()
}

/// 1234567 as `1,234,567`.
pub(crate) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let of = |(i, d): (usize, char)| {
        let comma = if i > 0 && (digits.len() - i).is_multiple_of(3) { "," } else { "" };
        format!("{comma}{d}")
    };
    digits.chars().enumerate().map(of).collect::<Vec<_>>().concat()
}

/// That some runs are not in a mean.
pub(crate) fn left_out(missing: usize, all: usize, what: &str) -> String {
    match missing {
        0 => String::new(),
        n => format!(" {n} of {all} runs are left out because {what} is undefined."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_stand_apart() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
