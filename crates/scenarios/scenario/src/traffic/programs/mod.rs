//! Real programs in nodes.

mod resolve;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

pub use resolve::ProgramPlan;
pub(crate) use resolve::resolve;

/// A real program on a node, in emulation and lab, where nodes are real. It reaches other nodes as `mesh-0`, `mesh-1`,
/// ...
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// The node.
    pub node: NodeRef,
    /// When it starts, seconds. It is terminated if it is still running at the end of the run.
    #[serde(default)]
    pub start_s: f64,
    /// The program and its arguments, one string each. Its working directory is `files/NODE` in the run directory;
    /// with `--trust`, the directory in which the run was started.
    pub command: Vec<String>,
    /// The file for its output and messages, in the folder `programs` of the run directory. Default: its number in
    /// this list and its node, such as `0-gateway.txt`.
    pub output: Option<String>,
}
