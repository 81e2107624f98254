//! `wayhop plot`.

mod args;
mod write;

use std::path::PathBuf;
use std::process::ExitCode;

use wayhop_figures::{Column, Kind, Runs};
use wayhop_report::Figure;
use wayhop_sweep::{Request, chart};

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
            "{}: nothing to draw as {}: there was none of it, or these runs did not record it",
            shown.join(", "),
            kind.name()
        ))
    })
}

/// Reads what stands side by side.
pub(crate) fn columns(of: &[PathBuf]) -> Result<Vec<Column>, Failure> {
    of.iter().map(|path| Column::read(path)).collect::<Result<_, _>>().map_err(Failure::trace)
}
