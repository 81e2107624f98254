//! The arguments of `wayhop run`, which other worlds share.

use std::path::PathBuf;

use wayhop_sweep::Seeds;

use crate::record::{ReceptionArgs, RecordArgs};
#[cfg(feature = "linux")]
use crate::scenario_args::number;
use crate::scenario_args::{SourceArgs, whole};
use crate::topology::args::GeometryArgs;

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
    /// Run directory; replaces an older run there. Default: runs/SCENARIO-PROTOCOL-SEED, with -emulation, -lab, -2, -3, ...
    /// added if that holds a run of another mode or with other settings
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write no run directory
    #[arg(long, conflicts_with_all = ["out", "captures", "ns2_trace"])]
    pub(crate) no_out: bool,
    /// Write DIR/captures/NODE.pcapng for each node
    #[arg(long)]
    pub(crate) captures: bool,
    /// Write DIR/trace.tr, in ns-2's old wireless format
    #[arg(long)]
    pub(crate) ns2_trace: bool,
    #[command(flatten)]
    pub(crate) receptions: ReceptionArgs,
    /// Record packet identities in the table `identities`, which `wayhop export nodes` and `wayhop import run` need
    #[arg(long, conflicts_with = "no_out")]
    pub(crate) identities: bool,
    #[command(flatten)]
    pub(crate) record: RecordArgs,
    /// Add to the summary what the geometry allowed each flow: shortest hops, path changes, partitions
    #[arg(long)]
    pub(crate) topology: bool,
    #[command(flatten)]
    pub(crate) geometry: GeometryArgs,
    /// Print every setting with its origin and the estimated time and memory, without running
    #[arg(long)]
    pub(crate) check: bool,
    /// Print the summary as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress, warnings or table
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunCommand {
    #[command(flatten)]
    pub(crate) run: RunArgs,
    /// Simulate with several seeds on all processors, and print means with 95 % intervals. A count (10 means seeds 1 to 10), a
    /// range (3..12) or a list (1,4,9). DIR becomes a sweep directory (default: runs/SCENARIO-PROTOCOL-seeds) with the run
    /// directories DIR/runs/seed-N
    #[arg(long, value_name = "SEEDS", value_parser = Seeds::parse, allow_hyphen_values = true)]
    pub(crate) seeds: Option<Seeds>,
    /// With --seeds: number of runs at a time. Default: the number of processors
    #[arg(long, value_name = "N", requires = "seeds", value_parser = whole(1..=1024_u32), allow_negative_numbers = true)]
    pub(crate) jobs: Option<u32>,
    /// With --seeds: figure to summarise, such as delivery_ratio or flows.0.latency_ms.p95 (repeatable). Default: all totals
    #[arg(long = "metric", value_name = "FIGURE", requires = "seeds")]
    pub(crate) metrics: Vec<String>,
    /// Number of threads that simulate one network of some thousand nodes or more. The medium and the event queue stay with one of
    /// them, so more than the processors, or than a few, gain nothing. The run is the same with any number
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with_all = ["seeds", "record_inputs"], value_parser = whole(1..=64_u32), allow_negative_numbers = true)]
    pub(crate) threads: u32,
    /// Pace the simulation at SPEED simulated seconds per second, such as 1 or 10, and open a control socket, with which
    /// `wayhop studio --live` and `wayhop ctl` follow the run, move its nodes and take them down
    #[cfg(feature = "linux")]
    #[arg(long, value_name = "SPEED", value_parser = speed, conflicts_with_all = ["seeds", "threads"], allow_negative_numbers = true)]
    pub(crate) pace: Option<f64>,
}

/// Simulated seconds per second.
#[cfg(feature = "linux")]
fn speed(text: &str) -> Result<f64, String> {
    let remedy = "give simulated seconds per second, from 0.001 to 1000000, such as 10";
    number(text, 0.001..=1e6, remedy)
}
