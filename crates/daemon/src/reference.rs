//! The reference page of a node's configuration, from the type that reads it.

use crate::config::NodeConfig;

const HEAD: &str = include_str!("reference_head.md");

/// `docs/reference/node.md`.
pub fn reference_markdown() -> String {
    let keys =
        wayhop_scenario::reference_tables::<NodeConfig>(&[("capture", "Capture"), ("monitor", "Monitor")]);
    format!("{HEAD}{keys}")
}
