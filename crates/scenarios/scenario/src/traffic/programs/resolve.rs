//! Real programs in nodes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use wayhop_core::{NodeId, Time, file_name};
use wayhop_document::{Result, in_range};
use wayhop_simulator_files::MAX_DURATION_S;

use super::{Program, ProgramRestart};
use crate::nodes::Placement;

/// The interface of a node in the mesh, in emulation and lab.
const INTERFACE: &str = "mesh0";

/// A program that runs on a real node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramPlan {
    /// Where.
    pub node: NodeId,
    /// When it starts.
    pub start: Time,
    /// The program and its arguments; at least the program. [`ProgramPlan::FOLDER`] stands for a folder that the run has.
    pub command: Vec<String>,
    /// The name of the file that takes its output, in a folder of the run directory.
    pub output: String,
    /// When it is started again.
    pub restart: ProgramRestart,
}

impl ProgramPlan {
    /// In a command: a folder of the node's own.
    pub const FOLDER: &str = "{folder}";
}

pub(crate) fn resolve(placed: &Placement<'_>) -> Result<Vec<ProgramPlan>> {
    let doc = placed.doc();
    let mut plans: Vec<(usize, ProgramPlan)> = Vec::new();
    for (k, p) in placed.scenario.programs.iter().enumerate() {
        let key = |field: &str| format!("programs[{k}].{field}");
        in_range(doc, &key("start_s"), p.start_s, 0.0, MAX_DURATION_S)?;
        if p.command.first().is_none_or(String::is_empty) {
            let remedy = r#"give the program and its arguments, as in ["ping", "-c", "5", "mesh-1"]"#;
            return Err(doc.error(&key("command"), "the command is empty".to_owned(), remedy));
        }
        let names_address6 = |text: &String| text.contains("{address6}");
        if placed.ipv6.is_none() && p.command.iter().chain(&p.output).any(names_address6) {
            let remedy = "set nodes.ipv6 = true, or use {address}";
            return Err(doc.error(&key("command"), "{address6}: the nodes have no IPv6 addresses", remedy));
        }
        for node in nodes(placed, p, &key)? {
            let values = values(placed, node);
            // A node's name may hold anything; captures are named by the same rule.
            let default = || file_name(&format!("{k}-{}.txt", placed.names[node.index()]));
            let output = p.output.as_ref().map_or_else(default, |name| fill(name, &values));
            let is_plain = !output.is_empty() && !output.starts_with('.') && !output.contains(['/', '\0']);
            if p.output.is_some() && !is_plain {
                let remedy = "use a name without folders, such as \"ping.txt\"";
                return Err(doc.error(&key("output"), format!("{output:?} is not a file name"), remedy));
            }
            let plan = ProgramPlan {
                node,
                start: Time::from_secs_f64(p.start_s),
                command: p.command.iter().map(|part| fill(part, &values)).collect(),
                output,
                restart: p.restart,
            };
            plans.push((k, plan));
        }
    }
    check_outputs(placed, &plans)?;
    Ok(plans.into_iter().map(|(_, plan)| plan).collect())
}

/// The nodes on which a program runs.
fn nodes(placed: &Placement<'_>, p: &Program, key: &dyn Fn(&str) -> String) -> Result<Vec<NodeId>> {
    match (&p.node, &p.nodes) {
        (Some(node), None) => Ok(vec![placed.find(node, &key("node"))?]),
        (None, Some(nodes)) => {
            let found = placed.find_each(nodes, &key("nodes"))?;
            let mut seen = BTreeSet::new();
            if let Some(i) = found.iter().position(|node| !seen.insert(*node)) {
                let reason = format!("node {} is listed twice", found[i].0);
                return Err(placed.doc().error(
                    &format!("{}[{i}]", key("nodes")),
                    reason,
                    "remove one of the two",
                ));
            }
            if found.is_empty() {
                let remedy = "list nodes, or remove `nodes` to run the program on all of them";
                return Err(placed.doc().error(&key("nodes"), "the list is empty", remedy));
            }
            Ok(found)
        }
        (None, None) => Ok(placed.all().collect()),
        (Some(_), Some(_)) => {
            let remedy = "remove one of the two";
            Err(placed.doc().error(&key("nodes"), "both `node` and `nodes` are given".to_owned(), remedy))
        }
    }
}

/// What stands for what at a node.
fn values(placed: &Placement<'_>, node: NodeId) -> [(&'static str, String); 6] {
    // The folder of a file named without one is empty, which has no absolute path.
    let folder = std::path::absolute(Path::new(".").join(placed.doc().folder())).unwrap_or_default();
    let address6 = placed.ipv6.as_ref().map(|plan| plan.addresses[node.index()].to_string());
    [
        ("{node}", node.0.to_string()),
        ("{name}", placed.names[node.index()].clone()),
        ("{address}", placed.addresses[node.index()].to_string()),
        ("{address6}", address6.unwrap_or_default()),
        ("{interface}", INTERFACE.to_owned()),
        ("{scenario}", folder.to_string_lossy().into_owned()),
    ]
}

fn fill(text: &str, values: &[(&str, String)]) -> String {
    values.iter().fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
}

/// No two programs may write the same file.
fn check_outputs(placed: &Placement<'_>, plans: &[(usize, ProgramPlan)]) -> Result<()> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    for (k, plan) in plans {
        if let Some(other) = first.insert(&plan.output, *k) {
            let (reason, remedy) = if other == *k {
                let reason = format!("the program writes {:?} on several nodes", plan.output);
                (reason, "put {node} into the name")
            } else {
                (format!("programs {other} and {k} both write {:?}", plan.output), "give each its own file")
            };
            return Err(placed.doc().error(&format!("programs[{k}].output"), reason, remedy));
        }
    }
    Ok(())
}
