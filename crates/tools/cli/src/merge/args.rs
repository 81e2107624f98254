//! The arguments of `wayhop merge`.

use std::path::PathBuf;

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
The clocks of the nodes need not agree: they are set by frames that several nodes know of. What is printed of each node: by how \
much its clock is ahead of the merged run's at its start, and drifts; standard errors of both; by how much its times can be wrong at most, \
since no frame is received before it is sent; the frames, and those far off. docs/concepts/merge.md says more.

Examples:
  wayhop merge runs/node-1 runs/node-2 runs/node-3 --out runs/walk
  wayhop lab scenarios/chain.toml --node-runs --out runs/lab
  wayhop merge runs/lab/nodes/* --out runs/merged
  wayhop compare runs/lab runs/merged
  wayhop run scenarios/chain.toml --identities --out runs/chain
  wayhop export nodes runs/chain --out runs/nodes --clock left=2.5,40 --clock 3=0.1,-25";

#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// Run directories of single nodes, of one experiment: those of `wayhop node`, of `wayhop lab --node-runs`, of `wayhop export
    /// nodes`
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// Run directory to write, in which an older run is replaced
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// The node whose clock the times count by: its name or its address; without it, that of the first RUN
    #[arg(long, value_name = "NODE")]
    pub(crate) reference: Option<String>,
    /// Leave out nodes that share no frame with the others, in place of refusing
    #[arg(long)]
    pub(crate) leave_apart: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// No table
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
