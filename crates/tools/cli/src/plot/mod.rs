//! `wayhop plot`.

mod args;

use std::fs;
use std::path::{Path, PathBuf};

use wayhop_figures::picture::{pdf, png};
use wayhop_figures::{Choices, Column, FigureKind, Runs, tell_apart};
use wayhop_protocols::CLASSIFIER;
use wayhop_report::Figure;
use wayhop_sweep::{ChartRequest, chart, made};

use crate::failure::{Failure, out, put, usage};
use crate::recover::say_what_is_left_out;
use crate::whole::write_whole;

use args::{COLUMN_MM, Packets, PlotSubject};
pub(crate) use args::{EXAMPLES, PlotArgs};

pub(crate) fn plot(a: &PlotArgs) -> Result<(), Failure> {
    let (what, of) = a.subject()?;
    check(a)?;
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
    write(a, &figure, &default)
}

/// A plot for each `--y`, and the name of its file.
fn of_sweep(a: &PlotArgs, dir: &Path, differences: bool) -> Result<(Figure, PathBuf), Failure> {
    let options = &a.sweep;
    if options.y_label.len() > options.y.len().max(1) {
        return Err(usage!("more --y-label than --y; give at most one per plot"));
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
    for run in columns.iter().flat_map(|c| &c.runs) {
        say_what_is_left_out(&run.dir)?;
    }
    let runs = Runs::read(&columns, kinds, choices).map_err(Failure::trace)?;
    let figure = |kind: &FigureKind| {
        runs.figure(*kind).ok_or_else(|| {
            let shown: Vec<String> = of.iter().map(|p| p.display().to_string()).collect();
            usage!("{}: no data for the figure {}: {}", shown.join(", "), kind.name(), runs.nothing(*kind))
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
            Some(what) => Err(usage!(
                "{}: the runs in this folder differ in more than their seeds ({what}), so they have no common mean; give \
                 the runs one by one, or one folder for each",
                path.display()
            )),
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

/// File name extensions of figures.
const ENDINGS: [&str; 3] = ["svg", "png", "pdf"];

fn is_output(a: &PlotArgs) -> bool {
    a.out.as_deref() == Some(Path::new("-"))
}

/// Rejects an unknown file type before anything is read.
fn check(a: &PlotArgs) -> Result<(), Failure> {
    let Some(out) = a.out.as_deref().filter(|_| !is_output(a)) else { return Ok(()) };
    if out.extension().is_some_and(|end| ENDINGS.iter().any(|e| end == *e)) {
        return Ok(());
    }
    let shown = out.display();
    Err(usage!("--out {shown}: give a name that ends in .svg, .png or .pdf"))
}

fn write(a: &PlotArgs, figure: &Figure, default: &Path) -> Result<(), Failure> {
    let width_mm = Some(a.width_mm).filter(|mm| *mm != COLUMN_MM);
    let svg = figure.svg(!a.no_caption, width_mm).map_err(Failure::Run)?;
    if is_output(a) {
        return put(&svg);
    }
    let path = a.out.as_deref().unwrap_or(default);
    let picture = match path.extension().and_then(|e| e.to_str()) {
        Some("png") => png(&svg, a.width).map_err(Failure::Run)?,
        Some("pdf") => pdf(&svg, a.width_mm as f32).map_err(Failure::Run)?,
        _ => svg.into_bytes(),
    };
    let numbers = path.with_extension("csv");
    write_whole(path, &picture)?;
    write_whole(&numbers, figure.csv().as_bytes())?;
    let (path, numbers) = (path.display(), numbers.display());
    out!("{}\nsaved in {path}, data in {numbers}", figure.caption)
}
