//! Commands sent to nodes during a run.

use wayhop_core::{Command, NodeId, Span, Time};
use wayhop_document::{Error, in_range};
use wayhop_simulator_files::MAX_DURATION_S;

use super::schema::{self, PurgeRoutes};
use crate::file::Scenario;
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

/// Looks up and checks the commands of a scenario.
pub(crate) fn resolve(scenario: &Scenario, placed: &Placement) -> Result<Vec<Order>, Error> {
    let one = |(k, c): (usize, &schema::Command)| {
        let schema::Command::PurgeRoutes(c) = c;
        purge(scenario, placed, k, c)
    };
    scenario.commands.iter().enumerate().map(one).collect()
}

fn purge(scenario: &Scenario, placed: &Placement, k: usize, c: &PurgeRoutes) -> Result<Order, Error> {
    let doc = &scenario.document;
    let key = |field: &str| format!("commands[{k}].{field}");
    in_range(doc, &key("start_s"), c.start_s, 0.0, MAX_DURATION_S)?;
    if let Some(every) = c.every_s {
        in_range(doc, &key("every_s"), every, 1e-3, MAX_DURATION_S)?;
    }
    let find = |node, field| placed.find(node, &key(field), doc);
    let nodes = if c.nodes.is_empty() {
        (0..placed.tracks.len() as u32).map(NodeId).collect()
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
