//! The arguments of `wayhop compare`.

use std::path::PathBuf;

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
Each RUN is a run directory, or a folder of run directories that differ in their seeds only: then its figures are their \
means. Differences are to the first RUN, of pairs with the same seed if both sides have the same seeds, else of the means with Welch's \
interval. Intervals are of 95 %, and a * marks one of at least five runs that leaves out zero. (3 of 10) says that only 3 of the 10 \
runs have the figure: where nothing arrived there is no latency.

Examples:
  wayhop compare runs/chain-sim runs/chain-emulated runs/chain-lab
  wayhop compare runs/dsr runs/aodv --html comparison.html
  wayhop compare runs/simulated runs/emulated --json           20 seeds in the folder simulated";

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// Run directories, or folders of them; the first is what the others are compared with
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// List the figures of each flow below the totals, if all runs have the same flows; --json and --html always do
    #[arg(long)]
    pub(crate) flows: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page with figures and the table
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}
