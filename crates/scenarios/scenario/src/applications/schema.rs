//! The keys of a section `[[applications]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

/// An application at some nodes: a program of Wayhop's own, in every world. Its parameters stand beside these keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApplicationSection {
    /// Which application.
    pub name: String,
    /// The nodes that run it, each one of its own. Without it: all nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<NodeRef>>,
    /// Parameters that differ from the application's defaults.
    #[serde(flatten)]
    #[schemars(skip)]
    pub parameters: toml::Table,
}
