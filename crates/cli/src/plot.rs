//! `wayhop plot`.

use std::fs;
use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use wayhop_sweep::{Request, chart};

use crate::failure::{Failure, output};

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
Draws means with 95 % intervals as SVG, as wide as a column of a paper. Other formats: rsvg-convert -f pdf -o F.pdf F.svg

Examples:
  wayhop sweep first.toml --vary nodes.count=20,30,50 --vary protocol.name=dsr,aodv --seeds 10
  wayhop plot runs/sweep-first --x nodes.count --y delivery_ratio --by protocol.name
  wayhop plot runs/sweep-first --x protocol.name --y latency_ms.p95 --only nodes.count=50";

#[derive(Debug, clap::Args)]
pub(crate) struct PlotArgs {
    /// Folder of a sweep's results
    pub(crate) dir: PathBuf,
    /// Horizontal axis: one of the sweep's, by its name or the key that it varies; without it, the first that is left.
    /// Numbers make a scale, other values stand side by side
    #[arg(long, value_name = "AXIS")]
    pub(crate) x: Option<String>,
    /// Vertical axis: a figure as the summary of `wayhop run --json` has it, such as delivery_ratio, goodput_bps,
    /// latency_ms.mean, flows.0.hops_mean; without it, the plan's first
    #[arg(long, value_name = "FIGURE")]
    pub(crate) y: Option<String>,
    /// An axis with a series for each of its values
    #[arg(long, value_name = "AXIS")]
    pub(crate) by: Option<String>,
    /// Draw only runs with this value of an axis; may be given again
    #[arg(long, value_name = "AXIS=VALUE", value_parser = only)]
    pub(crate) only: Vec<(String, String)>,
    /// Words at the horizontal axis
    #[arg(long, value_name = "TEXT")]
    pub(crate) x_label: Option<String>,
    /// Words at the vertical axis
    #[arg(long, value_name = "TEXT")]
    pub(crate) y_label: Option<String>,
    /// Leave the caption, which says the number of runs, out of the picture; it is printed in any case
    #[arg(long)]
    pub(crate) no_caption: bool,
    /// File to write, or - for standard output; without it DIR/FIGURE-AXIS.svg
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) out: Option<PathBuf>,
}

fn only(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').ok_or("give an axis and its value, as nodes.count=20")?;
    Ok((parts.0.trim().to_owned(), parts.1.trim().to_owned()))
}

pub(crate) fn plot(a: &PlotArgs) -> Result<ExitCode, Failure> {
    let is_output = a.out.as_deref() == Some(Path::new("-"));
    if let Some(out) = a.out.as_deref().filter(|out| !is_output && out.extension() != Some("svg".as_ref())) {
        let (name, shown) = (out.with_extension("svg"), out.display());
        return Err(Failure::Usage(format!(
            "--out {shown}: SVG is what is written; give {0}, and make other formats of it: rsvg-convert -o {shown} {0}",
            name.display()
        )));
    }
    let request = Request {
        x: a.x.clone(),
        y: a.y.clone(),
        by: a.by.clone(),
        only: a.only.clone(),
        x_label: a.x_label.clone(),
        y_label: a.y_label.clone(),
    };
    let chart = chart(&a.dir, &request)?;
    let title = format!("{} over {}", chart.plot.y.label, chart.plot.x.label);
    let caption = if a.no_caption { "" } else { &chart.caption };
    let svg = chart.plot.svg(&title, caption).map_err(Failure::Run)?;
    if is_output {
        output(stdout().write_all(svg.as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let path = a.out.clone().unwrap_or_else(|| a.dir.join(format!("{}.svg", chart.name)));
    fs::write(&path, svg).map_err(Failure::write(&path))?;
    output(writeln!(stdout(), "{}\nsaved in {}", chart.caption, path.display()))?;
    Ok(ExitCode::SUCCESS)
}
