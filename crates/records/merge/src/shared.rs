//! The settings that all nodes' configurations share, as a merged run keeps them to be simulated again.

use toml::Table;

use crate::input::NodeRun;

/// Sections of a node's configuration that are about the whole mesh.
const SECTIONS: [&str; 3] = ["protocol", "radio", "security"];
/// A path on each node's own disk, which says nothing about the mesh.
const LOCAL: &str = "security.keys_file";

/// The sections of the reference's configuration, and in what the others differ.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct CommonConfig {
    /// As TOML.
    pub(crate) text: String,
    /// Keys with other values, or without one, in other configurations: `protocol.hello`.
    pub(crate) differing: Vec<String>,
}

impl CommonConfig {
    pub(crate) fn of(runs: &[NodeRun], reference: usize) -> Self {
        let texts: Vec<&str> = runs.iter().map(|r| r.manifest.scenario.as_str()).collect();
        Self::of_texts(&texts, reference)
    }

    fn of_texts(texts: &[&str], reference: usize) -> Self {
        let sections = |text: &&str| {
            let mut config: Table = text.parse().unwrap_or_default();
            config.retain(|key, _| SECTIONS.contains(&key));
            config
        };
        let all: Vec<Table> = texts.iter().map(sections).collect();
        let first = &all[reference];
        let mut differing = Vec::new();
        for section in SECTIONS {
            let mut keys: Vec<&String> =
                all.iter().filter_map(|t| t.get(section)?.as_table()).flat_map(Table::keys).collect();
            keys.sort();
            keys.dedup();
            let value = |t: &Table, key: &str| t.get(section).and_then(|s| s.get(key)).cloned();
            let differs = |key: &&&String| all.iter().any(|t| value(t, key) != value(first, key));
            let names = keys.iter().filter(differs).map(|key| format!("{section}.{key}"));
            differing.extend(names.filter(|name| name != LOCAL));
        }
        Self { text: toml::to_string(first).unwrap_or_default(), differing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_tells_and_what_others_have_otherwise_is_named() {
        let one = "interface = \"wlan0\"\n[protocol]\nname = \"dsr\"\nhello = \"always\"\nsalvage = 1\n";
        let other = "interface = \"wlan1\"\n[protocol]\nname = \"dsr\"\nsalvage = 2\n[security]\nkeys_file = \"k\"\nid = 1\n";
        let shared = CommonConfig::of_texts(&[other, one], 1);
        assert_eq!(shared.text, "[protocol]\nhello = \"always\"\nname = \"dsr\"\nsalvage = 1\n");
        assert_eq!(shared.differing, ["protocol.hello", "protocol.salvage", "security.id"]);
        assert_eq!(CommonConfig::of_texts(&["# no TOML of a node", "["], 0), CommonConfig::default());
    }
}
