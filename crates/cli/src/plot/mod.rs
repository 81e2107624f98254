//! `wayhop plot`.

mod args;
mod write;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use wayhop_figures::{Column, Kind, Runs, tell_apart};
use wayhop_report::Figure;
use wayhop_sweep::{Request, chart, made};

use crate::failure::Failure;

use args::What;
pub(crate) use args::{EXAMPLES, PlotArgs};

pub(crate) fn plot(a: &PlotArgs) -> Result<ExitCode, Failure> {
    let (what, of) = a.subject()?;
    write::check(a)?;
    let (figure, default) = match what {
        What::Runs(kind) => {
            let figure = of_runs(kind, of)?;
            (figure, default_file(kind.name(), of))
        }
        What::Sweep | What::Differences => {
            let request = Request {
                x: a.sweep.x.clone(),
                y: a.sweep.y.clone(),
                by: a.sweep.by.clone(),
                only: a.sweep.only.clone(),
                x_label: a.sweep.x_label.clone(),
                y_label: a.sweep.y_label.clone(),
                differences: what == What::Differences,
            };
            let chart = chart(&of[0], &request)?;
            (chart.figure, of[0].join(format!("{}.svg", chart.name)))
        }
    };
    write::figure(a, &figure, &default)?;
    Ok(ExitCode::SUCCESS)
}

/// Beside what it shows, if that is one run.
fn default_file(name: &str, of: &[PathBuf]) -> PathBuf {
    let file = format!("{name}.svg");
    if let [one] = of { one.join(file) } else { PathBuf::from(file) }
}

fn of_runs(kind: Kind, of: &[PathBuf]) -> Result<Figure, Failure> {
    let columns = columns(of)?;
    let runs = Runs::read(&columns, &[kind]).map_err(Failure::trace)?;
    runs.figure(kind).ok_or_else(|| {
        let shown: Vec<String> = of.iter().map(|p| p.display().to_string()).collect();
        Failure::Usage(format!(
            "{}: nothing to draw as {}: {}",
            shown.join(", "),
            kind.name(),
            runs.nothing(kind)
        ))
    })
}

/// Reads what stands side by side. A folder of runs stands for one if they differ in their seeds, or in what its sweep repeats.
pub(crate) fn columns(of: &[PathBuf]) -> Result<Vec<Column>, Failure> {
    let column = |path: &PathBuf| {
        let column = Column::read(path).map_err(Failure::trace)?;
        let mixture = if column.runs.len() > 1 { column.mixture(&repeated(path)?) } else { None };
        match mixture {
            Some(what) => Err(Failure::Usage(format!(
                "{}: a folder of runs stands for one if they differ in their seeds only: {what}, and no mean is over that; give the \
                 runs one by one, or a folder of each",
                path.display()
            ))),
            None => Ok(column),
        }
    };
    let mut columns = of.iter().map(column).collect::<Result<Vec<_>, _>>()?;
    tell_apart(&mut columns);
    Ok(columns)
}

/// The keys of the scenario whose values are repetitions of the same, as the plan of the runs says.
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
