//! The keys of `[[programs]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

/// A real program in a node, where nodes are real: in emulation and lab. It reaches the others as `mesh-0`, `mesh-1`, ...
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Where.
    pub node: NodeRef,
    /// When it starts, seconds. One that still runs at the end of the run is ended.
    #[serde(default)]
    pub start_s: f64,
    /// The program and its arguments, one string each. Its working directory is `files/NODE` in the run directory; with `--trust`, that of who
    /// starts the run.
    pub command: Vec<String>,
    /// The file in the run directory's folder `programs` that takes its output and messages. Without it: its number in this
    /// list and its node, as in `0-gateway.txt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<String>,
}
