//! The keys of a section `[[applications]]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::nodes::NodeRef;

/// An application on some nodes, in every mode: one of Wayhop's own, or one of a shared library or a Python module. Its
/// parameters are keys of the same section.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ApplicationSection {
    /// Which application, or the path of a shared library or Python module with one of your own.
    #[serde(default)]
    pub name: String,
    /// A shared library with an application of your own (docs/tutorials/c-protocol.md). The path is relative to the
    /// scenario's folder. `name` is not needed then. `python` is another name of this key, for a Python module
    /// (docs/tutorials/python-protocol.md).
    #[serde(default, alias = "python", skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// The nodes that run it, each with its own instance. Default: all nodes.
    pub nodes: Option<Vec<NodeRef>>,
    /// Parameters that differ from the application's defaults.
    #[serde(flatten)]
    #[schemars(skip)]
    pub parameters: toml::Table,
}
