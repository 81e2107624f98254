//! The arguments of `wayhop merge`.

use std::path::PathBuf;

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
The nodes' clocks need not agree: they are aligned by frames that several nodes recorded. The table shows for each node its clock's \
offset from the merged run at its start and its drift, with standard errors; the largest possible error of its times, since no frame \
is received before it is sent; and the numbers of frames and outliers. See docs/concepts/merge.md.

Examples:
  wayhop merge runs/node-1 runs/node-2 runs/node-3 --out runs/walk
  wayhop lab scenarios/chain.toml --node-runs --out runs/lab
  wayhop merge runs/lab/nodes/* --out runs/merged
  wayhop compare runs/lab runs/merged
  wayhop run scenarios/chain.toml --identities --out runs/chain
  wayhop export nodes runs/chain --out runs/nodes --clock left=2.5,40 --clock 3=0.1,-25";

#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// Run directories of single nodes of one experiment, from `wayhop node`, `wayhop lab --node-runs` or `wayhop export nodes`
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// Run directory to write; replaces an older run there
    #[arg(long, value_name = "DIR")]
    pub(crate) out: PathBuf,
    /// Node whose clock becomes the common clock: its name or address. Default: the node of the first RUN
    #[arg(long, value_name = "NODE")]
    pub(crate) reference: Option<String>,
    /// Leave out nodes that share no frames with the others, instead of failing
    #[arg(long)]
    pub(crate) leave_apart: bool,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no table
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
