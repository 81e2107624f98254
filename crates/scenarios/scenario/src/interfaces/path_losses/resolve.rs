//! Links whose path loss follows a table: a matrix of attenuators instead of distances.

use wayhop_core::{NodeId, Time};
use wayhop_document::{Result, in_range};
use wayhop_simulator_files::MAX_DURATION_S;

use super::PathLosses;
use crate::interfaces::{self, Attachment, Interfaces};
use crate::nodes::Placement;

/// The most steps of all tables of path losses together.
const MAX_LOSS_STEPS: usize = 1_000_000;

/// The path loss between two nodes over time, in both directions.
#[derive(Clone, Debug, PartialEq)]
pub struct LossTable {
    /// The two nodes.
    pub nodes: [NodeId; 2],
    /// At which radio.
    pub at: Attachment,
    /// From when, and how much, dB; in order of time, at least one.
    pub steps: Vec<(Time, f64)>,
}

pub(crate) fn resolve(placed: &Placement<'_>, interfaces: &Interfaces) -> Result<Vec<LossTable>> {
    let (doc, losses) = (placed.doc(), &placed.scenario.path_losses);
    let all: usize = losses.iter().map(|p| p.db.len()).sum();
    if all > MAX_LOSS_STEPS {
        let many = format!("{all} steps are too many");
        return Err(doc.error("path_losses", many, format!("give at most {MAX_LOSS_STEPS} in all")));
    }
    let one = |(k, p): (usize, &PathLosses)| table(placed, interfaces, k, p);
    losses.iter().enumerate().map(one).collect()
}

fn table(placed: &Placement<'_>, interfaces: &Interfaces, k: usize, p: &PathLosses) -> Result<LossTable> {
    let doc = placed.doc();
    let key = |field: &str| format!("path_losses[{k}].{field}");
    let find = |i: usize| placed.find(&p.nodes[i], &key(&format!("nodes[{i}]")));
    let nodes = [find(0)?, find(1)?];
    if nodes[0] == nodes[1] {
        return Err(doc.error(&key("nodes"), "both nodes are the same", "name two different nodes"));
    }
    let at = match &p.interface {
        None => Attachment::Radio(0),
        Some(name) => interfaces::find(doc, interfaces, nodes[0], name, &key("interface"))?,
    };
    if !matches!(at, Attachment::Radio(_)) {
        return Err(doc.error(&key("interface"), "a wire has no path loss", "name a radio"));
    }
    if p.db.is_empty() {
        return Err(doc.error(&key("db"), "the list is empty", "list pairs of seconds and dB"));
    }
    let mut steps: Vec<(Time, f64)> = Vec::with_capacity(p.db.len());
    for (i, &[s, db]) in p.db.iter().enumerate() {
        in_range(doc, &key(&format!("db[{i}]")), s, 0.0, MAX_DURATION_S)?;
        in_range(doc, &key(&format!("db[{i}]")), db, 0.0, 400.0)?;
        let time = Time::from_secs_f64(s);
        if steps.last().is_some_and(|(before, _)| *before >= time) {
            let reason = format!("{s} s is not after the previous step");
            return Err(doc.error(&key(&format!("db[{i}]")), reason, "sort the steps by time"));
        }
        steps.push((time, db));
    }
    Ok(LossTable { nodes, at, steps })
}
