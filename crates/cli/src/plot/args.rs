//! The options of `wayhop plot`.

use std::path::PathBuf;

use wayhop_figures::Kind;

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

or of the folder of a sweep:
  sweep       means over one of its axes; without a KIND, too
  differences of runs with the same seed, to the first value of --by or --x

Intervals are of 95 %. The picture is as wide as a column of a paper, 88 mm; its numbers are written beside it, as CSV.

Examples:
  wayhop plot cdf runs/first-dsr-1 runs/first-aodv-1 --out latency.pdf
  wayhop plot losses runs/dsr runs/aodv --out losses.png
  wayhop sweep first.toml --vary nodes.count=20,30,50 --vary protocol.name=dsr,aodv --seeds 10
  wayhop plot sweep runs/sweep-first --x nodes.count --y delivery_ratio --by protocol.name
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
    /// Leave the caption, which says what means are of, out of the picture; it is printed in any case
    #[arg(long)]
    pub(crate) no_caption: bool,
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
            ("--y", self.y.is_some()),
            ("--by", self.by.is_some()),
            ("--only", !self.only.is_empty()),
            ("--x-label", self.x_label.is_some()),
            ("--y-label", self.y_label.is_some()),
        ];
        all.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }
}

/// What is to be drawn.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    /// Of runs.
    Runs(Kind),
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
            name => Kind::named(name).map(What::Runs),
        };
        let (what, of) = match what {
            Some(what) if !rest.is_empty() => (what, rest),
            Some(_) if !first.is_dir() => {
                return usage(format!("{word}: of what? Give a RUN, or the folder of a sweep"));
            }
            None if !rest.is_empty() => {
                let names = Kind::ALL.map(Kind::name).join(", ");
                return usage(format!("{word}: no such kind of figure; give {names}, sweep or differences"));
            }
            _ => (What::Sweep, self.what.as_slice()),
        };
        match what {
            What::Sweep | What::Differences if of.len() > 1 => usage("give one folder of a sweep".to_owned()),
            What::Runs(_) if self.sweep.given().is_some() => {
                let option = self.sweep.given().unwrap_or_default();
                usage(format!("{option} is of figures of sweeps; {word} has no such axis"))
            }
            _ => Ok((what, of)),
        }
    }
}
