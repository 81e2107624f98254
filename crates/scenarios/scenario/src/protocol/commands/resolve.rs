//! Commands sent to nodes during a run.

use wayhop_core::{Command, NodeId, Span, Time};
use wayhop_document::{Result, in_range};
use wayhop_simulator_files::MAX_DURATION_S;

use super::PurgeRoutes;
use crate::nodes::Placement;

/// A command to some nodes, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Order {
    /// The command.
    pub command: Command,
    /// The nodes, in this order.
    pub nodes: Vec<NodeId>,
    /// The first time.
    pub from: Time,
    /// Interval between repetitions; `None` for a single one.
    pub every: Option<Span>,
}

pub(crate) fn resolve(placed: &Placement<'_>) -> Result<Vec<Order>> {
    let one = |(k, c): (usize, &super::Command)| {
        let super::Command::PurgeRoutes(c) = c;
        purge(placed, k, c)
    };
    placed.scenario.commands.iter().enumerate().map(one).collect()
}

fn purge(placed: &Placement<'_>, k: usize, c: &PurgeRoutes) -> Result<Order> {
    let doc = placed.doc();
    let key = |field: &str| format!("commands[{k}].{field}");
    in_range(doc, &key("start_s"), c.start_s, 0.0, MAX_DURATION_S)?;
    in_range(doc, &key("every_s"), c.every_s, 1e-3, MAX_DURATION_S)?;
    let find = |node, field| placed.find(node, &key(field));
    let nodes = if c.nodes.is_empty() {
        placed.all().collect()
    } else {
        c.nodes.iter().map(|n| find(n, "nodes")).collect::<Result<_, _>>()?
    };
    let destination = c.destination.as_ref().map(|n| find(n, "destination")).transpose()?;
    Ok(Order {
        command: Command::PurgeRoutes {
            destination: destination.map(|n| placed.addresses[n.index()].into()),
        },
        nodes,
        from: Time::from_secs_f64(c.start_s),
        every: c.every_s.map(Span::from_secs_f64),
    })
}
