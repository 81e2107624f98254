//! The options of `wayhop report`.

use std::path::PathBuf;

use wayhop_report::shell_word;

pub(crate) const EXAMPLES: &str = "\
Each RUN is a run directory, or a folder of run directories that differ only in their seeds; SWEEP is the folder of a sweep's results. \
The page works offline in any browser, light or dark, and prints. `wayhop plot` draws its figures one by one. With --replay the page \
includes the studio's player for each run: map, links, packets, timeline.

Examples:
  wayhop report runs/first-dsr-1
  wayhop report runs/dsr runs/aodv --out comparison.html
  wayhop report runs/first-dsr-1 --replay
  wayhop report runs/sweep-first";

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// Run directories, folders of them, or the folder of one sweep
    #[arg(required = true, num_args = 1.., value_name = "RUN")]
    pub(crate) of: Vec<PathBuf>,
    /// File to write, or - for standard output. Default: report.html in the RUN or SWEEP, or here for several runs
    #[arg(long, value_name = "FILE.html")]
    pub(crate) out: Option<PathBuf>,
    /// Include a replay of each run, with up to 262,144 packet events
    #[cfg(feature = "studio")]
    #[arg(long)]
    pub(crate) replay: bool,
}

impl ReportArgs {
    /// The shell command that writes the page again.
    pub(super) fn command(&self) -> String {
        let mut words = vec!["wayhop report".to_owned()];
        let quoted = |path: &PathBuf| shell_word(&path.display().to_string());
        words.extend(self.of.iter().map(quoted));
        #[cfg(feature = "studio")]
        if self.replay {
            words.push("--replay".to_owned());
        }
        if let Some(out) = &self.out {
            words.extend(["--out".to_owned(), quoted(out)]);
        }
        words.join(" ")
    }
}
