//! `wayhop merge`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use wayhop_core::version;
use wayhop_merge::{Error, MergeReport, Options};
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{Manifest, RunDir, human_table};

use crate::failure::{Failure, json_line, put, warn};
use crate::recover::say_how_it_ended;

pub(crate) const EXAMPLES: &str = "\
The nodes' clocks need not agree: they are aligned by frames and packets that several nodes recorded. The table shows for each node its clock's \
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
    runs: Vec<PathBuf>,
    /// Run directory to write; replaces an older run there
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Node whose clock becomes the common clock: its name or address. Default: the node of the first RUN
    #[arg(long, value_name = "NODE")]
    reference: Option<String>,
    /// Leave out nodes that share no frames or packets with the others, instead of failing
    #[arg(long)]
    leave_apart: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print no table
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn merge(a: &MergeArgs) -> Result<(), Failure> {
    let now_unix_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let name = a.out.file_name().map_or_else(|| "merged".to_owned(), |n| n.to_string_lossy().into_owned());
    let options = Options {
        reference: a.reference.clone(),
        leave_apart: a.leave_apart,
        command: std::env::args().map(|a| wayhop_scenario::without_keys(&a)).collect(),
        now_unix_s,
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
    match (a.json, a.quiet) {
        (true, _) => put(json_line(&report)?),
        (false, true) => Ok(()),
        (false, false) => put(as_text(&report, &a.out.display().to_string())),
    }
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
        "packets    {}, {} of them recorded by several nodes; {} receptions of frames that no merged node sent, {} \
         earlier than the frame was sent",
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
        let _ = writeln!(
            text,
            "left out   {}: no frames or packets in common with the others",
            r.left_apart.join(", ")
        );
    }
    let _ = write!(text, "\n{}saved in   {out}\n", human_table(&r.summary));
    text
}
