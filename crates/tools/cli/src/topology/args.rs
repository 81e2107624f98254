//! The arguments of `wayhop topology`, and those of a run about its geometry.

use std::path::PathBuf;

use crate::chains::MeasureArgs;
use crate::scenario_args::{SourceArgs, metres};

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
Two nodes are linked while they are nearer than the range. A path change is counted when the shortest hop count changes, \
or when no shortest path is left that stood all the time since the last one (docs/concepts/topology.md).

Examples:
  wayhop topology scenarios/first.toml
  wayhop topology scenarios/holland-vaidya/pattern.toml --measure-chains chains.csv
  wayhop topology --movement scenarios/ns2/s1.pause0.tcl --src 1 --dst 2 --chains chains.csv
  wayhop topology scenarios/first.toml --csv=profile";

/// What the geometry is judged by.
#[derive(Debug, clap::Args)]
pub(crate) struct GeometryArgs {
    /// How far nodes reach each other, metres; without it, as far as the scenario's radio does without fading
    #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
    pub(crate) range: Option<f64>,
    /// What chains of 1, 2, ... hops carry (CSV: hops,kbps), for the expected throughput
    #[arg(long, value_name = "FILE")]
    pub(crate) chains: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TopologyArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Look at paths from this node (its number or name) in the place of the scenario's flows
    #[arg(long, value_name = "NODE", requires = "dst")]
    pub(crate) src: Option<String>,
    /// To this node
    #[arg(long, value_name = "NODE", requires = "src")]
    pub(crate) dst: Option<String>,
    #[command(flatten)]
    pub(crate) geometry: GeometryArgs,
    #[command(flatten)]
    pub(super) measure: MeasureArgs,
    /// Print one JSON object
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print a table as CSV: flows, the profile of hops over time, links from beginning to end, or nodes
    #[arg(long, value_name = "TABLE", num_args = 0..=1, require_equals = true, default_missing_value = "flows")]
    pub(crate) csv: Option<Table>,
}

/// What `--csv` prints.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Table {
    /// One line a flow
    Flows,
    /// One line for each time between path changes
    Profile,
    /// One line a link, from the moment it comes to the one it goes
    Links,
    /// One line a node
    Nodes,
}
