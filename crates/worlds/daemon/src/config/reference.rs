//! The reference page of a node's configuration, from the type that reads it.

use crate::config::node_config::NodeConfig;

const HEAD: &str = include_str!("reference_head.md");

/// `docs/reference/node.md`.
pub fn reference_markdown() -> String {
    let sections = [
        ("gateway", "Gateway"),
        ("capture", "Capture"),
        ("inputs", "InputLog"),
        ("macfilter", "MacFilterConfig"),
        ("monitor", "Monitor"),
    ];
    let keys = wayhop_document::reference_tables::<NodeConfig>(&sections);
    format!("{HEAD}{keys}")
}
