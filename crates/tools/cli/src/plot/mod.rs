//! `wayhop plot`.

mod args;
mod write;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use wayhop_figures::{Choices, Column, FigureKind, Runs, tell_apart};
use wayhop_protocols::CLASSIFIER;
use wayhop_report::Figure;
use wayhop_sweep::{ChartRequest, chart, made};

use crate::failure::Failure;

pub(crate) use args::{EXAMPLES, PlotArgs};
use args::{Packets, PlotSubject};

pub(crate) fn plot(a: &PlotArgs) -> Result<ExitCode, Failure> {
    let (what, of) = a.subject()?;
    write::check(a)?;
    let (figure, default) = match what {
        PlotSubject::Runs(kinds) => {
            let window_s = a.x_range.map(|[low, high]| high - low);
            let choices = Choices { window_s, over_sent: a.of == Some(Packets::Sent) };
            let names: Vec<&str> = kinds.iter().map(|k| k.name()).collect();
            (of_runs(&kinds, of, choices)?, default_file(&names.join("-"), of))
        }
        PlotSubject::Sweep | PlotSubject::Differences => {
            of_sweep(a, &of[0], what == PlotSubject::Differences)?
        }
    };
    let figure = figure.viewed(&a.view()).map_err(Failure::Usage)?;
    write::figure(a, &figure, &default)?;
    Ok(ExitCode::SUCCESS)
}

/// A plot for each `--y`, and the name of its file.
fn of_sweep(a: &PlotArgs, dir: &Path, differences: bool) -> Result<(Figure, PathBuf), Failure> {
    let options = &a.sweep;
    if options.y_label.len() > options.y.len().max(1) {
        return Err(Failure::Usage("more --y-label than --y; give at most one per plot".to_owned()));
    }
    let wanted: Vec<Option<String>> =
        if options.y.is_empty() { vec![None] } else { options.y.iter().cloned().map(Some).collect() };
    let (mut figures, mut name) = (Vec::new(), String::new());
    for (k, y) in wanted.into_iter().enumerate() {
        let request = ChartRequest {
            x: options.x.clone(),
            y,
            by: options.by.clone(),
            only: options.only.clone(),
            x_label: options.x_label.clone(),
            y_label: options.y_label.get(k).cloned(),
            differences,
        };
        let chart = chart(dir, &request)?;
        figures.push(chart.figure);
        let gap = if name.is_empty() { "" } else { "-" };
        name = format!("{name}{gap}{}", chart.name);
    }
    Ok((Figure::joined(figures), dir.join(format!("{name}.svg"))))
}

/// In the run's directory, if there is only one.
fn default_file(name: &str, of: &[PathBuf]) -> PathBuf {
    let file = format!("{name}.svg");
    if let [one] = of { one.join(file) } else { PathBuf::from(file) }
}

fn of_runs(kinds: &[FigureKind], of: &[PathBuf], choices: Choices) -> Result<Figure, Failure> {
    let columns = columns(of)?;
    let runs = Runs::read(&columns, kinds, choices).map_err(Failure::trace)?;
    let figure = |kind: &FigureKind| {
        runs.figure(*kind).ok_or_else(|| {
            let shown: Vec<String> = of.iter().map(|p| p.display().to_string()).collect();
            Failure::Usage(format!(
                "{}: no data for the figure {}: {}",
                shown.join(", "),
                kind.name(),
                runs.nothing(*kind)
            ))
        })
    };
    Ok(Figure::joined(kinds.iter().map(figure).collect::<Result<_, _>>()?))
}

/// Reads the runs to compare. A folder of runs is one column if they differ only in their seeds, or in what their sweep repeats.
pub(crate) fn columns(of: &[PathBuf]) -> Result<Vec<Column>, Failure> {
    let column = |path: &PathBuf| {
        let column = Column::read(path, CLASSIFIER).map_err(Failure::trace)?;
        let mixture = if column.runs.len() > 1 { column.mixture(&repeated(path)?) } else { None };
        match mixture {
            Some(what) => Err(Failure::Usage(format!(
                "{}: the runs in this folder differ in more than their seeds ({what}), so they have no common mean; give \
                 the runs one by one, or one folder for each",
                path.display()
            ))),
            None => Ok(column),
        }
    };
    let mut columns = of.iter().map(column).collect::<Result<Vec<_>, _>>()?;
    tell_apart(&mut columns);
    Ok(columns)
}

/// The keys of the scenario whose values the plan declares as repetitions.
fn repeated(path: &Path) -> Result<Vec<String>, Failure> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    // The runs of a sweep are in a folder of this name below its own.
    let dir = if path.ends_with("runs") { path.parent().unwrap_or(&path) } else { &path };
    let mut keys = Vec::new();
    for axis in made(dir)?.into_iter().flat_map(|m| m.sweep.axes).filter(|a| a.replicate) {
        keys.extend(axis.key);
        for value in axis.set {
            keys.extend(value.set.keys().cloned());
        }
    }
    Ok(keys)
}
