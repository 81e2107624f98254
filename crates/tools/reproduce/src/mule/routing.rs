//! The section on routing: the same moves with epidemic routing, PRoPHET, spray and wait, and direct delivery.

use wayhop_report::{Estimate, Row, Section};
use wayhop_trace::Summary;

/// As scenarios have them.
pub(crate) const ALL: [&str; 4] = ["epidemic", "prophet", "spray-and-wait", "static"];

const ARTEFACT: &str = "RFC 6693";

#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub(crate) struct RoutingRun {
    pub(crate) delivery_pct: Option<f64>,
    pub(crate) delay_s: Option<f64>,
    /// Transmissions that delivered nothing, for each delivery.
    pub(crate) overhead: Option<f64>,
}

impl RoutingRun {
    pub(crate) fn of(summary: &Summary) -> Self {
        let Some(b) = &summary.bundles else { return Self::default() };
        Self {
            delivery_pct: b.delivery_ratio.map(|r| 100.0 * r),
            delay_s: b.delay_s.map(|d| d.mean),
            overhead: b.overhead,
        }
    }
}

pub(crate) fn name(routing: &str) -> &'static str {
    match routing {
        "epidemic" => "epidemic",
        "prophet" => "PRoPHET",
        "spray-and-wait" => "spray and wait",
        _ => "direct delivery",
    }
}

/// Of the runs of each of [`ALL`], seed by seed.
pub(crate) fn section(found: &[Vec<RoutingRun>; ALL.len()]) -> Section {
    let mut rows = Vec::new();
    for (routing, runs) in ALL.iter().zip(found) {
        let row = |quantity: &str, value: &dyn Fn(&RoutingRun) -> Option<f64>| {
            Row::new(ARTEFACT, name(routing), quantity, None).with(runs.iter().map(value))
        };
        rows.push(row("delivery_pct", &|r| r.delivery_pct));
        rows.push(row("delay_mean_s", &|r| r.delay_s));
        rows.push(row("overhead", &|r| r.overhead));
    }
    Section::new("Who gets a copy", &format!("{INTRODUCTION}\n{}", orderings(found))).rows(rows)
}

const INTRODUCTION: &str = "Twenty nodes that wander randomly over 2 km x 2 km are isolated most of the time; ten of them \
                            send bundles to the other ten. With each seed, the movement is the same for every routing. \
                            Overhead is transmissions without delivery per delivery. The authors of RFC 6693 (Lindgren, \
                            Doria, Schel\u{e9}n: Probabilistic Routing in Intermittently Connected Networks, 2003) report \
                            that PRoPHET delivers about as much as epidemic routing with fewer transmissions; epidemic \
                            routing bounds the delay from below as long as nothing is scarce, and direct delivery bounds \
                            the overhead.";

/// Whether the orderings hold, over pairs of runs with the same seed, a line each.
fn orderings([epidemic, prophet, spray, direct]: &[Vec<RoutingRun>; ALL.len()]) -> String {
    let overhead = |r: &RoutingRun| r.overhead;
    let delay = |r: &RoutingRun| r.delay_s;
    let delivery = |r: &RoutingRun| r.delivery_pct;
    [
        ("Epidemic routing transmits more than PRoPHET", more(epidemic, prophet, overhead)),
        ("PRoPHET transmits more than spray and wait", more(prophet, spray, overhead)),
        ("PRoPHET is slower than epidemic routing", more(prophet, epidemic, delay)),
        ("spray and wait is slower than epidemic routing", more(spray, epidemic, delay)),
        ("PRoPHET delivers more than direct delivery", more(prophet, direct, delivery)),
        ("spray and wait delivers more than direct delivery", more(spray, direct, delivery)),
    ]
    .map(|(claim, holds)| format!("{claim}: {}.", holds.in_words()))
    .join("\n")
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    Holds,
    IsWrong,
    Open,
}

impl Claim {
    fn in_words(self) -> &'static str {
        match self {
            Self::Holds => "true here, and the 95 % interval of the difference excludes zero",
            Self::IsWrong => {
                "the opposite is true here, and the 95 % interval of the difference excludes zero"
            }
            Self::Open => "undecided by these runs",
        }
    }
}

/// Whether the first is more than the second, in pairs of the same seed.
pub(crate) fn more(a: &[RoutingRun], b: &[RoutingRun], value: impl Fn(&RoutingRun) -> Option<f64>) -> Claim {
    let pairs = a.iter().zip(b).filter_map(|(a, b)| Some(value(a)? - value(b)?));
    match Estimate::of(&pairs.collect::<Vec<_>>()).and_then(|e| e.ci95) {
        Some([low, _]) if low > 0.0 => Claim::Holds,
        Some([_, high]) if high < 0.0 => Claim::IsWrong,
        _ => Claim::Open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_claim_holds_where_the_interval_of_the_pairs_leaves_out_zero() {
        let runs = |values: &[f64]| -> Vec<RoutingRun> {
            values.iter().map(|v| RoutingRun { overhead: Some(*v), ..RoutingRun::default() }).collect()
        };
        let (a, b) = (runs(&[5.0, 6.0, 7.0]), runs(&[1.0, 2.1, 2.9]));
        let overhead = |r: &RoutingRun| r.overhead;
        assert_eq!(more(&a, &b, overhead), Claim::Holds);
        assert_eq!(more(&b, &a, overhead), Claim::IsWrong);
        assert_eq!(more(&a, &runs(&[1.0, 9.0, 5.0]), overhead), Claim::Open);
        assert_eq!(more(&a, &a[..0], overhead), Claim::Open);
    }
}
