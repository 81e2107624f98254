//! The workspace's crates and their dependencies, from `cargo metadata`.

use std::path::Path;

use serde_json::Value;

use crate::command::{cargo, output};

/// One crate of the workspace. Names are short: `core` for `wayhop-core`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Crate {
    pub(crate) name: String,
    /// The folder of `crates/` in which it stands; empty for one elsewhere.
    pub(crate) storey: String,
    pub(crate) edges: Vec<Edge>,
}

/// A dependency on another crate of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edge {
    pub(crate) to: String,
    /// Only for the crate's tests and benchmarks.
    pub(crate) dev: bool,
}

/// Asks cargo for the crates of the workspace at `root`.
pub(crate) fn in_workspace(root: &Path) -> Result<Vec<Crate>, String> {
    let words = ["metadata", "--no-deps", "--format-version", "1"];
    let metadata = output(cargo().args(words).current_dir(root))?;
    let metadata =
        serde_json::from_str(&metadata).map_err(|error| format!("cargo metadata is not JSON: {error}"))?;
    Ok(from_metadata(&metadata))
}

fn from_metadata(metadata: &Value) -> Vec<Crate> {
    let packages = metadata["packages"].as_array().map_or(&[][..], Vec::as_slice);
    packages
        .iter()
        .map(|package| Crate {
            name: short(&package["name"]),
            storey: storey(&package["manifest_path"]),
            edges: package["dependencies"]
                .as_array()
                .into_iter()
                .flatten()
                .filter(|dependency| dependency["path"].is_string())
                .map(|dependency| Edge {
                    to: short(&dependency["name"]),
                    dev: dependency["kind"].as_str() == Some("dev"),
                })
                .collect(),
        })
        .collect()
}

fn short(name: &Value) -> String {
    let name = name.as_str().unwrap_or_default();
    name.strip_prefix("wayhop-").unwrap_or(name).to_owned()
}

fn storey(manifest: &Value) -> String {
    let path = Path::new(manifest.as_str().unwrap_or_default());
    let folders: Vec<&str> = path.iter().filter_map(|f| f.to_str()).collect();
    match folders.rsplit(|f| *f == "crates").next() {
        Some([storey, _, "Cargo.toml"]) => (*storey).to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_gives_the_edges_inside_the_workspace_only() {
        let metadata = serde_json::json!({"packages": [{
            "name": "wayhop-dsr",
            "manifest_path": "/w/crates/protocols/dsr/Cargo.toml",
            "dependencies": [
                {"name": "wayhop-core", "kind": null, "path": "/w/crates/core"},
                {"name": "wayhop-testkit", "kind": "dev", "path": "/w/crates/testkit"},
                {"name": "serde", "kind": null},
            ],
        }]});
        let expected = Crate {
            name: "dsr".into(),
            storey: "protocols".into(),
            edges: vec![Edge { to: "core".into(), dev: false }, Edge { to: "testkit".into(), dev: true }],
        };
        assert_eq!(from_metadata(&metadata), [expected]);
    }
}
