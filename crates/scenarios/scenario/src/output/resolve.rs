//! What a run writes, with nodes looked up.

use wayhop_core::NodeId;
use wayhop_document::{Result, in_range, nearest_or};

use super::{Captures, Output, Receptions};
use crate::nodes::{NodeRef, Placement};

/// Which nodes write a capture, and how much of each frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturePlan {
    /// In ascending order.
    pub nodes: Vec<NodeId>,
    /// Octets.
    pub snap_length: u32,
    /// Also frames that the nodes could not decode.
    pub damaged: bool,
}

/// The frames whose outcome a run records.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceptionPlan {
    /// Those that these nodes send or should receive; in ascending order.
    pub nodes: Vec<NodeId>,
    /// Those of these flows' packets, by index; in ascending order.
    pub flows: Vec<u32>,
}

impl ReceptionPlan {
    /// Whether there are any.
    pub fn is_wanted(&self) -> bool {
        !self.nodes.is_empty() || !self.flows.is_empty()
    }
}

/// The names of the tables that a run may have.
pub const TABLES: [&str; 16] = [
    "packets",
    "positions",
    "flows",
    "counters",
    "events",
    "sends",
    "tcp",
    "connections",
    "outcomes",
    "receptions",
    "bundles",
    "contacts",
    "gps",
    "sizes",
    "identities",
    "nodes",
];

/// The tables that a run writes, and which of their rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TablePlan {
    /// Names of [`TABLES`]; `None` for all.
    pub tables: Option<Vec<String>>,
    /// The only nodes with rows, in ascending order; `None` for all.
    pub nodes: Option<Vec<NodeId>>,
    /// The only flows with rows, by index, in ascending order; `None` for all.
    pub flows: Option<Vec<u32>>,
    /// The size of the tables from which on rows are thinned, bytes; `None` without a limit.
    pub limit_bytes: Option<u64>,
}

pub(crate) fn table_plan(o: &Output, placed: &Placement<'_>, flows: usize) -> Result<TablePlan> {
    for (i, name) in o.tables.iter().flatten().enumerate() {
        if !TABLES.contains(&name.as_str()) {
            let meant = nearest_or(name, TABLES, "");
            let gap = if meant.is_empty() { "" } else { " " };
            let remedy = format!("{meant}{gap}the tables are {}", TABLES.join(", "));
            let what = format!("there is no table {name:?}");
            return Err(placed.doc().error(&format!("output.tables[{i}]"), what, remedy));
        }
    }
    let nodes = some_nodes(false, &o.nodes, "output.nodes", placed)?;
    let chosen = some_flows(&o.flows, "output.flows", placed, flows)?;
    Ok(TablePlan {
        tables: o.tables.clone(),
        nodes: (!nodes.is_empty()).then_some(nodes),
        flows: (!chosen.is_empty()).then_some(chosen),
        limit_bytes: (o.limit_mb > 0).then(|| u64::from(o.limit_mb) * 1_000_000),
    })
}

pub(crate) fn capture_plan(c: &Captures, placed: &Placement<'_>) -> Result<CapturePlan> {
    in_range(placed.doc(), "captures.snap_length_bytes", f64::from(c.snap_length_bytes), 64.0, 262_144.0)?;
    let nodes = some_nodes(c.all, &c.nodes, "captures.nodes", placed)?;
    Ok(CapturePlan { nodes, snap_length: c.snap_length_bytes, damaged: c.damaged })
}

pub(crate) fn reception_plan(r: &Receptions, placed: &Placement<'_>, flows: usize) -> Result<ReceptionPlan> {
    let nodes = some_nodes(r.all, &r.nodes, "receptions.nodes", placed)?;
    Ok(ReceptionPlan { nodes, flows: some_flows(&r.flows, "receptions.flows", placed, flows)? })
}

/// The flows that the list `key` names, in ascending order; the scenario has `flows` of them.
fn some_flows(named: &[u32], key: &str, placed: &Placement<'_>, flows: usize) -> Result<Vec<u32>> {
    let mut chosen = named.to_vec();
    chosen.sort_unstable();
    chosen.dedup();
    if let Some(wrong) = chosen.iter().find(|f| **f as usize >= flows) {
        let remedy = match flows {
            0 => "the scenario has no flows; remove the key".to_owned(),
            n => format!("flows are numbered 0 to {}, as in the table `flows`", n - 1),
        };
        return Err(placed.doc().error(key, format!("there is no flow {wrong}"), remedy));
    }
    Ok(chosen)
}

/// All nodes, or those that the list `key` names; in ascending order.
fn some_nodes(all: bool, named: &[NodeRef], key: &str, placed: &Placement<'_>) -> Result<Vec<NodeId>> {
    let mut nodes = if all { placed.all().collect() } else { placed.find_each(named, key)? };
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}
