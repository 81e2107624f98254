//! Figures over the time when packets were sent.

use wayhop_report::{Axis, Distribution, Estimate, Figure, Panel, Plot, Spread, lines, plain};

use crate::runs::Runs;
use crate::traffic::Traffic;
use crate::words::{geometric, means};

/// How much of what was sent arrived.
pub(crate) fn delivery(runs: &Runs<'_>) -> Option<Figure> {
    let share = |t: &Traffic, k: usize| {
        let sent = *t.sent.get(k)?;
        (sent > 0).then(|| 100.0 * *t.delivered.get(k).unwrap_or(&0) as f64 / sent as f64)
    };
    let mut plot = plot(runs, Axis::new("packets that arrived (%)"), Estimate::of, share)?;
    plot.y.range = Some([lowest(&plot), 102.0]);
    let caption = format!(
        "Share of the packets sent in each {} s that arrived, whenever they did; packets of all flows, those to all once for each \
         node. A span in which nothing was sent has no point. {}",
        plain(runs.span_s()),
        means(runs)
    );
    Some(Figure::of("Delivery over time", &caption, plot))
}

/// The ten per cent below all that is drawn.
fn lowest(plot: &Plot) -> f64 {
    let means = plot.series.iter().flat_map(|s| &s.points).map(|p| p[1]);
    let ends = plot.series.iter().flat_map(|s| &s.intervals).flatten().map(|ends| ends[0]);
    let low = means.chain(ends).filter(|v| v.is_finite()).fold(100.0, f64::min);
    ((low / 10.0).floor() * 10.0).clamp(0.0, 90.0)
}

/// Median and 95th percentile.
pub(crate) fn latency(runs: &Runs<'_>) -> Option<Figure> {
    let panel = |title: &str, q: f64| {
        let of =
            |t: &Traffic, k: usize| t.latency_over_time_ms.get(k).and_then(|d: &Distribution| d.quantile(q));
        let plot = plot(runs, Axis::new("latency (ms)").log(), Estimate::of_factors, of)?;
        Some(Panel { title: title.to_owned(), plot })
    };
    let panels = [panel("median", 0.5)?, panel("95th percentile", 0.95)?];
    let caption = format!(
        "One-way latency of the packets sent in each {} s that arrived, without pings, on a logarithmic axis: of each run the median \
         and the 95th percentile by nearest rank. A span of which nothing arrived has no point. {}",
        plain(runs.span_s()),
        geometric(&means(runs))
    );
    Some(Figure { name: "Latency over time".to_owned(), caption, panels: panels.to_vec() })
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
        let at = |k: usize| (k as f64 + 0.5) * runs.span_s();
        let values = |k: usize| traffic.iter().filter_map(|t| of(t, k)).collect::<Vec<_>>();
        (0..spans).map(|k| (at(k), mean(&values(k)))).collect()
    };
    let all: Vec<_> = runs.traffic().map(|(c, t)| (runs.legend(c), column(t))).collect();
    let has_points = all.iter().flat_map(|(_, points)| points).any(|(_, e)| e.is_some());
    let end = all.iter().map(|(_, points)| points.len()).max().unwrap_or(0) as f64 * runs.span_s();
    has_points.then(|| lines(Axis::new("time of sending (s)").from_to(0.0, end), y, &all, Spread::Band))
}
