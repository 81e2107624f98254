//! The keys of a section `[[applications]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

/// An application on some nodes: one of Wayhop's own programs, available in every mode. Its parameters are keys of the
/// same section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApplicationSection {
    /// Which application.
    pub name: String,
    /// The nodes that run it, each with its own instance. Default: all nodes.
    pub nodes: Option<Vec<NodeRef>>,
    /// Parameters that differ from the application's defaults.
    #[serde(flatten)]
    #[schemars(skip)]
    pub parameters: toml::Table,
}
