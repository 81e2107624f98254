//! The arguments of `wayhop run`, which other worlds share.

use std::path::PathBuf;

use wayhop_sweep::Seeds;

use crate::record::{ReceptionArgs, RecordArgs};
#[cfg(feature = "linux")]
use crate::scenario_args::speed;
use crate::scenario_args::{SourceArgs, whole};
use crate::topology::args::GeometryArgs;

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
Examples:
  wayhop run scenarios/first.toml
  wayhop run scenarios/first.toml --seeds 10
  wayhop run scenarios/first.toml --pace 10
  wayhop run scenarios/first.toml --set protocol.name=aodv --set movement.speed_max_mps=5 --captures
  wayhop run --movement M.tcl --traffic T.tcl --protocol dsr --profile ns2 --duration 900 --json
  wayhop run scenarios/first.toml --set radio.preset=80211g --check";

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Run directory, in which an older run is replaced; without it runs/SCENARIO-PROTOCOL-SEED, and in another world or with
    /// other settings than an older run's another name: with -emulation, -lab, -2, -3, ...
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write no run directory
    #[arg(long, conflicts_with_all = ["out", "captures", "ns2_trace"])]
    pub(crate) no_out: bool,
    /// Write DIR/captures/NODE.pcapng for every node
    #[arg(long)]
    pub(crate) captures: bool,
    /// Write DIR/trace.tr, in ns-2's old wireless format
    #[arg(long)]
    pub(crate) ns2_trace: bool,
    #[command(flatten)]
    pub(crate) receptions: ReceptionArgs,
    /// Record what each packet is known by, in the table `identities`, so that `wayhop export nodes` can write what each node would
    /// have recorded by itself
    #[arg(long, conflicts_with = "no_out")]
    pub(crate) identities: bool,
    #[command(flatten)]
    pub(crate) record: RecordArgs,
    /// Say in the summary what the geometry allowed each flow: shortest hops, path changes, partitions
    #[arg(long)]
    pub(crate) topology: bool,
    #[command(flatten)]
    pub(crate) geometry: GeometryArgs,
    /// Print every value in force, where it comes from, and what time and memory a run would take; and make none
    #[arg(long)]
    pub(crate) check: bool,
    /// Print the summary as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, no warnings, no table
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunCommand {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Simulate with each of these seeds, on all processors, and print means with 95 % intervals: so many from 1 on, as 10;
    /// or 3..12; or 1,4,9. DIR is then that of a sweep, runs/SCENARIO-PROTOCOL-seeds without --out, and the run directories
    /// are DIR/runs/seed-N
    #[arg(long, value_name = "SEEDS", value_parser = Seeds::parse, allow_hyphen_values = true)]
    pub(crate) seeds: Option<Seeds>,
    /// With --seeds: runs at a time; without it, as many as there are processors
    #[arg(long, value_name = "N", requires = "seeds", value_parser = whole(1..=1024_u32), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,
    /// With --seeds: a figure to sum up, as delivery_ratio or flows.0.latency_ms.p95; may be given again. Without it, all
    /// of the totals
    #[arg(long = "metric", value_name = "FIGURE", requires = "seeds")]
    pub(crate) metrics: Vec<String>,
    /// Simulate so many seconds in a second, as 1 or 10, and answer at a control socket meanwhile: `wayhop studio --live` and
    /// `wayhop ctl` follow the run, move its nodes and take them down
    #[cfg(feature = "linux")]
    #[arg(long, value_name = "SPEED", value_parser = speed, conflicts_with = "seeds", allow_negative_numbers = true)]
    pub(crate) pace: Option<f64>,
}
