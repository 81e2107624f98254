//! A figure as a file, and its data as CSV.

use std::io::{Write as _, stdout};
use std::path::Path;

use wayhop_figures::picture::{pdf, png};
use wayhop_report::Figure;

use super::args::{COLUMN_MM, PlotArgs};
use crate::failure::{Failure, output};
use crate::whole::write_whole;

/// File name extensions of figures.
const ENDINGS: [&str; 3] = ["svg", "png", "pdf"];

fn is_output(a: &PlotArgs) -> bool {
    a.out.as_deref() == Some(Path::new("-"))
}

/// Rejects an unknown file type before anything is read.
pub(super) fn check(a: &PlotArgs) -> Result<(), Failure> {
    let Some(out) = a.out.as_deref().filter(|_| !is_output(a)) else { return Ok(()) };
    if out.extension().is_some_and(|end| ENDINGS.iter().any(|e| end == *e)) {
        return Ok(());
    }
    let shown = out.display();
    Err(Failure::Usage(format!("--out {shown}: give a name that ends in .svg, .png or .pdf")))
}

/// Writes the figure and its numbers, and says where.
pub(super) fn figure(a: &PlotArgs, figure: &Figure, default: &Path) -> Result<(), Failure> {
    let width_mm = Some(a.width_mm).filter(|mm| *mm != COLUMN_MM);
    let svg = figure.svg(!a.no_caption, width_mm).map_err(Failure::Run)?;
    if is_output(a) {
        return output(stdout().write_all(svg.as_bytes()));
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
    output(writeln!(stdout(), "{}\nsaved in {path}, data in {numbers}", figure.caption))
}
