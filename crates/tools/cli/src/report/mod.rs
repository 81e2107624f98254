//! `wayhop report`: a page on one run, on several, or on a sweep.

mod args;
#[cfg(feature = "studio")]
mod replay;
mod runs;
mod sweep;

use std::path::{Path, PathBuf};

use wayhop_sweep::made;

use crate::failure::{Failure, out, put, usage};
use crate::whole::write_whole;

pub(crate) use args::{EXAMPLES, ReportArgs};

pub(crate) fn report(a: &ReportArgs) -> Result<(), Failure> {
    check_ending(a.out.as_deref())?;
    #[cfg(feature = "studio")]
    let with_replay = a.replay;
    #[cfg(not(feature = "studio"))]
    let with_replay = false;
    let html = match &a.of[..] {
        [dir] if varies(dir)? => {
            if with_replay {
                return Err(usage!("{dir}: --replay does not work for a sweep; give one of the runs in {dir}/runs",
                    dir = dir.display()));
            }
            sweep::page(dir, a)?
        }
        of => {
            for dir in of {
                if !varies(dir)? {
                    continue;
                }
                let dir = dir.display();
                return Err(usage!("{dir}: a sweep cannot be combined with other runs; give it alone, or its runs in {dir}/runs"));
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
        return put(&html);
    }
    let default = || match &a.of[..] {
        [one] => one.join("report.html"),
        _ => PathBuf::from("report.html"),
    };
    let path = a.out.clone().unwrap_or_else(default);
    write_whole(&path, html.as_bytes())?;
    out!("saved in {}", path.display())
}

/// Rejects another file type before anything is read.
fn check_ending(out: Option<&Path>) -> Result<(), Failure> {
    let Some(ending) = out.and_then(Path::extension) else { return Ok(()) };
    if ["html", "htm"].iter().any(|e| ending == *e) {
        return Ok(());
    }
    let out = out.unwrap_or(Path::new("")).display();
    Err(usage!(
        "--out {out}: a report is an HTML page; give a name that ends in .html, and print it from a browser for PDF"
    ))
}

/// Whether a folder holds a sweep over more than seeds.
fn varies(dir: &Path) -> Result<bool, Failure> {
    Ok(made(dir)?.is_some_and(|m| m.values.iter().any(|values| values.len() > 1)))
}
