//! The arguments of `wayhop topology`, and those of a run about its geometry.

use std::path::PathBuf;

use crate::chains::MeasureArgs;
use crate::scenario_args::{SourceArgs, metres};

pub(crate) const EXAMPLES: &str = "\
Two nodes are linked while their distance is below the range. A path change is counted when the shortest hop count changes, or \
when the last shortest path that existed since the previous change breaks. See docs/concepts/topology.md.

Examples:
  wayhop topology scenarios/first.toml
  wayhop topology scenarios/holland-vaidya/pattern.toml --measure-chains chains.csv
  wayhop topology --movement scenarios/ns2/s1.pause0.tcl --src 1 --dst 2 --chains chains.csv
  wayhop topology scenarios/first.toml --csv=profile";

/// Assumptions about the geometry.
#[derive(Debug, clap::Args)]
pub(crate) struct GeometryArgs {
    /// Range of the nodes, in metres. Default: the range of the scenario's radio without fading
    #[arg(long, value_name = "M", value_parser = metres, allow_negative_numbers = true)]
    pub(crate) range: Option<f64>,
    /// CSV file (hops,kbps) with the throughput of chains of 1, 2, ... hops, for the expected throughput
    #[arg(long, value_name = "FILE")]
    pub(crate) chains: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TopologyArgs {
    #[command(flatten)]
    pub(crate) source: SourceArgs,
    /// Source node (number or name) of the paths, instead of the scenario's flows
    #[arg(long, value_name = "NODE", requires = "dst")]
    pub(crate) src: Option<String>,
    /// Destination node of the paths
    #[arg(long, value_name = "NODE", requires = "src")]
    pub(crate) dst: Option<String>,
    #[command(flatten)]
    pub(crate) geometry: GeometryArgs,
    #[command(flatten)]
    pub(super) measure: MeasureArgs,
    /// Print one JSON object
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print a table as CSV: flows, hop counts over time (profile), links with their lifetimes, or nodes
    #[arg(long, value_name = "TABLE", num_args = 0..=1, require_equals = true, default_missing_value = "flows")]
    pub(crate) csv: Option<CsvTable>,
}

/// What `--csv` prints.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum CsvTable {
    /// One line per flow
    Flows,
    /// One line per interval between path changes
    Profile,
    /// One line per link, from its appearance to its end
    Links,
    /// One line per node
    Nodes,
}
