//! Figures of a sweep: means with 95 % intervals over one axis.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use wayhop_core::{file_name, nearest};
use wayhop_report::{Axis as Scale, Estimate, Figure, Mark, Plot, Series};

use crate::archive::Archive;
use crate::error::SweepError;
use crate::figures::full_name;
use crate::plan::Sweep;
use crate::quantity::{Quantity, axis_in_words, capitalised};
use crate::results::{AxisDifference, Cell, Results};

/// Most names on the horizontal axis, in a column of a paper.
const MOST_SERIES: usize = 12;
const MOST_NAMES: usize = 20;
/// Largest value that can be drawn.
const MOST_VALUE: f64 = 1e12;
/// The share of a category's width over which its series stand.
const SPREAD: f64 = 0.6;
/// How far apart series are on a scale of numbers, as a share of it: a few pixels, so that no interval hides another.
const SHIFT: f64 = 0.012;

/// What to draw. Axes are given by their name or by the scenario key that they set.
#[derive(Clone, Debug, Default)]
pub struct ChartRequest {
    /// The horizontal axis; by default the plan's first one that is not used otherwise.
    pub x: Option<String>,
    /// The figure; by default the plan's first.
    pub y: Option<String>,
    /// The axis whose values are series.
    pub by: Option<String>,
    /// Axes restricted to one value.
    pub only: Vec<(String, String)>,
    /// Label of the horizontal axis, instead of the one from its key.
    pub x_label: Option<String>,
    /// Label of the vertical axis.
    pub y_label: Option<String>,
    /// Draw differences between runs with the same seed, to the first value of the series' axis or of the horizontal one.
    pub differences: bool,
}

/// A figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The points with their intervals, and the number of runs.
    pub figure: Figure,
    /// A name for its file, without extension.
    pub name: String,
}

/// Draws a figure of the results in a folder.
pub fn chart(dir: &Path, request: &ChartRequest) -> Result<Chart, SweepError> {
    let way = request.y.as_deref().map(full_name);
    let (mut archive, way) = Archive::read(dir, way.as_deref())?;
    let view = View::new(&archive.sweep, request)?;
    view.check_values(&archive)?;
    archive.runs.retain(|(run, _)| view.only.iter().all(|(k, value)| run.labels[*k] == *value));
    view.check_rest(&archive)?;
    let along = view.axis(view.by.unwrap_or(view.x)).name.clone();
    let compare = Some(along.clone()).filter(|_| request.differences);
    let sweep = Sweep { metrics: vec![way.clone()], compare, ..archive.sweep.clone() };
    let figures: Vec<[Option<f64>; 1]> = archive.runs.iter().map(|(_, v)| [*v]).collect();
    let runs = archive.runs.iter().zip(&figures).map(|((run, _), f)| (run, Some(&f[..])));
    let mut results = Results::new(&sweep, runs);
    let mut against = None;
    if request.differences {
        against = results.differences.first().map(|d| d.against.clone());
        results.cells = results.differences.iter().map(paired).collect();
        if results.cells.iter().all(|c| c.estimates[0].is_none()) {
            return Err(SweepError::Usage(format!(
                "{}: no differences: no two runs with the same seed differ only in {along}",
                dir.display()
            )));
        }
    }
    let plot = view.plot(&results, &way, request, against.as_deref())?;
    let caption = view.caption(&results, &way, &archive, against.as_deref());
    let title = capitalised(&format!("{} over {}", plot.y.label, plot.x.label));
    let kind = if request.differences { "differences-" } else { "" };
    let name = format!("{kind}{}-{}", way.trim_start_matches("totals."), view.axis(view.x).name);
    Ok(Chart { figure: Figure::of(&title, &caption, plot), name: file_name(&name) })
}

/// A difference as the estimate at a point.
fn paired(d: &AxisDifference) -> Cell {
    let counted = d.estimates.iter().map(|e| e.map_or(0, |e| e.runs)).collect();
    Cell { labels: d.labels.clone(), runs: d.pairs, estimates: d.estimates.clone(), counted }
}

struct View<'a> {
    sweep: &'a Sweep,
    x: usize,
    by: Option<usize>,
    only: Vec<(usize, String)>,
}

impl<'a> View<'a> {
    fn new(sweep: &'a Sweep, request: &ChartRequest) -> Result<Self, SweepError> {
        let named = |option: &str, name: &String| find(sweep, option, name);
        let by = request.by.as_ref().map(|name| named("--by", name)).transpose()?;
        let only = request.only.iter().map(|(name, value)| Ok((named("--only", name)?, value.clone())));
        let only: Vec<(usize, String)> = only.collect::<Result<_, SweepError>>()?;
        let is_free = |k: &usize| {
            !sweep.axes[*k].replicate && Some(*k) != by && only.iter().all(|(other, _)| other != k)
        };
        let x = match &request.x {
            Some(name) => named("--x", name)?,
            None => (0..sweep.axes.len()).find(is_free).ok_or_else(|| {
                SweepError::Usage(
                    "no axis is left for the horizontal one; a figure needs a sweep over more than seeds"
                        .to_owned(),
                )
            })?,
        };
        let twice =
            if by == Some(x) { Some("--by") } else { only.iter().any(|(k, _)| *k == x).then_some("--only") };
        if let Some(option) = twice {
            let name = &sweep.axes[x].name;
            return Err(SweepError::Usage(format!(
                "{option} {name} is the horizontal axis; give another axis"
            )));
        }
        Ok(Self { sweep, x, by, only })
    }

    fn axis(&self, k: usize) -> &'a crate::plan::Axis {
        &self.sweep.axes[k]
    }

    fn check_values(&self, archive: &Archive) -> Result<(), SweepError> {
        for (k, value) in &self.only {
            let known = values(archive, *k);
            if !known.contains(value) {
                let name = &self.axis(*k).name;
                return Err(SweepError::Usage(format!(
                    "--only {name}={value}: no run has this value; give one of: {}",
                    known.join(", ")
                )));
            }
        }
        Ok(())
    }

    /// Rejects means over runs that differ in an axis that the figure does not show.
    fn check_rest(&self, archive: &Archive) -> Result<(), SweepError> {
        for (k, axis) in self.sweep.axes.iter().enumerate() {
            let known = values(archive, k);
            if k == self.x || Some(k) == self.by || axis.replicate || known.len() < 2 {
                continue;
            }
            let name = &axis.name;
            return Err(SweepError::Usage(format!(
                "the runs also differ in {name}; choose a value with --only {name}={}, of {}, or draw them as series with \
                 --by {name}",
                known[0],
                known.join(", ")
            )));
        }
        Ok(())
    }

    /// A label's place among those of the cells.
    fn place(&self, k: usize) -> usize {
        self.sweep.axes[..k].iter().filter(|a| !a.replicate).count()
    }

    fn plot(
        &self,
        results: &Results,
        way: &str,
        request: &ChartRequest,
        against: Option<&str>,
    ) -> Result<Plot, SweepError> {
        let x_at = self.place(self.x);
        let at: Vec<&str> = distinct(results.cells.iter().map(|c| c.labels[x_at].as_str()));
        let numbers: Option<Vec<f64>> =
            at.iter().map(|l| l.parse::<f64>().ok().filter(|v| v.is_finite())).collect();
        let series: Vec<Option<&str>> = match self.by.map(|k| self.place(k)) {
            Some(by) => {
                distinct(results.cells.iter().map(|c| c.labels[by].as_str())).into_iter().map(Some).collect()
            }
            None => vec![None],
        };
        let too_many = |what: &str, most: usize| {
            Err(SweepError::Usage(format!(
                "more than {most} {what} cannot be drawn; use a sweep with fewer values"
            )))
        };
        if series.len() > MOST_SERIES {
            return too_many("series", MOST_SERIES);
        }
        if numbers.is_none() && at.len() > MOST_NAMES {
            return too_many("names on the horizontal axis", MOST_NAMES);
        }
        let estimates = || results.cells.iter().filter_map(|c| c.estimates[0]);
        let most =
            estimates().flat_map(|e| e.ci95.unwrap_or([e.mean; 2])).fold(0.0, |m: f64, v| m.max(v.abs()));
        let widest = numbers.iter().flatten().fold(most, |w, v| w.max(v.abs()));
        if widest > MOST_VALUE {
            return Err(SweepError::Usage(format!(
                "values of {widest:e} cannot be drawn; give another figure or axis"
            )));
        }
        let (y, by) = Quantity::of_figure(way).scaled(most);
        let mut x = if numbers.is_some() { Scale::new("") } else { Scale::of(&at) };
        x.label = request.x_label.clone().unwrap_or_else(|| axis_in_words(self.axis(self.x)));
        let ends = numbers.as_ref().map_or([0.0; 2], |n| {
            n.iter().fold([f64::INFINITY, f64::NEG_INFINITY], |e, v| [e[0].min(*v), e[1].max(*v)])
        });
        let words =
            against.map_or_else(|| y.label(), |first| format!("{}, difference to {first}", y.label()));
        let scale = Scale::new(request.y_label.as_ref().unwrap_or(&words));
        let scale = if against.is_none() { bounded(scale, way, by, estimates()) } else { scale };
        let mut plot = Plot::new(x, scale);
        if against.is_some() {
            plot = plot.with(Series::new("", Mark::Rule, 6, vec![[0.0, 0.0]]));
        }
        if let Some(by) = self.by {
            plot.heading = axis_in_words(self.axis(by));
        }
        let width = numbers.as_ref().map_or(SPREAD / series.len() as f64, |_| SHIFT * (ends[1] - ends[0]));
        let ahead = numbers.as_ref().map_or(0.0, |_| ahead(ends[0], width, series.len()));
        for (i, name) in series.iter().enumerate() {
            let from_middle = i as f64 - (series.len() - 1) as f64 / 2.0;
            let where_is = |cell: &Cell| {
                let k = at.iter().position(|l| *l == cell.labels[x_at])?;
                Some(numbers.as_ref().map_or(k as f64, |n| n[k]))
            };
            let is_ours =
                |c: &&Cell| name.is_none_or(|n| self.by.is_some_and(|k| c.labels[self.place(k)] == n));
            let mut points: Vec<(f64, Estimate)> = results
                .cells
                .iter()
                .filter(is_ours)
                .filter_map(|c| Some((where_is(c)?, c.estimates[0]?)))
                .collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            // A series looks as it does in the figure of the means, where the first one is there, too.
            let look = Mark::nth(i + usize::from(against.is_some() && self.by.is_some()));
            let scaled = |e: Estimate| Estimate {
                mean: e.mean / by,
                ci95: e.ci95.map(|ends| ends.map(|v| v / by)),
                ..e
            };
            let points = points.into_iter().map(|(x, e)| (x, scaled(e)));
            let drawn = Series::of_estimates(name.unwrap_or_default(), look, points)
                .shifted(from_middle * width + ahead);
            plot = plot.with(if numbers.is_some() { drawn.joined() } else { drawn });
        }
        Ok(plot)
    }

    fn caption(&self, results: &Results, way: &str, archive: &Archive, against: Option<&str>) -> String {
        let estimates: Vec<Estimate> = results.cells.iter().filter_map(|c| c.estimates[0]).collect();
        let counts = || estimates.iter().map(|e| e.runs);
        let (fewest, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
        let repeats = self.sweep.axes.iter().any(|a| a.replicate);
        let what = match (against.is_some(), repeats) {
            (true, false) => "pairs of runs with the same seed",
            (true, true) => "pairs of repetitions",
            (false, false) => "runs",
            (false, true) => "repetitions",
        };
        let mean = against.map_or_else(|| "Means".to_owned(), |first| format!("Mean differences to {first}"));
        let mut text = match (fewest, most) {
            (_, 1) => format!("Single {what}, without intervals."),
            (a, b) if a == b => format!("{mean} over {a} {what} with 95 % intervals (Student's t)."),
            (a, b) => {
                let lone = if a == 1 { "; no interval for single ones" } else { "" };
                format!("{mean} over {a} to {b} {what} with 95 % intervals (Student's t){lone}.")
            }
        };
        let (all, counted) = results.cells.iter().fold((0, 0), |(n, m), c| (n + c.runs, m + c.counted[0]));
        if counted < all {
            let name = way.trim_start_matches("totals.");
            _ = write!(text, " {} of {all} {what} are left out because {name} is undefined.", all - counted);
        }
        for (k, value) in &self.only {
            _ = write!(text, " {} = {value}.", self.axis(*k).name);
        }
        // With --only, runs with other values are left out on purpose.
        if archive.runs.len() < archive.planned && self.only.is_empty() {
            _ = write!(text, " Incomplete sweep: {} of {} runs.", archive.runs.len(), archive.planned);
        }
        text
    }
}

/// How far all series move to the right, so that where the least number is 0 or more no mark stands below 0.
fn ahead(least: f64, width: f64, series: usize) -> f64 {
    let outermost = width * (series.saturating_sub(1)) as f64 / 2.0;
    if least >= 0.0 { (outermost - least).max(0.0) } else { 0.0 }
}

/// The axis of means within the possible values of the figure; `by` of the figure's unit is one of the axis's.
fn bounded(scale: Scale, way: &str, by: f64, mut estimates: impl Iterator<Item = Estimate>) -> Scale {
    let [least, most] = limits(way);
    // A level in decibels is a figure below zero.
    let has_place = |e: Estimate| (least..=most).contains(&e.mean);
    if estimates.all(has_place) { scale.within(least / by, most / by) } else { scale }
}

/// What a figure of a summary is within: a ratio, or a share in per cent, and no count or time is below zero.
fn limits(way: &str) -> [f64; 2] {
    match way.rsplit_once('_') {
        Some((_, "ratio")) => [0.0, 1.0],
        Some((_, "pct")) => [0.0, 100.0],
        _ => [0.0, f64::INFINITY],
    }
}

/// The place of the axis that goes by this name, or sets this key.
fn find(sweep: &Sweep, option: &str, name: &str) -> Result<usize, SweepError> {
    let is_it = |a: &crate::plan::Axis| a.name == name || a.key.as_deref() == Some(name);
    let wrong = |reason: String| Err(SweepError::Usage(format!("{option} {name}: {reason}")));
    match sweep.axes.iter().position(is_it) {
        Some(k) if sweep.axes[k].replicate => {
            wrong("its values are repetitions, which are averaged; give another axis".to_owned())
        }
        Some(k) => Ok(k),
        None if sweep.axes.is_empty() => wrong("the sweep varies only seeds; run one with --vary".to_owned()),
        None => {
            let names: Vec<&str> =
                sweep.axes.iter().filter(|a| !a.replicate).map(|a| a.name.as_str()).collect();
            let meant = nearest(name, names.iter().copied());
            let meant = meant.map_or_else(String::new, |m| format!("did you mean {m}? "));
            wrong(format!("no such axis; {meant}the sweep varies {}", names.join(", ")))
        }
    }
}

fn values(archive: &Archive, k: usize) -> Vec<String> {
    distinct(archive.runs.iter().map(|(run, _)| run.labels[k].clone()))
}

fn distinct<T: Ord + Clone>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    all.filter(|one| seen.insert(one.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_mark_of_a_number_from_zero_on_stands_below_zero() {
        // Three series a unit apart stand at -1, 0 and 1.
        assert_eq!([0.0, 0.5, 1.0, 30.0].map(|least| ahead(least, 1.0, 3)), [1.0, 0.5, 0.0, 0.0]);
        assert_eq!((ahead(-10.0, 1.0, 3), ahead(0.0, 1.0, 1)), (0.0, 0.0));
    }

    #[test]
    fn an_axis_of_means_ends_where_its_figure_does() {
        let limits = |way: &str, mean: f64| {
            let one = Estimate { mean, ci95: Some([mean - 9e3, mean + 9e3]), runs: 2 };
            bounded(Scale::new(""), way, 1e3, [one].into_iter()).limits
        };
        assert_eq!(limits("totals.delivery_ratio", 0.9), [0.0, 1e-3]);
        assert_eq!(limits("totals.goodput_bps", 1e4), [0.0, f64::INFINITY]);
        assert_eq!(limits("flows.0.signal_dbm", -60.0), [f64::NEG_INFINITY, f64::INFINITY]);
    }
}
