//! `wayhop report`: one page of a run, of several side by side, or of a sweep.

mod command;
#[cfg(feature = "studio")]
mod replay;
mod runs;
mod sweep;

use std::fs;
use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use wayhop_sweep::made;

use crate::failure::{Failure, output};

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

pub(crate) fn report(a: &ReportArgs) -> Result<ExitCode, Failure> {
    #[cfg(feature = "studio")]
    let with_replay = a.replay;
    #[cfg(not(feature = "studio"))]
    let with_replay = false;
    let html = match &a.of[..] {
        [dir] if varies(dir)? => {
            if with_replay {
                return Err(Failure::Usage(format!(
                    "{dir}: a sweep has no replay; name one of the runs in {dir}/runs",
                    dir = dir.display()
                )));
            }
            sweep::page(dir)?
        }
        of => {
            for dir in of {
                if !varies(dir)? {
                    continue;
                }
                let dir = dir.display();
                return Err(Failure::Usage(format!(
                    "{dir}: a sweep stands alone; give its runs in {dir}/runs, or it only"
                )));
            }
            let page = runs::page(of)?;
            #[cfg(feature = "studio")]
            let page = if with_replay { replay::before(page, of)? } else { page };
            page
        }
    }
    .html()
    .map_err(Failure::Run)?;
    if a.out.as_deref().is_some_and(|out| out.as_os_str() == "-") {
        output(stdout().write_all(html.as_bytes()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let default = || match &a.of[..] {
        [one] => one.join("report.html"),
        _ => PathBuf::from("report.html"),
    };
    let path = a.out.clone().unwrap_or_else(default);
    fs::write(&path, html).map_err(Failure::write(&path))?;
    output(writeln!(stdout(), "saved in {}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a folder holds a sweep over more than seeds. Runs that differ in their seeds only stand for one.
fn varies(dir: &Path) -> Result<bool, Failure> {
    Ok(made(dir)?.is_some_and(|m| m.values.iter().any(|values| values.len() > 1)))
}
