//! Throughput of each pattern at each speed, next to the expected one.

use wayhop_report::{Axis, Estimate, Figure, Mark, Panel, Plot, Row, Section, Series, mean};
use wayhop_topology::ChainThroughput;

use super::conditions::Conditions;
use super::plan::{Mechanism, SPEEDS_MPS, duration_s};
use super::transfer::Transfers;

/// More than one hop carries, here and in the paper.
const MOST_KBPS: f64 = 1_400.0;

pub(crate) fn section(all: &[Conditions], runs: &Transfers, chains: Option<&ChainThroughput>) -> Section {
    let mut rows = Vec::new();
    let note = "The paper has only figures, without numbers.";
    let at = |speed| all.iter().map(move |c| runs.of(c.pattern, speed, Mechanism::Reno));
    for speed in SPEEDS_MPS {
        let row = |quantity| Row::new("Figures 4 to 53", &format!("{speed} m/s"), quantity, None).note(note);
        rows.push(row("throughput_kbps").with(at(speed).map(|t| Some(t?.kbps))));
        let shares = all.iter().zip(at(speed)).map(|(c, t)| share_pct(c, t?.kbps, chains?));
        rows.push(row("share_of_expected_pct").with(shares));
        let timeouts = at(speed).map(|t| Some(t?.timeouts as f64 * 60.0 / duration_s(speed)));
        rows.push(row("timeouts_per_minute").with(timeouts));
    }
    Section::new(
        "Throughput of TCP Reno",
        "The same patterns at four speeds. A pattern's expected throughput does not depend on the speed, since the \
         same moves only take less time; TCP's throughput does.",
    )
    .rows(rows)
    .figures(figures(all, runs, chains))
}

/// Measured in per cent of expected.
pub(crate) fn share_pct(c: &Conditions, kbps: f64, chains: &ChainThroughput) -> Option<f64> {
    c.expected_kbps(chains).filter(|e| *e > 0.0).map(|e| 100.0 * kbps / e)
}

fn figures(all: &[Conditions], runs: &Transfers, chains: Option<&ChainThroughput>) -> Vec<Figure> {
    let Some(chains) = chains.filter(|_| !all.is_empty()) else { return vec![] };
    let panels = SPEEDS_MPS.into_iter().map(|speed| {
        let point = |c: &Conditions| {
            Some([c.expected_kbps(chains)?, runs.of(c.pattern, speed, Mechanism::Reno)?.kbps])
        };
        let points = all.iter().filter_map(point).collect();
        let plot = Plot::new(
            Axis::new("expected (kb/s)").from_to(0.0, MOST_KBPS),
            Axis::new("measured (kb/s)").from_to(0.0, MOST_KBPS),
        )
        .with(Series::new("as expected", Mark::Line, 6, vec![[0.0, 0.0], [MOST_KBPS, MOST_KBPS]]))
        .with(Series::new("a pattern", Mark::Dot, 0, points));
        Panel::new(&format!("{speed} m/s"), plot)
    });
    let mut by_speed =
        Plot::new(Axis::new("speed (m/s)").from_to(0.0, 32.0), Axis::new("mean throughput (kb/s)"));
    let expected: Vec<f64> = all.iter().filter_map(|c| c.expected_kbps(chains)).collect();
    let height = mean(&expected).map(|m| [0.0, m]).into_iter().collect();
    by_speed.series.push(Series::new("expected", Mark::Rule, 6, height));
    let drawn = [Mechanism::Reno, Mechanism::Elfn];
    for (colour, m) in drawn.into_iter().enumerate() {
        let point = |speed| {
            // Where both were run, lines are of the same patterns.
            let kbps = |c: &Conditions, m| Some(runs.of(c.pattern, speed, m)?.kbps);
            let both = all.iter().any(|c| drawn.iter().all(|m| kbps(c, *m).is_some()));
            let counts = |c: &&Conditions| !both || drawn.iter().all(|m| kbps(c, *m).is_some());
            let of_patterns: Vec<f64> = all.iter().filter(counts).filter_map(|c| kbps(c, m)).collect();
            Some((f64::from(speed), Estimate::of(&of_patterns)?))
        };
        let points: Vec<(f64, Estimate)> = SPEEDS_MPS.into_iter().filter_map(point).collect();
        if !points.is_empty() {
            by_speed.series.push(Series::of_estimates(m.title(), Mark::nth(colour), points).joined());
        }
    }
    let heights = by_speed
        .series
        .iter()
        .flat_map(|s| s.points.iter().map(|p| p[1]).chain(s.intervals.iter().flatten().map(|ends| ends[1])));
    let most = heights.fold(1_000.0_f64, f64::max);
    by_speed.y.range = Some([0.0, (most / 100.0).ceil() * 100.0]);
    vec![
        Figure::new(
            "Measured and expected",
            "Measured throughput of each pattern, by its expected throughput from equation 1.",
            panels,
        ),
        Figure::of("Throughput and speed", "Means over the patterns, with 95 % intervals.", by_speed),
    ]
}
