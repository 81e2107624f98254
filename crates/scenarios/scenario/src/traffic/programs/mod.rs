//! Real programs in nodes.

mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

pub use resolve::ProgramPlan;
pub(crate) use resolve::resolve;

/// A real program on nodes, in emulation and lab, where nodes are real. It reaches other nodes as `mesh-0`, `mesh-1`,
/// ... In `command` and `output` these stand for a value of the node: `{node}` its number, `{name}` its name, `{address}` and
/// `{address6}` its addresses, `{interface}` its interface in the mesh. `{scenario}` is the folder of the scenario's file. In
/// `command`, `{folder}` is a folder of the node's own: `files/NODE` in the run directory, or a temporary one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The node. Without `node` and `nodes` the program runs on all nodes.
    pub node: Option<NodeRef>,
    /// Several nodes.
    pub nodes: Option<Vec<NodeRef>>,
    /// When it starts, seconds. It is terminated if it is still running at the end of the run.
    #[serde(default)]
    pub start_s: f64,
    /// The program and its arguments, one string each. Its working directory is `files/NODE` in the run directory;
    /// with `--trust`, the directory in which the run was started.
    pub command: Vec<String>,
    /// The file for its output and messages, in the folder `programs` of the run directory. Default: its number in
    /// this list and its node, such as `0-gateway.txt`.
    pub output: Option<String>,
    /// When it is started again, one second after its end: `never`, `on-failure` (an exit status other than 0, a signal, or an
    /// outage of its node) or `always`. Its output is appended to the same file.
    #[serde(default)]
    pub restart: ProgramRestart,
}

/// When a program is started again.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ProgramRestart {
    /// Never.
    #[default]
    Never,
    /// After a failure, and after an outage of its node.
    OnFailure,
    /// After every end.
    Always,
}
