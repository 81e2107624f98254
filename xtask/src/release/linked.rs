//! The crates that are linked into the program: not those of its build, of tests, or of other systems.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::command::{cargo, output};

/// A crate of another project that is part of the program.
pub(super) struct Linked {
    pub(super) name: String,
    pub(super) version: String,
    /// The SPDX expression.
    pub(super) licence: String,
    /// SHA-256 of the package, as Cargo.lock has it.
    pub(super) checksum: String,
    /// The sources.
    pub(super) folder: PathBuf,
}

/// Those of the program for `target`, by name and version.
pub(super) fn crates(root: &Path, target: &str) -> Result<Vec<Linked>, String> {
    let tree = ["tree", "--locked", "--package", "wayhop-cli", "--edges", "normal,no-proc-macro"];
    let tree = output(
        cargo()
            .args(tree)
            .args(["--prefix", "none", "--format", "{p}", "--target", target])
            .current_dir(root),
    )?;
    // A line: `serde v1.0.0 (*)`.
    let mut names: Vec<(&str, &str)> = tree
        .lines()
        .filter(|l| !l.starts_with("wayhop-"))
        .filter_map(|l| {
            let mut words = l.split(' ');
            Some((words.next()?, words.next()?.strip_prefix('v')?))
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    let metadata = ["metadata", "--locked", "--format-version", "1", "--filter-platform", target];
    let metadata = output(cargo().args(metadata).current_dir(root))?;
    let metadata: Value = serde_json::from_str(&metadata).map_err(|e| format!("cargo metadata: {e}"))?;
    let checksums =
        checksums(&fs::read_to_string(root.join("Cargo.lock")).map_err(|e| format!("Cargo.lock: {e}"))?);
    names.into_iter().map(|of| linked(of, &metadata, &checksums)).collect()
}

fn linked(
    (name, version): (&str, &str),
    metadata: &Value,
    checksums: &BTreeMap<(String, String), String>,
) -> Result<Linked, String> {
    let known = metadata["packages"].as_array().into_iter().flatten();
    let package = known.clone().find(|p| p["name"] == name && p["version"] == version);
    let package = package.ok_or(format!("cargo metadata lacks {name} {version}"))?;
    let text = |key: &str| package[key].as_str().ok_or(format!("{name} {version} has no {key}"));
    let folder = Path::new(text("manifest_path")?).parent().map(Path::to_owned).unwrap_or_default();
    let checksum = checksums.get(&(name.to_owned(), version.to_owned()));
    Ok(Linked {
        name: name.to_owned(),
        version: version.to_owned(),
        // Before SPDX, "MIT/Apache-2.0" meant a choice.
        licence: text("license")?.replace('/', " OR "),
        checksum: checksum.cloned().ok_or(format!("Cargo.lock has no checksum of {name} {version}"))?,
        folder,
    })
}

/// By name and version.
fn checksums(lock: &str) -> BTreeMap<(String, String), String> {
    let value = |block: &str, key: &str| {
        let line = block.lines().find_map(|l| l.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'));
        line.map(str::to_owned)
    };
    let entry =
        |block: &str| Some(((value(block, "name")?, value(block, "version")?), value(block, "checksum")?));
    lock.split("[[package]]").filter_map(entry).collect()
}
