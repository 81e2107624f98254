//! What a run writes, with nodes looked up.

use wayhop_core::NodeId;
use wayhop_document::{Result, in_range};

use super::{Captures, Receptions};
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

pub(crate) fn capture_plan(c: &Captures, placed: &Placement<'_>) -> Result<CapturePlan> {
    in_range(placed.doc(), "captures.snap_length_bytes", f64::from(c.snap_length_bytes), 64.0, 262_144.0)?;
    let nodes = some_nodes(c.all, &c.nodes, "captures.nodes", placed)?;
    Ok(CapturePlan { nodes, snap_length: c.snap_length_bytes, damaged: c.damaged })
}

pub(crate) fn reception_plan(r: &Receptions, placed: &Placement<'_>, flows: usize) -> Result<ReceptionPlan> {
    let nodes = some_nodes(r.all, &r.nodes, "receptions.nodes", placed)?;
    let mut chosen = r.flows.clone();
    chosen.sort_unstable();
    chosen.dedup();
    if let Some(wrong) = chosen.iter().find(|f| **f as usize >= flows) {
        let remedy = match flows {
            0 => "the scenario has no flows; remove the key".to_owned(),
            n => format!("flows are numbered 0 to {}, as in the table `flows`", n - 1),
        };
        return Err(placed.doc().error("receptions.flows", format!("there is no flow {wrong}"), remedy));
    }
    Ok(ReceptionPlan { nodes, flows: chosen })
}

/// All nodes, or those that the list `key` names; in ascending order.
fn some_nodes(all: bool, named: &[NodeRef], key: &str, placed: &Placement<'_>) -> Result<Vec<NodeId>> {
    let mut nodes = if all { placed.all().collect() } else { placed.find_each(named, key)? };
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}
