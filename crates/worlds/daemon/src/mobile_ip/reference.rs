//! The reference page of the three configurations, from the types that read them.

use super::config::{ForeignAgentConfig, HomeAgentConfig, MobileNodeConfig};

const HEAD: &str = include_str!("reference_head.md");

/// `docs/reference/mobile-ip.md`.
pub fn reference_markdown() -> String {
    let home = wayhop_document::reference_tables::<HomeAgentConfig>(&[("mobiles", "Peer")]);
    let foreign = wayhop_document::reference_tables::<ForeignAgentConfig>(&[("links", "VisitedLink")]);
    let node = wayhop_document::reference_tables::<MobileNodeConfig>(&[("links", "OwnLink")]);
    format!(
        "{HEAD}# wayhop mobile-ip home-agent\n\n{home}\n# wayhop mobile-ip foreign-agent\n\n{foreign}\n# wayhop mobile-ip node\n\n{node}"
    )
}
