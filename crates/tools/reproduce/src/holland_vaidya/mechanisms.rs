//! What each mechanism is worth: differences to plain Reno on the same pattern at the same speed.

use wayhop_report::{Axis, Estimate, Figure, Mark, Panel, Plot, Range, Row, Section, Series, mean};

use super::conditions::Conditions;
use super::plan::{Mechanism, SPEEDS_MPS};
use super::transfer::Transfers;

/// The section of the mechanisms that were run; `None` if there is none but Reno.
pub(crate) fn section(all: &[Conditions], runs: &Transfers, mechanisms: &[Mechanism]) -> Option<Section> {
    if mechanisms.iter().all(|m| *m == Mechanism::Reno) {
        return None;
    }
    let mut rows = Vec::new();
    let mut lines: Vec<(Mechanism, Vec<(f64, Estimate)>)> = Vec::new();
    for m in mechanisms.iter().copied().filter(|m| *m != Mechanism::Reno) {
        let mut points = Vec::new();
        for speed in SPEEDS_MPS {
            let pair = |c: &Conditions| {
                let kbps = |m| Some(runs.of(c.pattern, speed, m)?.kbps);
                Some((kbps(m)?, kbps(Mechanism::Reno)?))
            };
            let pairs: Vec<(f64, f64)> = all.iter().filter_map(pair).collect();
            let gains: Vec<f64> = pairs.iter().map(|(a, b)| a - b).collect();
            let reno = mean(&pairs.iter().map(|(_, b)| *b).collect::<Vec<_>>()).filter(|r| *r > 0.0);
            let who = format!("{}, {speed} m/s", m.title());
            let row = |quantity| Row::new("Mechanisms", &who, quantity, None).within(Range::All).note(NOTE);
            rows.push(row("gain_kbps").with(gains.iter().copied().map(Some)));
            rows.push(row("gain_pct").with(gains.iter().map(|g| Some(100.0 * g / reno?))));
            points.extend(Estimate::of(&gains).map(|g| (f64::from(speed), g)));
        }
        lines.push((m, points));
    }
    let figure = lines.iter().any(|(_, points)| !points.is_empty()).then(|| gains(&lines));
    Some(Section::new(
        "Mechanisms against lost routes",
        "Each mechanism runs the same patterns as Reno, with the same seeds; differences are computed per pattern, and \
         the interval is that of their mean: a gain counts if its interval excludes zero. Percentages are relative to \
         Reno's mean at that speed. ELFN: DSR's Route Error carries a notice; the sender pauses, probes every 2 s, and \
         continues with its old window and timeout (or half the window). Fixed RTO: consecutive timeouts after the \
         first do not double it. TCP-F: frozen until the route is back. Window by hops: a quarter of a segment per \
         hop, at least one. Pacing: TCP-AP. RFC 6069: an ICMP message that quotes the lost segment reverts the \
         doubling of the timer.",
    )
    .rows(rows)
    .figures(figure))
}

/// The mechanisms that report lost routes to the sender, and those that do not.
fn gains(lines: &[(Mechanism, Vec<(f64, Estimate)>)]) -> Figure {
    // Few patterns may gain more than the 400 kb/s that fifty stay below.
    let ends = |e: &Estimate| e.ci95.unwrap_or([e.mean; 2]).into_iter().fold(0.0_f64, |m, v| m.max(v.abs()));
    let most = lines.iter().flat_map(|(_, points)| points).map(|(_, e)| ends(e)).fold(400.0_f64, f64::max);
    let end = (most / 100.0).ceil() * 100.0;
    let panel = |title: &str, told: bool| {
        let plot = Plot::new(
            Axis::new("speed (m/s)").from_to(0.0, 32.0),
            Axis::new("gain over Reno (kb/s)").from_to(-end, end),
        )
        .with(Series::new("", Mark::Rule, 6, vec![[0.0, 0.0]]));
        let shown = lines.iter().filter(|(m, points)| m.is_told() == told && !points.is_empty());
        let plot = shown.enumerate().fold(plot, |plot, (colour, (m, points))| {
            plot.with(Series::of_estimates(m.title(), Mark::nth(colour), points.iter().copied()).joined())
        });
        let is_empty = plot.series.len() == 1;
        (!is_empty).then(|| Panel::new(title, plot))
    };
    Figure::new(
        "Gains",
        "Mean difference to Reno, paired by pattern, with 95 % intervals.",
        [panel("Notified of lost routes", true), panel("Not notified", false)].into_iter().flatten(),
    )
}

const NOTE: &str = "Paired by pattern. Part II of the paper has no numbers of mechanisms.";
