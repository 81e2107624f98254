//! Means, intervals and paired differences over the runs of a plan.

use std::collections::BTreeMap;

use wayhop_report::{Estimate, mean};

use crate::matrix::PlannedRun;
use crate::plan::Sweep;

/// The runs that have the same values on all axes that are no repetitions.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Its value on each of [`Results::axes`].
    pub labels: Vec<String>,
    /// How many of its runs are done.
    pub runs: usize,
    /// By metric; `None` where no run has a figure.
    pub estimates: Vec<Option<Estimate>>,
    /// By metric: how many of its runs have the figure. The others are not in the estimate.
    pub counted: Vec<usize>,
}

/// What one value of an axis makes of a figure, less what the axis's first value makes of it.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisDifference {
    /// The value on each of [`Results::axes`].
    pub labels: Vec<String>,
    /// The axis's first value.
    pub against: String,
    /// How many repetitions both have.
    pub pairs: usize,
    /// By metric, over those pairs in which both have the figure; `None` without one.
    pub estimates: Vec<Option<Estimate>>,
}

/// The runs of a plan, summed up.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The names of the axes that are no repetitions.
    pub axes: Vec<String>,
    /// The figures.
    pub metrics: Vec<String>,
    /// In the plan's order.
    pub cells: Vec<Cell>,
    /// The axis that differences are along.
    pub compared: Option<String>,
    /// In the plan's order.
    pub differences: Vec<AxisDifference>,
}

type Figures<'a> = Vec<&'a [Option<f64>]>;

/// The figures of a cell's repetitions: by what is repeated, one value a metric.
type Repetitions = BTreeMap<Vec<String>, Vec<Option<f64>>>;

impl Results {
    /// Sums up runs and what is known of them.
    pub fn new<'a>(
        sweep: &Sweep,
        runs: impl IntoIterator<Item = (&'a PlannedRun, Option<&'a [Option<f64>]>)>,
    ) -> Self {
        let is_kept = |k: usize| !sweep.axes[k].replicate;
        let kept: Vec<usize> = (0..sweep.axes.len()).filter(|&k| is_kept(k)).collect();
        let repeats = kept.len() < sweep.axes.len();
        let mut order: Vec<Vec<String>> = Vec::new();
        // By cell, by repetition: the figures of its runs.
        let mut all: BTreeMap<Vec<String>, BTreeMap<Vec<String>, Figures<'a>>> = BTreeMap::new();
        for (run, figures) in runs {
            let cell: Vec<String> = kept.iter().map(|&k| run.labels[k].clone()).collect();
            if !all.contains_key(&cell) {
                order.push(cell.clone());
            }
            // Seeds on the same pattern are not independent: they make one value together.
            let repetition: Vec<String> = if repeats {
                (0..sweep.axes.len()).filter(|&k| !is_kept(k)).map(|k| run.labels[k].clone()).collect()
            } else {
                vec![run.seed.to_string()]
            };
            let entry = all.entry(cell).or_default();
            if let Some(figures) = figures {
                entry.entry(repetition).or_default().push(figures);
            }
        }
        let metrics = sweep.metrics.len();
        let reduce = |runs: &Figures<'a>| -> Vec<Option<f64>> {
            (0..metrics).map(|m| mean(&runs.iter().filter_map(|r| r[m]).collect::<Vec<_>>())).collect()
        };
        let reduced: BTreeMap<&Vec<String>, Repetitions> = all
            .iter()
            .map(|(cell, reps)| (cell, reps.iter().map(|(r, runs)| (r.clone(), reduce(runs))).collect()))
            .collect();
        let cells = order
            .iter()
            .map(|labels| Cell {
                labels: labels.clone(),
                runs: all[labels].values().map(Vec::len).sum(),
                estimates: (0..metrics)
                    .map(|m| Estimate::of(&reduced[labels].values().filter_map(|v| v[m]).collect::<Vec<_>>()))
                    .collect(),
                counted: (0..metrics)
                    .map(|m| all[labels].values().flatten().filter(|r| r[m].is_some()).count())
                    .collect(),
            })
            .collect();
        let axes: Vec<String> = kept.iter().map(|&k| sweep.axes[k].name.clone()).collect();
        let along = match &sweep.compare {
            Some(name) => axes.iter().position(|a| a == name),
            None => (!axes.is_empty()).then_some(0),
        };
        let differences = along.map_or_else(Vec::new, |along| differences(&order, &reduced, along, metrics));
        Self {
            compared: along.filter(|_| !differences.is_empty()).map(|k| axes[k].clone()),
            axes,
            metrics: sweep.metrics.clone(),
            cells,
            differences,
        }
    }
}

fn differences(
    order: &[Vec<String>],
    reduced: &BTreeMap<&Vec<String>, Repetitions>,
    along: usize,
    metrics: usize,
) -> Vec<AxisDifference> {
    let Some(first) = order.first().map(|labels| labels[along].clone()) else { return Vec::new() };
    let difference = |labels: &Vec<String>| {
        let mut base = labels.clone();
        base[along].clone_from(&first);
        let (ours, theirs) = (&reduced[labels], reduced.get(&base)?);
        let pairs = |m: usize| {
            let both = ours.iter().filter_map(|(r, v)| Some((v[m]?, theirs.get(r)?[m]?)));
            let (a, b): (Vec<f64>, Vec<f64>) = both.unzip();
            Estimate::of_differences(&a, &b)
        };
        let estimates = (0..metrics).map(pairs).collect();
        let pairs = ours.keys().filter(|r| theirs.contains_key(*r)).count();
        Some(AxisDifference { labels: labels.clone(), against: first.clone(), pairs, estimates })
    };
    order.iter().filter(|labels| labels[along] != first).filter_map(difference).collect()
}
