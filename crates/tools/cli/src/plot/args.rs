//! The options of `wayhop plot`.

use std::path::PathBuf;

use wayhop_figures::Kind;
use wayhop_report::View;

use crate::failure::Failure;
use crate::scenario_args::whole;

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
KIND is what is drawn of runs - each RUN a run directory, or a folder of run directories that differ in their seeds and stand for \
one -:
  delivery    the share of packets that arrive, over time
  throughput  kb/s that arrived, over time
  latency     median and 95th percentile of the latency, over time
  cdf         the latency of every packet, as a cumulative distribution
  losses      the share of packets lost, by cause
  hops        over how many hops packets came
  overhead    messages of the routing protocol, by type
  searches    how long searches for routes took
  sequence    what TCP senders, flows and real programs, had sent, and what was acknowledged
Several KINDs with commas between, such as delivery,overhead, are plots below each other.

or of the folder of a sweep:
  sweep       means over one of its axes; without a KIND, too
  differences of runs with the same seed, to the first value of --by or --x

Intervals are of 95 %. The picture is as wide as a column of a paper, 88 mm, or --width-mm; its numbers are written beside it, as CSV.

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
    /// What to draw, and of what
    #[arg(required = true, value_names = ["KIND", "RUN"], num_args = 1..)]
    pub(crate) what: Vec<PathBuf>,
    /// File to write: .svg, .png or .pdf; - for standard output, as SVG. Without it KIND.svg in the run's directory, or here for
    /// several; of a sweep DIR/FIGURE-AXIS.svg
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Pixels across a PNG
    #[arg(long, value_name = "PIXELS", default_value_t = 1280, value_parser = whole(16..=20_000_u32), allow_negative_numbers = true)]
    pub(crate) width: u32,
    /// Width of the figure in mm, with letters of the same size
    #[arg(long, value_name = "MM", default_value_t = COLUMN_MM, value_parser = millimetres, allow_negative_numbers = true)]
    pub(crate) width_mm: f64,
    /// Leave the caption, which says what means are of, out of the picture; it is printed in any case
    #[arg(long)]
    pub(crate) no_caption: bool,
    /// Ends of the horizontal axis: the window of time of delivery, latency and sequence
    #[arg(long, value_name = "LOW..HIGH", value_parser = range, allow_hyphen_values = true)]
    pub(crate) x_range: Option<[f64; 2]>,
    /// Ends of the vertical axis; given again, of the next plot's
    #[arg(long, value_name = "LOW..HIGH", value_parser = range, allow_hyphen_values = true)]
    pub(crate) y_range: Vec<[f64; 2]>,
    /// Logarithmic vertical axes
    #[arg(long)]
    pub(crate) log_y: bool,
    /// What the legend calls a series, such as dsr=DSR; may be given again
    #[arg(long, value_name = "SERIES=TEXT", value_parser = label)]
    pub(crate) label: Vec<(String, String)>,
    /// Of which packets the shares of cdf are
    #[arg(long, value_name = "PACKETS")]
    pub(crate) of: Option<Packets>,
    #[command(flatten)]
    pub(crate) sweep: SweepOptions,
}

/// Of figures of sweeps.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Options of sweep and differences")]
pub(crate) struct SweepOptions {
    /// Horizontal axis: one of the sweep's, by its name or the key that it varies; without it, the first that is left.
    /// Numbers make a scale, other values stand side by side
    #[arg(long, value_name = "AXIS")]
    pub(crate) x: Option<String>,
    /// Vertical axis: a figure as the summary of `wayhop run --json` has it, such as delivery_ratio, goodput_bps,
    /// latency_ms.mean, normalised_routing_load; without it, the plan's first. Given again, one more plot below
    #[arg(long, value_name = "FIGURE")]
    pub(crate) y: Vec<String>,
    /// An axis with a series for each of its values
    #[arg(long, value_name = "AXIS")]
    pub(crate) by: Option<String>,
    /// Draw only runs with this value of an axis; may be given again
    #[arg(long, value_name = "AXIS=VALUE", value_parser = only)]
    pub(crate) only: Vec<(String, String)>,
    /// Words at the horizontal axis
    #[arg(long, value_name = "TEXT")]
    pub(crate) x_label: Option<String>,
    /// Words at the vertical axis; given again, at the next plot's
    #[arg(long, value_name = "TEXT")]
    pub(crate) y_label: Vec<String>,
}

/// Of which packets shares are.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Packets {
    /// Those that arrived
    Arrived,
    /// All that were sent: a line ends at the share that arrived
    Sent,
}

/// A column of a paper.
pub(super) const COLUMN_MM: f64 = 88.0;

fn millimetres(text: &str) -> Result<f64, String> {
    let mm = text.parse::<f64>().ok().filter(|mm| (40.0..=400.0).contains(mm));
    mm.ok_or_else(|| "give a number from 40 to 400".to_owned())
}

fn range(text: &str) -> Result<[f64; 2], String> {
    let number = |t: &str| t.trim().parse::<f64>().ok().filter(|v| v.abs() <= 1e12);
    let ends = text.split_once("..").and_then(|(a, b)| Some([number(a)?, number(b)?]));
    ends.filter(|[low, high]| low < high)
        .ok_or_else(|| "give two numbers, the lower one first, as 0..900".to_owned())
}

fn label(text: &str) -> Result<(String, String), String> {
    let (name, words) = text.split_once('=').ok_or("give a series and its label, as NAME=LABEL")?;
    Ok((name.trim().to_owned(), words.trim().to_owned()))
}

fn only(text: &str) -> Result<(String, String), String> {
    let parts = text.split_once('=').ok_or("give an axis and its value, as nodes.count=20")?;
    Ok((parts.0.trim().to_owned(), parts.1.trim().to_owned()))
}

impl SweepOptions {
    /// The option that was given, if any was.
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

/// What is to be drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Of runs.
    Runs(Vec<Kind>),
    /// Means of a sweep.
    Sweep,
    /// Differences of a sweep.
    Differences,
}

impl PlotArgs {
    /// What is to be drawn, and of what. A single word is the folder of a sweep.
    pub(crate) fn subject(&self) -> Result<(What, &[PathBuf]), Failure> {
        let usage = |m: String| Err(Failure::Usage(m));
        let (first, rest) = self.what.split_first().unwrap_or_else(|| unreachable!("clap asks for one"));
        let word = first.to_string_lossy();
        let what = match &*word {
            "sweep" => Some(What::Sweep),
            "differences" => Some(What::Differences),
            names => names.split(',').map(Kind::named).collect::<Option<_>>().map(What::Runs),
        };
        let (what, of) = match what {
            Some(what) if !rest.is_empty() => (what, rest),
            Some(_) if !first.is_dir() => {
                return usage(format!("{word}: of what? Give a RUN, or the folder of a sweep"));
            }
            None if !rest.is_empty() || !first.exists() => {
                let names = Kind::ALL.map(Kind::name).join(", ");
                let folder = if rest.is_empty() { ", and no folder" } else { "" };
                let kinds = format!("give {names}, sweep or differences");
                return usage(format!("{word}: no such kind of figure{folder}; {kinds}"));
            }
            _ => (What::Sweep, self.what.as_slice()),
        };
        match what {
            What::Sweep | What::Differences if of.len() > 1 => usage("give one folder of a sweep".to_owned()),
            What::Runs(_) if self.sweep.given().is_some() => {
                let option = self.sweep.given().unwrap_or_default();
                usage(format!("{option} is of figures of sweeps; {word} has no such axis"))
            }
            _ if self.of.is_some() && !matches!(&what, What::Runs(kinds) if kinds.contains(&Kind::Cdf)) => {
                usage("--of is of cdf: wayhop plot cdf RUN... --of sent".to_owned())
            }
            _ => Ok((what, of)),
        }
    }

    /// What is wanted otherwise than it is drawn.
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
