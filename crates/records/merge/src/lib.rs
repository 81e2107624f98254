//! Merges the run directories of field nodes into one that can be read like a simulated one.
//!
//! * [`merge`] is the entry point. `input` reads the runs and rejects those that cannot be of one
//!   experiment.
//! * `frames`: frames seen by several nodes. `passages`: packets that crossed nodes whose runs are
//!   missing. `observation`: the times of one on two clocks. `steps`, `fit`, `clocks`: the
//!   resulting clocks and their errors. No common clock is assumed.
//! * `unite`: the same packet at several nodes. `flows`: programs' traffic by its ends. `fates`:
//!   the fate of each packet.
//! * `shared`: settings that all nodes' configurations share. `places`: all positions in
//!   one coordinate system. `write`: the options and the run directory.
//! * [`split`] is the inverse: a run of a whole mesh as each of its nodes would have recorded it,
//!   with clocks of its own.

mod clock;
mod clocks;
mod error;
mod fates;
mod fit;
mod flows;
mod frames;
mod input;
mod observation;
#[cfg(test)]
mod outside_tests;
mod passages;
mod places;
mod report;
mod shared;
mod split;
mod steps;
mod unite;
mod write;

use std::path::{Path, PathBuf};

use clocks::Clocks;
pub use error::Error;
use frames::{RowRef, SharedFrame, frames};
use input::{NodeRun, check_place, check_restarts, names, number, read_all};
use observation::{Observation, ObservationKind};
pub use report::{MergeReport, MergedNode};
use rustc_hash::FxHashMap;
pub use split::{ShownClock, split};
use unite::TimedRow;
use wayhop_core::Classifier;
use write::Merge;
pub use write::Options;

/// Merges the runs of several nodes in the directory `out`.
///
/// # Errors
/// If a run cannot be read, or cannot be of the same experiment as the others; if a node shares no frame or packet with the others; or if the
/// directory cannot be written.
pub fn merge(
    paths: &[PathBuf],
    out: &Path,
    options: &Options,
    classifier: &'static dyn Classifier,
) -> Result<MergeReport, Error> {
    check_place(paths, out)?;
    let mut runs = read_all(paths, classifier)?;
    number(&mut runs);
    let wanted = options.reference.as_deref();
    let mut reference = reference_of(&runs, wanted)?;
    let mut left_apart = Vec::new();
    let mut frames = frames(&runs);
    let mut all = observations(&runs, &frames);
    let groups = observation::groups(runs.len(), &all);
    let apart: Vec<usize> = (0..runs.len()).filter(|n| groups[*n] != groups[reference]).collect();
    if !apart.is_empty() {
        let names = names(&runs);
        left_apart = apart.iter().map(|n| names[*n].clone()).collect();
        if !options.leave_apart || apart.len() + 1 == runs.len() {
            return Err(strangers(&left_apart, &names[reference], options.leave_apart));
        }
        let mut is_kept = groups.iter().map(|group| *group == groups[reference]);
        runs.retain(|_| is_kept.next().unwrap_or(false));
        number(&mut runs);
        reference -= apart.iter().filter(|n| **n < reference).count();
        frames = frames::frames(&runs);
        all = observations(&runs, &frames);
    }
    let spans: Vec<(u64, u64)> = runs.iter().map(|r| (0, r.end_ns)).collect();
    let clocks = Clocks::set(reference, &spans, &all);
    let ends = clocks.of_node.iter().zip(&spans);
    let by_one_clock: Vec<_> = ends.map(|(c, (from, to))| (c.time_ns(*from), c.time_ns(*to))).collect();
    check_restarts(&runs, &by_one_clock)?;
    let early =
        all.iter().filter(|o| o.kind != ObservationKind::Heard && clocks.delay_us(o) < 0.0).count() as u64;
    let begins = clocks.of_node.iter().map(|c| c.time_ns(0));
    let zero_ns = begins.min().unwrap_or(0);
    let at = |s: &RowRef| {
        let own_ns = runs[s.node as usize].hops[s.row as usize].0.time.as_nanos();
        clocks.of_node[s.node as usize].time_ns(own_ns) - zero_ns
    };
    let mut order = Vec::new();
    for (node, run) in (0..).zip(&runs) {
        let seen = (0..run.hops.len() as u32).map(|row| RowRef { node, row });
        order.extend(seen.map(|seen| TimedRow { at_ns: at(&seen), seen }));
    }
    order.sort_by_key(|t| (t.at_ns, t.seen));
    let packets = unite::unite(&runs, &frames, &order, &at);
    let flows = flows::flows(&runs, &packets, &order);
    let ends = fates::RecordEnds::of(
        runs.iter().zip(&clocks.of_node).map(|(r, c)| (c.time_ns(r.end_ns) - zero_ns, r.was_killed())),
    );
    let stories = fates::stories(&runs, &packets, &flows, &order, &ends);
    let end_ns = ends.last_ns;
    Merge { runs, reference, clocks, zero_ns, end_ns, order, packets, flows, stories, left_apart, early }
        .write(out, options, classifier)
}

fn observations(runs: &[NodeRun], frames: &FxHashMap<u64, SharedFrame>) -> Vec<Observation> {
    let mut all = frames::of_frames(runs, frames);
    all.extend(passages::of_packets(runs, frames));
    // Maps have no order: the same runs give the same clocks.
    all.sort_by_key(|o| (o.frame, o.from, o.to, o.kind as u8));
    all
}

fn reference_of(runs: &[NodeRun], wanted: Option<&str>) -> Result<usize, Error> {
    let Some(wanted) = wanted else { return Ok(0) };
    let names = names(runs);
    let is_it = |i: &usize| names[*i] == wanted || runs[*i].node.addr.to_string() == wanted;
    (0..runs.len()).find(is_it).ok_or_else(|| {
        Error::Unfit(format!("--reference {wanted}: no such node; the nodes are {}", names.join(", ")))
    })
}

fn strangers(apart: &[String], reference: &str, alone: bool) -> Error {
    let (names, share) = (apart.join(", "), if apart.len() == 1 { "shares" } else { "share" });
    let remedy = if alone {
        format!("no node is left to merge with {reference}; choose another one with --reference")
    } else {
        "their clocks cannot be aligned; remove these runs, or use --leave-apart".to_owned()
    };
    Error::Unfit(format!(
        "{names} {share} no frames or packets with {reference}, directly or through others; {remedy}"
    ))
}
