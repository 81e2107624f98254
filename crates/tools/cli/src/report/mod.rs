//! `wayhop report`: a page on one run, on several, or on a sweep.

mod args;
mod command;
#[cfg(feature = "studio")]
mod replay;
mod runs;
mod sweep;

use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use wayhop_sweep::made;

use crate::failure::{Failure, output};
use crate::whole::write_whole;

pub(crate) use args::{EXAMPLES, ReportArgs};

pub(crate) fn report(a: &ReportArgs) -> Result<ExitCode, Failure> {
    #[cfg(feature = "studio")]
    let with_replay = a.replay;
    #[cfg(not(feature = "studio"))]
    let with_replay = false;
    let html = match &a.of[..] {
        [dir] if varies(dir)? => {
            if with_replay {
                return Err(Failure::Usage(format!(
                    "{dir}: --replay does not work for a sweep; give one of the runs in {dir}/runs",
                    dir = dir.display()
                )));
            }
            sweep::page(dir, a)?
        }
        of => {
            for dir in of {
                if !varies(dir)? {
                    continue;
                }
                let dir = dir.display();
                return Err(Failure::Usage(format!(
                    "{dir}: a sweep cannot be combined with other runs; give it alone, or its runs in {dir}/runs"
                )));
            }
            let page = runs::page(a)?;
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
    write_whole(&path, html.as_bytes())?;
    output(writeln!(stdout(), "saved in {}", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// Whether a folder holds a sweep over more than seeds.
fn varies(dir: &Path) -> Result<bool, Failure> {
    Ok(made(dir)?.is_some_and(|m| m.values.iter().any(|values| values.len() > 1)))
}
