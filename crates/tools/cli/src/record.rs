//! `--record-inputs` and `--receptions` of the commands that run a scenario.

use wayhop_core::{NodeId, node_named};
use wayhop_runs::InputLogs;
use wayhop_scenario::{NodeRef, Resolved, Scenario};
use wayhop_trace::RunDir;

use crate::failure::{Failure, usage};

#[derive(Debug, clap::Args)]
pub(crate) struct RecordArgs {
    /// Record the inputs of these nodes' routing engines in DIR/inputs/NODE.jsonl, for `wayhop replay` (numbers, mesh-N or
    /// names; default: all nodes). Give it after the scenario
    #[arg(long, value_name = "NODE", num_args = 0.., value_delimiter = ',', conflicts_with = "no_out")]
    record_inputs: Option<Vec<String>>,
}

impl RecordArgs {
    /// Whether the option is given.
    pub(crate) fn is_wanted(&self) -> bool {
        self.record_inputs.is_some()
    }

    /// The selected nodes; `None` without the option.
    pub(crate) fn nodes(&self, resolved: &Resolved) -> Result<Option<Vec<NodeId>>, Failure> {
        self.record_inputs.as_deref().map(|names| nodes("--record-inputs", names, resolved)).transpose()
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReceptionArgs {
    /// Record the fate of each frame that these nodes send or should receive in the table `receptions`, for `wayhop why`
    /// (numbers, mesh-N or names; default: all nodes). Give it after the scenario
    #[arg(long, value_name = "NODE", num_args = 0.., value_delimiter = ',', conflicts_with = "no_out")]
    receptions: Option<Vec<String>>,
}

impl ReceptionArgs {
    /// Whether the option is given.
    pub(crate) fn is_wanted(&self) -> bool {
        self.receptions.is_some()
    }

    pub(crate) fn apply(&self, scenario: &mut Scenario, resolved: &mut Resolved) -> Result<(), Failure> {
        let Some(names) = &self.receptions else { return Ok(()) };
        let named = nodes("--receptions", names, resolved)?;
        let plan = &mut resolved.receptions.nodes;
        plan.extend(&named);
        plan.sort_unstable();
        plan.dedup();
        scenario.receptions.all |= names.is_empty();
        if !scenario.receptions.all {
            scenario.receptions.nodes = plan.iter().map(|n| NodeRef::Id(n.0)).collect();
        }
        Ok(())
    }
}

/// The nodes of these names; all of them if there is none.
fn nodes(option: &str, names: &[String], resolved: &Resolved) -> Result<Vec<NodeId>, Failure> {
    if names.is_empty() {
        return Ok((0..resolved.names.len() as u32).map(NodeId).collect());
    }
    let node = |name: &String| {
        node_named(&resolved.names, name).map(|i| NodeId(i as u32)).ok_or_else(|| {
            let last = resolved.names.len() - 1;
            usage!("{option} {name}: no such node; give a number from 0 to {last}, mesh-0 to mesh-{last}, or a name, and put \
                 the scenario before this option")
        })
    };
    let mut nodes: Vec<NodeId> = names.iter().map(node).collect::<Result<_, _>>()?;
    nodes.sort_unstable();
    nodes.dedup();
    Ok(nodes)
}

pub(crate) fn logs(nodes: Option<Vec<NodeId>>, dir: Option<&RunDir>) -> Option<InputLogs> {
    Some(InputLogs { nodes: nodes?, dir: dir?.clone() })
}
