//! The arguments of `wayhop lab`.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::record::RecordArgs;
use crate::scenario_args::{SourceArgs, metres};

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
Needs root, and Debian's packages iproute2 and nftables. The nodes are Ethernet hosts: there is no radio model, and links \
work or do not. Programs in the nodes know each other as mesh-0, mesh-1, ... With a COMMAND, which has the terminal, the \
run ends when that does.

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
    /// Who ignores whose frames, when (`wayhop export macfilter` writes such a file); without it, those out of --range
    #[arg(long, value_name = "FILE", conflicts_with = "range")]
    pub(crate) macfilter: Option<PathBuf>,
    /// How far nodes hear each other, metres, on all radios; without it, as far as each radio reaches in free space and over
    /// flat ground
    #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
    pub(crate) range: Option<f64>,
    /// Run directory, in which an older run is replaced; without it runs/SCENARIO-PROTOCOL-SEED, and in another world or with
    /// other settings than an older run's another name: with -emulation, -lab, -2, -3, ...
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Write no run directory
    #[arg(long, conflicts_with_all = ["out", "captures"])]
    pub(crate) no_out: bool,
    /// Write DIR/captures/NODE.pcapng for every node
    #[arg(long)]
    pub(crate) captures: bool,
    /// Have each node's daemon write a run directory of its own, DIR/nodes/NODE, as in the field: for `wayhop merge`
    #[arg(long, conflicts_with = "no_out")]
    pub(crate) node_runs: bool,
    /// Not in a lab: says why
    #[arg(long, value_name = "NODE", num_args = 0.., hide = true)]
    pub(crate) receptions: Option<Vec<String>>,
    #[command(flatten)]
    pub(crate) record: RecordArgs,
    /// Print the summary as one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// No progress, no warnings, no table
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The node in which COMMAND runs: its number, mesh-N, or its name
    #[arg(long, value_name = "NODE", requires = "command")]
    pub(crate) node: Option<String>,
    /// Run the scenario's programs with all rights of who starts this, on all files: for scenarios whose programs you have read
    #[arg(long)]
    pub(crate) trust: bool,
    /// A command to run in the node once the mesh is up, with your rights; the run ends with it, and with its exit status
    #[arg(last = true, value_name = "COMMAND", requires = "node")]
    pub(crate) command: Vec<OsString>,
}
