//! The options of `wayhop report`.

use std::path::PathBuf;

/// Examples for the help.
pub(crate) const EXAMPLES: &str = "\
Each RUN is a run directory, or a folder of run directories that differ in their seeds and stand for one; SWEEP is the folder of a \
sweep's results. The page needs nothing but a browser, is light or dark as its reader's system is, and prints. `wayhop plot` makes its \
figures one by one. With --replay the page holds the studio's player with each run: map, links, packets, timeline.

Examples:
  wayhop report runs/first-dsr-1
  wayhop report runs/dsr runs/aodv --out comparison.html
  wayhop report runs/first-dsr-1 --replay
  wayhop report runs/sweep-first";

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Run directories, folders of them, or one folder of a sweep
    #[arg(required = true, num_args = 1.., value_name = "RUN")]
    pub(crate) of: Vec<PathBuf>,
    /// File to write, or - for standard output; without it report.html in the RUN or SWEEP, or here for several
    #[arg(long, value_name = "FILE.html")]
    pub(crate) out: Option<PathBuf>,
    /// Include a replay of each run, of at most 262,144 events of packets
    #[cfg(feature = "studio")]
    #[arg(long)]
    pub(crate) replay: bool,
}
