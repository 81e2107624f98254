//! Figures over the time when packets were sent.

use wayhop_report::{Axis, Distribution, Estimate, Figure, Panel, Plot, Spread, lines, plain};

use crate::runs::Runs;
use crate::traffic::Traffic;
use crate::words::means;

pub(crate) fn delivery(runs: &Runs<'_>) -> Option<Figure> {
    let share = |t: &Traffic, k: usize| {
        let sent = *t.sent.get(k)?;
        (sent > 0).then(|| 100.0 * *t.delivered.get(k).unwrap_or(&0) as f64 / sent as f64)
    };
    let mut plot = plot(runs, Axis::new("packets delivered (%)").within(0.0, 100.0), Estimate::of, share)?;
    plot.y.range = Some([lowest(&plot), 102.0]);
    let low = plot.y.range.map_or(0.0, |r| r[0]);
    let begins = if low > 0.0 { format!(" The axis starts at {} %.", plain(low)) } else { String::new() };
    let caption = format!(
        "{} Delivery ratio by the {} s interval in which packets were sent. All flows; a broadcast counts once per \
         receiver. {}Intervals without packets have no point.{begins}",
        means(runs),
        plain(runs.span_s),
        under_way(runs)
    );
    Some(Figure::of("Delivery over time", &caption, plot))
}

pub(crate) fn throughput(runs: &Runs<'_>) -> Option<Figure> {
    let kbps = |t: &Traffic, k: usize| Some(*t.arrived_octets.get(k)? as f64 * 8.0 / runs.span_s / 1e3);
    let mut plot = plot(runs, Axis::new("throughput (kb/s)").within(0.0, f64::INFINITY), Estimate::of, kbps)?;
    "time of arrival (s)".clone_into(&mut plot.x.label);
    let caption = format!(
        "IP packets received in each {} s interval, all flows, with headers and without duplicates. {}",
        plain(runs.span_s),
        means(runs)
    );
    Some(Figure::of("Throughput over time", &caption, plot))
}

/// Notes packets that were still in transit at the end.
fn under_way(runs: &Runs<'_>) -> String {
    let held: u64 = runs.columns.iter().flat_map(|c| &c.runs).filter_map(|r| r.summary.totals.held).sum();
    match held {
        0 => String::new(),
        1 => "One packet was still in transit at the end and counts as lost. ".to_owned(),
        n => format!("{n} packets were still in transit at the end and count as lost. "),
    }
}

/// Intervals take an axis no farther down than this below the least mean, per cent.
const MOST_BELOW: f64 = 20.0;

/// The ten per cent below all that is drawn.
fn lowest(plot: &Plot) -> f64 {
    let least = |all: &mut dyn Iterator<Item = f64>| all.filter(|v| v.is_finite()).fold(100.0, f64::min);
    let mean = least(&mut plot.series.iter().flat_map(|s| &s.points).map(|p| p[1]));
    let end = least(&mut plot.series.iter().flat_map(|s| &s.intervals).flatten().map(|ends| ends[0]));
    let low = end.clamp(mean - MOST_BELOW, mean);
    ((low / 10.0).floor() * 10.0).clamp(0.0, 90.0)
}

pub(crate) fn latency(runs: &Runs<'_>) -> Option<Figure> {
    let panel = |title: &str, q: f64| {
        let of =
            |t: &Traffic, k: usize| t.latency_over_time_ms.get(k).and_then(|d: &Distribution| d.quantile(q));
        let plot = plot(runs, Axis::new("latency (ms)").log(), Estimate::of_factors, of)?;
        Some(Panel::new(title, plot))
    };
    let panels = [panel("median", 0.5)?, panel("95th percentile", 0.95)?];
    let caption = format!(
        "{} One-way latency by the {} s interval in which packets were sent, without pings: median and 95th percentile of \
         each run (nearest rank). Intervals without deliveries have no point.",
        means(runs).replace("Means", "Geometric means"),
        plain(runs.span_s)
    );
    Some(Figure::new("Latency over time", &caption, panels))
}

/// What `of` makes of each run and span, as `mean` over runs; nothing if there is no point.
fn plot(
    runs: &Runs<'_>,
    y: Axis,
    mean: fn(&[f64]) -> Option<Estimate>,
    of: impl Fn(&Traffic, usize) -> Option<f64>,
) -> Option<Plot> {
    let column = |traffic: &[Traffic]| -> Vec<(f64, Option<Estimate>)> {
        let spans = traffic.iter().map(|t| t.sent.len()).max().unwrap_or(0);
        let at = |k: usize| (k as f64 + 0.5) * runs.span_s;
        let values = |k: usize| traffic.iter().filter_map(|t| of(t, k)).collect::<Vec<_>>();
        (0..spans).map(|k| (at(k), mean(&values(k)))).collect()
    };
    let all: Vec<_> = runs.traffic().map(|(c, t)| (runs.legend(c), column(t))).collect();
    let has_points = all.iter().flat_map(|(_, points)| points).any(|(_, e)| e.is_some());
    let end = all.iter().map(|(_, points)| points.len()).max().unwrap_or(0) as f64 * runs.span_s;
    has_points.then(|| lines(Axis::new("time of sending (s)").from_to(0.0, end), y, &all, Spread::Band))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_of_two_runs_does_not_take_the_axis_of_shares_to_zero() {
        let at = |ends| {
            let e = Estimate { mean: 97.0, ci95: Some(ends), runs: 2 };
            let all = [(String::new(), vec![(1.0, Some(e))])];
            lowest(&lines(Axis::new(""), Axis::new(""), &all, Spread::Band))
        };
        assert_eq!([at([-800.0, 994.0]), at([88.0, 106.0]), at([96.0, 98.0])], [70.0, 80.0, 90.0]);
    }
}
