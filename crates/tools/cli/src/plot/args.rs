//! The options of `wayhop plot`.

use std::path::PathBuf;

use wayhop_figures::FigureKind;
use wayhop_report::View;

use crate::failure::Failure;
use crate::scenario_args::{number, whole};

pub(crate) const EXAMPLES: &str = "\
KIND selects the figure. Each RUN is a run directory, or a folder of run directories that differ only in their seeds:
  delivery    share of packets that arrive, over time
  throughput  kb/s received, over time
  latency     median and 95th percentile of the latency, over time
  cdf         latency of all packets, as a cumulative distribution
  losses      share of packets lost, by cause
  hops        hop counts of delivered packets
  overhead    messages of the routing protocol, by type
  searches    durations of route searches
  sequence    bytes sent and acknowledged by TCP senders (flows and real programs)
Several KINDs separated by commas, such as delivery,overhead, are drawn below each other.

For the folder of a sweep:
  sweep       means along one of its axes (the default KIND)
  differences paired differences (same seed) to the first value of --by or --x

Intervals are 95 %. The figure is 88 mm wide, one column of a paper, or --width-mm; its data is written beside it as CSV.

Examples:
  wayhop plot cdf runs/first-dsr-1 runs/first-aodv-1 --out latency.pdf
  wayhop plot losses runs/dsr runs/aodv --out losses.png --label dsr=DSR --label aodv=AODV
  wayhop plot delivery,latency runs/dsr runs/aodv --width-mm 180 --out times.pdf
  wayhop plot cdf runs/dsr runs/aodv --of sent
  wayhop plot sequence runs/ftp --x-range 10..12
  wayhop sweep first.toml --vary nodes.count=20,30,50 --vary protocol.name=dsr,aodv --seeds 10
  wayhop plot sweep runs/sweep-first --x nodes.count --y delivery_ratio --by protocol.name
  wayhop plot runs/sweep-first --x nodes.count --y delivery_ratio --y normalised_routing_load
  wayhop plot runs/sweep-first --x nodes.count --y latency_ms.p95 --log-y --y-range 1..1000
  wayhop plot differences runs/sweep-first --x nodes.count --y latency_ms.p95 --by protocol.name
  wayhop plot runs/sweep-first --x protocol.name --y latency_ms.p95 --only nodes.count=50";

#[derive(Debug, clap::Args)]
#[command(
    override_usage = "wayhop plot [OPTIONS] KIND RUN...\n       wayhop plot [OPTIONS] [sweep|differences] DIR"
)]
pub(crate) struct PlotArgs {
    /// Kind of figure, and the runs or the sweep to draw
    #[arg(required = true, value_names = ["KIND", "RUN"], num_args = 1..)]
    pub(crate) what: Vec<PathBuf>,
    /// File to write: .svg, .png or .pdf, or - for SVG on standard output. Default: KIND.svg in the run's directory (here for
    /// several runs), and DIR/FIGURE-AXIS.svg for a sweep
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Width of a PNG, 16 to 20000 pixels
    #[arg(long, value_name = "PIXELS", default_value_t = 1280, value_parser = whole(16..=20_000_u32), allow_negative_numbers = true)]
    pub(crate) width: u32,
    /// Width of the figure, 40 to 400 mm; the font size stays the same
    #[arg(long, value_name = "MM", default_value_t = COLUMN_MM, value_parser = millimetres, allow_negative_numbers = true)]
    pub(crate) width_mm: f64,
    /// Leave the caption out of the figure; it is still printed
    #[arg(long)]
    pub(crate) no_caption: bool,
    /// Range of the horizontal axis; the time window for delivery, latency and sequence
    #[arg(long, value_name = "LOW..HIGH", value_parser = range, allow_hyphen_values = true)]
    pub(crate) x_range: Option<[f64; 2]>,
    /// Range of the vertical axis; repeat for each further plot
    #[arg(long, value_name = "LOW..HIGH", value_parser = range, allow_hyphen_values = true)]
    pub(crate) y_range: Vec<[f64; 2]>,
    /// Use logarithmic vertical axes
    #[arg(long)]
    pub(crate) log_y: bool,
    /// Rename a series in the legend, such as dsr=DSR (repeatable)
    #[arg(long, value_name = "SERIES=TEXT", value_parser = label)]
    pub(crate) label: Vec<(String, String)>,
    /// Packets that count as 100 % in cdf
    #[arg(long, value_name = "PACKETS")]
    pub(crate) of: Option<Packets>,
    #[command(flatten)]
    pub(crate) sweep: SweepOptions,
}

/// Options for figures of sweeps.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of sweep and differences")]
pub(crate) struct SweepOptions {
    /// Axis of the sweep to draw horizontally, by its name or the key that it varies. Default: the first one not used
    /// otherwise. Numbers are drawn to scale, other values side by side
    #[arg(long, value_name = "AXIS")]
    pub(crate) x: Option<String>,
    /// Figure to draw vertically, named as in the summary of `wayhop run --json`: delivery_ratio, goodput_bps, latency_ms.mean,
    /// normalised_routing_load, ... Default: the plan's first. Repeat for further plots below
    #[arg(long, value_name = "FIGURE")]
    pub(crate) y: Vec<String>,
    /// Axis whose values become series
    #[arg(long, value_name = "AXIS")]
    pub(crate) by: Option<String>,
    /// Draw only runs with this value of an axis (repeatable)
    #[arg(long, value_name = "AXIS=VALUE", value_parser = only)]
    pub(crate) only: Vec<(String, String)>,
    /// Label of the horizontal axis
    #[arg(long, value_name = "TEXT")]
    pub(crate) x_label: Option<String>,
    /// Label of the vertical axis; repeat for each further plot
    #[arg(long, value_name = "TEXT")]
    pub(crate) y_label: Vec<String>,
}

/// Packets that count as 100 %.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Packets {
    /// Packets that arrived
    Arrived,
    /// Packets that were sent: a line ends at the share that arrived
    Sent,
}

/// A column of a paper.
pub(super) const COLUMN_MM: f64 = 88.0;

fn millimetres(text: &str) -> Result<f64, String> {
    number(text, 40.0..=400.0, "give a number from 40 to 400")
}

fn range(text: &str) -> Result<[f64; 2], String> {
    let number = |t: &str| t.trim().parse::<f64>().ok().filter(|v| v.abs() <= 1e12);
    let ends = text.split_once("..").and_then(|(a, b)| Some([number(a)?, number(b)?]));
    ends.filter(|[low, high]| low < high)
        .ok_or_else(|| "give two numbers, the lower one first, such as 0..900".to_owned())
}

fn label(text: &str) -> Result<(String, String), String> {
    let (name, words) = text.split_once('=').ok_or("give a series and its label: NAME=LABEL")?;
    Ok((name.trim().to_owned(), words.trim().to_owned()))
}

fn only(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').ok_or("give an axis and its value, such as nodes.count=20")?;
    Ok((parts.0.trim().to_owned(), parts.1.trim().to_owned()))
}

impl SweepOptions {
    fn given(&self) -> Option<&'static str> {
        let all = [
            ("--x", self.x.is_some()),
            ("--y", !self.y.is_empty()),
            ("--by", self.by.is_some()),
            ("--only", !self.only.is_empty()),
            ("--x-label", self.x_label.is_some()),
            ("--y-label", !self.y_label.is_empty()),
        ];
        all.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}

/// What to draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PlotSubject {
    /// Figures of runs.
    Runs(Vec<FigureKind>),
    /// Means of a sweep.
    Sweep,
    /// Differences of a sweep.
    Differences,
}

impl PlotArgs {
    /// What to draw, and the runs or the sweep. A single word is the folder of a sweep.
    pub(crate) fn subject(&self) -> Result<(PlotSubject, &[PathBuf]), Failure> {
        let usage = |m: String| Err(Failure::Usage(m));
        let (first, rest) = self.what.split_first().unwrap_or_else(|| unreachable!("clap asks for one"));
        let word = first.to_string_lossy();
        let what = match &*word {
            "sweep" => Some(PlotSubject::Sweep),
            "differences" => Some(PlotSubject::Differences),
            names => names.split(',').map(FigureKind::named).collect::<Option<_>>().map(PlotSubject::Runs),
        };
        let (what, of) = match what {
            Some(what) if !rest.is_empty() => (what, rest),
            Some(_) if !first.is_dir() => {
                return usage(format!("{word} needs a RUN or the folder of a sweep: wayhop plot {word} RUN"));
            }
            None if !rest.is_empty() || !first.exists() => {
                let names = FigureKind::ALL.map(FigureKind::name).join(", ");
                let folder = if rest.is_empty() { ", and no folder" } else { "" };
                let kinds = format!("give {names}, sweep or differences");
                return usage(format!("{word}: no such kind of figure{folder}; {kinds}"));
            }
            _ => (PlotSubject::Sweep, self.what.as_slice()),
        };
        match what {
            PlotSubject::Sweep | PlotSubject::Differences if of.len() > 1 => {
                usage("give one folder of a sweep".to_owned())
            }
            PlotSubject::Runs(_) if self.sweep.given().is_some() => {
                let option = self.sweep.given().unwrap_or_default();
                usage(format!("{option} applies only to figures of sweeps, not to {word}"))
            }
            _ if self.of.is_some()
                && !matches!(&what, PlotSubject::Runs(kinds) if kinds.contains(&FigureKind::Cdf)) =>
            {
                usage("--of applies only to cdf: wayhop plot cdf RUN... --of sent".to_owned())
            }
            _ => Ok((what, of)),
        }
    }

    pub(super) fn view(&self) -> View {
        View {
            x_range: self.x_range,
            y_ranges: self.y_range.clone(),
            log_y: self.log_y,
            labels: self.label.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_and_widths_are_numbers_in_order() {
        assert_eq!(range("0..900"), Ok([0.0, 900.0]));
        assert_eq!(range("-1.5 .. 1e3"), Ok([-1.5, 1000.0]));
        for wrong in ["", "1", "2..1", "1..1", "a..2", "0..inf", "nan..1", "0...5.."] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
        assert_eq!(millimetres("180"), Ok(180.0));
        assert!(["0", "-88", "1e9", "nan", "wide"].iter().all(|w| millimetres(w).is_err()));
        assert_eq!(label("dsr=DSR = 2"), Ok(("dsr".to_owned(), "DSR = 2".to_owned())));
    }
}
