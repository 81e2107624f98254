//! Plots of estimates: over a scale, and of things that have names.

use crate::plot::{Axis, Mark, Plot, Series, Spread};
use crate::stats::Estimate;

/// A place on a scale, and what is estimated there, if anything is.
pub type At = (f64, Option<Estimate>);

/// How far apart series are drawn, as a share of the scale: a few pixels, so that no interval hides another.
const SHIFT: f64 = 0.012;

/// Means with their intervals over a scale, a series each. With `Spread::Band` the marks are a line with a few marks on it.
pub fn lines(x: Axis, y: Axis, all: &[(String, Vec<At>)], spread: Spread) -> Plot {
    let places = || all.iter().flat_map(|(_, points)| points).map(|(x, _)| *x);
    let span = places().fold(f64::NEG_INFINITY, f64::max) - places().fold(f64::INFINITY, f64::min);
    let span = if span.is_finite() { span } else { 0.0 };
    all.iter().enumerate().fold(Plot::new(x, y), |plot, (i, (name, points))| {
        let (mark, colour) = Mark::nth(i);
        let value = |e: &Option<Estimate>| e.map_or(f64::NAN, |e| e.mean);
        let at = points.iter().map(|(x, e)| [*x, value(e)]).collect();
        let intervals = points.iter().map(|(_, e)| e.and_then(|e| e.ci95)).collect();
        let series = match spread {
            Spread::Band if all.len() > 1 => Series::new(name, Mark::Line, colour, at).beads(mark),
            Spread::Band => Series::new(name, Mark::Line, colour, at),
            _ => {
                let from_middle = i as f64 - (all.len() - 1) as f64 / 2.0;
                Series::new(name, mark, colour, at).joined().shifted(from_middle * SHIFT * span)
            }
        };
        plot.with(series.with_intervals(intervals).spread(spread))
    })
}

/// Means with their intervals of things that have names, the first at the top: a mark each, from zero to the right.
pub fn by_name(x: Axis, names: &[String], all: &[(String, Vec<Option<Estimate>>)]) -> Plot {
    let bottom_up: Vec<&str> = names.iter().rev().map(String::as_str).collect();
    let plot = Plot::new(x, Axis::of(&bottom_up));
    all.iter().enumerate().fold(plot, |plot, (i, (name, estimates))| {
        let (mark, colour) = Mark::nth(i);
        let from_middle = ((all.len() - 1) as f64 / 2.0 - i as f64) * 0.7 / all.len() as f64;
        let height = |k: usize| (names.len() - 1 - k) as f64 + from_middle;
        let known = || estimates.iter().enumerate().filter_map(|(k, e)| Some((k, (*e)?)));
        let points = known().map(|(k, e)| [e.mean, height(k)]).collect();
        let intervals = known().map(|(_, e)| e.ci95).collect();
        plot.with(Series::new(name, mark, colour, points).with_intervals(intervals).spread(Spread::Across))
    })
}
