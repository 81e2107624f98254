//! The arguments of `wayhop lab`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::record::RecordArgs;
use crate::scenario_args::{SourceArgs, metres};

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
Requires root and the Debian packages iproute2 and nftables. The nodes are Ethernet hosts without a radio model: a link is \
either up or down. Nodes reach each other as mesh-0, mesh-1, ... A COMMAND gets the terminal, and the run ends when it exits.

Examples:
  wayhop lab scenarios/chain.toml --protocol aodv
  wayhop lab scenarios/chain.toml --node 0 -- ping -c 5 mesh-4
  wayhop lab scenarios/chain.toml --duration 60             and in another terminal:
  wayhop ctl --run chain link 1 2 down
  wayhop export macfilter scenarios/first.toml --out walk.macfilter
  wayhop lab scenarios/first.toml --macfilter walk.macfilter --captures";

#[derive(Debug, clap::Args)]
pub(crate) struct LabArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// MAC filter file: which nodes ignore whose frames, and when (see `wayhop export macfilter`). Default: nodes beyond --range
    #[arg(long, value_name = "FILE", conflicts_with = "range")]
    pub(crate) macfilter: Option<PathBuf>,
    /// Range of all radios, in metres. Default: each radio's range in free space over flat ground
    #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
    pub(crate) range: Option<f64>,
    /// Run directory; replaces an older run there. Default: runs/SCENARIO-PROTOCOL-SEED, with -emulation, -lab, -2, -3, ...
    /// added if that holds a run of another mode or with other settings
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write no run directory
    #[arg(long, conflicts_with_all = ["out", "captures"])]
    pub(crate) no_out: bool,
    /// Write DIR/captures/NODE.pcapng for each node
    #[arg(long)]
    pub(crate) captures: bool,
    /// Have each node's daemon write its own run directory, DIR/nodes/NODE, as in the field, for `wayhop merge`
    #[arg(long, conflicts_with = "no_out")]
    pub(crate) node_runs: bool,
    /// Rejected in a lab, with the reason
    #[arg(long, value_name = "NODE", num_args = 0.., hide = true)]
    pub(crate) receptions: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) record: RecordArgs,
    /// Print the summary as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress, warnings or table
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// Node that runs COMMAND: its number, mesh-N, or its name
    #[arg(long, value_name = "NODE", requires = "command")]
    pub(crate) node: Option<String>,
    /// Run the scenario's programs unconfined, with your rights to all files; only for scenarios you have read
    #[arg(long)]
    pub(crate) trust: bool,
    /// Command to run in the node once the mesh is up, with your rights; the run ends with it and returns its exit status
    #[arg(last = true, value_name = "COMMAND", requires = "node")]
    pub(crate) command: Vec<OsString>,
}
