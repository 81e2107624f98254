//! The paper's figures, redrawn.

use wayhop_report::{Axis, Estimate, Figure, Mark, Panel, Plot, Series, Spread, mean, standard_deviation};

use super::plan::{Motion, Transport};
use super::shape::Shape;

/// The middles of the windows of Figures 7 and 8, seconds: every 50 s.
const WINDOWS: [(Motion, &[usize]); 2] =
    [(Motion::WalkAway, &[2, 48, 98, 148, 198, 248]), (Motion::DriveBy, &[150, 200, 250, 300, 350, 400])];
/// The stretches of Figures 9 to 12, seconds.
pub(crate) const STRETCH_S: usize = 10;

fn look(transport: Transport) -> (Mark, usize) {
    Mark::nth(usize::from(transport == Transport::Tcp))
}

pub(crate) fn signal(shape: &Shape, by_settings: &dyn Fn(usize) -> Vec<f64>) -> Figure {
    let at = |s: usize| {
        let values = shape.signals(s);
        let mean = mean(&values)?;
        let sd = standard_deviation(&values).unwrap_or(0.0);
        Some(([(s as f64 * 4.0).max(1.0), mean], Some([mean - sd, mean + sd])))
    };
    let (points, intervals) = (0..Motion::WalkAway.seconds()).filter_map(at).unzip();
    let name = "received by the runs that still do, mean and standard deviation";
    let series = Series::new(name, Mark::Line, 0, points).with_intervals(intervals).spread(Spread::Band);
    let settings = |s: usize| Some([(s as f64 * 4.0).max(1.0), mean(&by_settings(s))?]);
    let points = (0..Motion::WalkAway.seconds()).filter_map(settings).collect();
    let all_runs = Series::new("all runs, by the settings", Mark::Line, 1, points);
    let plot = Plot::new(Axis::new("distance (m)").log(), Axis::new("received signal (dBm)"))
        .with(series)
        .with(all_runs);
    let caption = "Signal of received packets by the distance set at the matrix; distances below 1 m are shown at 1 m. The \
                   paper's figure has three points between 10 and 100 m, for radios and for laptops outdoors.";
    Figure::of("Figure 4", caption, plot)
}

/// Figures 5 and 6: mean throughput over time.
pub(crate) fn throughput(name: &str, motion: Motion, shapes: [&Shape; 2]) -> Figure {
    let mut plot = Plot::new(Axis::new("time (s)"), Axis::new("throughput (Mb/s)").from_to(0.0, 32.0));
    for (transport, shape) in Transport::ALL.into_iter().zip(shapes) {
        let at = |s: usize| Some((s as f64 + 0.5, Estimate::of(&shape.means(s, s + 1))?));
        let (mark, colour) = look(transport);
        let line = (0..motion.seconds()).filter_map(at);
        let series = Series::of_estimates(transport.name(), (Mark::Line, colour), line);
        plot = plot.with(series.spread(Spread::Band).beads(mark));
    }
    let caption =
        format!("The {}: payload received per second, mean over runs with 95 % interval.", motion.name());
    Figure::of(name, &caption, plot)
}

/// Figures 7 and 8: distributions of the throughput in windows of 5 s.
pub(crate) fn distributions(name: &str, motion: Motion, shapes: [&Shape; 2]) -> Figure {
    let windows = WINDOWS.iter().find(|(m, _)| *m == motion).map_or(&[][..], |(_, w)| w);
    let panel = |&middle: &usize| {
        let mut plot = Plot::new(
            Axis::new("throughput (Mb/s)").from_to(0.0, 32.0),
            Axis::new("share of the seconds (%)").from_to(0.0, 100.0),
        );
        for (t, shape) in Transport::ALL.into_iter().zip(shapes) {
            let steps = cumulative(&shape.samples(middle - 2, middle + 3));
            plot = plot.with(Series::new(t.name(), Mark::Steps, look(t).1, steps).beads(look(t).0));
        }
        Panel::new(&format!("{middle} s, {:.0} m", motion.place_m(middle as f64)), plot)
    };
    Figure::new(
        name,
        &format!(
            "The {}: throughput of single seconds of all runs, within two seconds of the time above.",
            motion.name()
        ),
        windows.iter().map(panel),
    )
}

/// The share of the values up to each half of a Mb/s, %: on a linear axis, for zero is what matters.
fn cumulative(values: &[f64]) -> Vec<[f64; 2]> {
    if values.is_empty() {
        return Vec::new();
    }
    let up_to = |v: f64| values.iter().filter(|x| **x <= v).count() as f64;
    (0..=64).map(|i| f64::from(i) / 2.0).map(|v| [v, 100.0 * up_to(v) / values.len() as f64]).collect()
}

/// Figures 9 to 12: the standard deviation of the throughput.
pub(crate) fn variability(name: &str, motion: Motion, transport: Transport, shape: &Shape) -> Figure {
    let middle = |s: usize| motion.place_m(s as f64 + STRETCH_S as f64 / 2.0);
    let points = shape.deviations(STRETCH_S).iter().map(|(s, sd)| [middle(*s), *sd]).collect();
    let series = Series::new(transport.name(), look(transport).0, look(transport).1, points).joined();
    let plot =
        Plot::new(Axis::new("place of the sender (m)"), Axis::new("standard deviation (Mb/s)")).with(series);
    let caption = format!(
        "{} in the {}: throughput of single seconds of all runs, in intervals of 10 s.",
        transport.name(),
        motion.name()
    );
    Figure::of(name, &caption, plot)
}
