//! Real programs in nodes.

use wayhop_core::{NodeId, Time, file_name};
use wayhop_document::{Result, in_range};
use wayhop_simulator_files::MAX_DURATION_S;

use super::Program;
use crate::nodes::Placement;

/// A program that runs on a real node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramPlan {
    /// Where.
    pub node: NodeId,
    /// When it starts.
    pub start: Time,
    /// The program and its arguments; at least the program.
    pub command: Vec<String>,
    /// The name of the file that takes its output, in a folder of the run directory.
    pub output: String,
}

pub(crate) fn resolve(placed: &Placement<'_>) -> Result<Vec<ProgramPlan>> {
    let doc = placed.doc();
    let one = |(k, p): (usize, &Program)| {
        let key = |field: &str| format!("programs[{k}].{field}");
        in_range(doc, &key("start_s"), p.start_s, 0.0, MAX_DURATION_S)?;
        if p.command.first().is_none_or(String::is_empty) {
            let remedy = r#"give the program and its arguments, as in ["ping", "-c", "5", "mesh-1"]"#;
            return Err(doc.error(&key("command"), "the command is empty".to_owned(), remedy));
        }
        let node = placed.find(&p.node, &key("node"))?;
        // A node's name may hold anything; captures are named by the same rule.
        let default = || file_name(&format!("{k}-{}.txt", placed.names[node.index()]));
        let output = p.output.clone().unwrap_or_else(default);
        let is_plain = !output.is_empty() && !output.starts_with('.') && !output.contains(['/', '\0']);
        if p.output.is_some() && !is_plain {
            let remedy = "use a name without folders, such as \"ping.txt\"";
            return Err(doc.error(&key("output"), format!("{output:?} is not a file name"), remedy));
        }
        Ok(ProgramPlan { node, start: Time::from_secs_f64(p.start_s), command: p.command.clone(), output })
    };
    let programs = placed.scenario.programs.iter().enumerate();
    let plans: Vec<ProgramPlan> = programs.map(one).collect::<Result<_, _>>()?;
    for (k, plan) in plans.iter().enumerate() {
        if let Some(first) = plans[..k].iter().position(|p| p.output == plan.output) {
            let reason = format!("programs {first} and {k} both write {:?}", plan.output);
            return Err(doc.error(&format!("programs[{k}].output"), reason, "give each its own file"));
        }
    }
    Ok(plans)
}
