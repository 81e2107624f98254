//! `wayhop merge`.

mod args;

use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use wayhop_core::version;
use wayhop_merge::{Error, MergeReport, Options};
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{Manifest, RunDir, human_table};

use crate::failure::{Failure, output, warn};
use crate::recover::say_how_it_ended;

pub(crate) use args::{EXAMPLES, MergeArgs};

pub(crate) fn merge(a: &MergeArgs) -> Result<ExitCode, Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let name = a.out.file_name().map_or_else(|| "merged".to_owned(), |n| n.to_string_lossy().into_owned());
    let options = Options {
        reference: a.reference.clone(),
        leave_apart: a.leave_apart,
        command: std::env::args().map(|a| wayhop_scenario::without_keys(&a)).collect(),
        now_unix_s: now,
        name,
    };
    let runs = a.runs.iter().filter_map(|path| RunDir::open(path, CLASSIFIER).ok());
    let runs: Vec<RunDir> = runs.filter(|r| !r.is_under_way()).collect();
    runs.iter().for_each(say_how_it_ended);
    let manifests: Vec<Manifest> = runs.iter().filter_map(|r| r.manifest().ok()).collect();
    if let Some(different) = version::different(manifests.iter().map(|m| m.wayhop.as_str())) {
        warn([&format!("the nodes ran different versions: {different}")]);
    }
    let report = wayhop_merge::merge(&a.runs, &a.out, &options, CLASSIFIER).map_err(merge_failure)?;
    let text = if a.json {
        format!("{}\n", serde_json::to_string(&report).map_err(Failure::run)?)
    } else if a.quiet {
        String::new()
    } else {
        as_text(&report, &a.out.display().to_string())
    };
    output(stdout().write_all(text.as_bytes()))?;
    Ok(ExitCode::SUCCESS)
}

/// Runs that cannot be merged are a usage error; system errors are not.
pub(crate) fn merge_failure(e: Error) -> Failure {
    match e {
        Error::Unfit(what) => Failure::Usage(what),
        Error::Trace(e) => Failure::trace(e),
    }
}

fn as_text(r: &MergeReport, out: &str) -> String {
    let mut text = format!("clocks relative to {}:\n{}\n", r.reference, r.clocks_text());
    let _ = writeln!(
        text,
        "packets    {}, {} of them recorded by several nodes; {} receptions of frames that none of these nodes sent, {} \
         before they were sent",
        r.packets, r.shared_packets, r.strange_receptions, r.early_receptions
    );
    if r.packets_elsewhere > 0 {
        let _ = writeln!(
            text,
            "           {} packets of programs to other nodes, not counted in any flow",
            r.packets_elsewhere
        );
    }
    if r.lost_rows > 0 {
        let _ = writeln!(text, "           {} rows were lost: the nodes' disks were too slow", r.lost_rows);
    }
    if !r.left_apart.is_empty() {
        let _ = writeln!(text, "left out   {}: no frames in common with the others", r.left_apart.join(", "));
    }
    let _ = write!(text, "\n{}saved in   {out}\n", human_table(&r.summary));
    text
}
