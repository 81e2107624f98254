//! What the source text may not contain.
//!
//! Clippy's `disallowed-types` and `disallowed-methods` say the same about resolved paths; this check needs no
//! compiler, sees every `cfg`, and cannot be switched off by an attribute in the file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::text;

/// Crates whose results must be the same on every machine, besides the protocols.
const MODELS: &[&str] = &["core", "wire", "link-quality", "protocols", "radio", "world", "transport"];

/// Names that make a run depend on something besides its inputs.
const FORBIDDEN_IN_MODELS: &[(&str, &str)] = &[
    ("Instant", "a model has no wall clock: use the time that Cx gives"),
    ("SystemTime", "a model has no wall clock: use the time that Cx gives"),
    ("UNIX_EPOCH", "a model has no wall clock: use the time that Cx gives"),
    ("chrono", "a model has no wall clock: use the time that Cx gives"),
    ("thread_rng", "thread-local randomness: use the streams of core's rng"),
    ("ThreadRng", "thread-local randomness: use the streams of core's rng"),
    ("rand::rng", "thread-local randomness: use the streams of core's rng"),
    ("OsRng", "randomness of the machine: use the streams of core's rng"),
    ("getrandom", "randomness of the machine: use the streams of core's rng"),
    ("HashMap", "randomly seeded: use BTreeMap, or FxHashMap where nobody iterates"),
    ("HashSet", "randomly seeded: use BTreeSet, or FxHashSet where nobody iterates"),
    ("RandomState", "randomly seeded"),
    ("hashbrown", "randomly seeded: use BTreeMap, or FxHashMap where nobody iterates"),
    ("ahash", "randomly seeded"),
    ("thread::spawn", "a model has no threads"),
];

/// The crates that may contain `unsafe`: for operating-system calls, and for C.
const MAY_BE_UNSAFE: &[&str] = &["linux", "foreign"];

const LINES_MAX: usize = 800;

/// One line for each thing that the sources under `root` may not contain.
pub(crate) fn findings(root: &Path) -> Result<Vec<String>, String> {
    let mut findings = Vec::new();
    for (name, folder) in packages(root)? {
        let is_model = MODELS.contains(&name.as_str()) || wayhop_protocols::names().any(|p| p == name);
        manifest_findings(root, &name, &folder, is_model, &mut findings);
        for file in rust_files(&folder)? {
            let source = read(&file)?;
            let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
            // A benchmark of a model has a wall clock.
            let is_model = is_model && !shown.contains("/benches/");
            source_findings(&shown, &source, is_model, &name, &mut findings);
        }
    }
    Ok(findings)
}

pub(crate) fn packages(root: &Path) -> Result<Vec<(String, PathBuf)>, String> {
    let mut folders = Vec::new();
    for storey in children(&root.join("crates"))?.into_iter().filter(|path| path.is_dir()) {
        folders.extend(children(&storey)?);
    }
    let mut found: Vec<(String, PathBuf)> = folders
        .into_iter()
        .filter(|path| path.join("Cargo.toml").is_file())
        .filter_map(|path| Some((path.file_name()?.to_str()?.to_owned(), path)))
        .collect();
    for single in ["xtask", "fuzz"] {
        if root.join(single).is_dir() {
            found.push((single.to_owned(), root.join(single)));
        }
    }
    Ok(found)
}

/// A crate that leaves the workspace's lints, or a model with lint settings of its own, escapes the bans.
fn manifest_findings(root: &Path, name: &str, folder: &Path, is_model: bool, findings: &mut Vec<String>) {
    let shown = folder.strip_prefix(root).unwrap_or(folder).display();
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
    let takes_lints = manifest
        .split("[lints]")
        .nth(1)
        .is_some_and(|after| after.trim_start().starts_with("workspace = true"));
    // The workspace forbids unsafe, which cannot be loosened: who may use it repeats the other lints.
    let repeats_lints = MAY_BE_UNSAFE.contains(&name) && manifest.contains("unsafe_code = \"deny\"");
    if name != "fuzz" && !takes_lints && !repeats_lints {
        findings.push(format!("{shown}/Cargo.toml: add [lints] workspace = true"));
    }
    for config in ["clippy.toml", ".clippy.toml"] {
        if is_model && folder.join(config).exists() {
            findings.push(format!(
                "{shown}/{config}: a model crate obeys the root's clippy.toml; remove this one"
            ));
        }
    }
}

fn source_findings(shown: &str, source: &str, is_model: bool, owner: &str, findings: &mut Vec<String>) {
    let code = text::code_only(source);
    if is_model {
        for (name, reason) in FORBIDDEN_IN_MODELS {
            findings.extend(
                text::lines_naming(&code, name).map(|line| format!("{shown}:{line}: {name}: {reason}")),
            );
        }
    }
    if !MAY_BE_UNSAFE.contains(&owner) {
        findings.extend(
            text::lines_naming(&code, "unsafe")
                .map(|line| format!("{shown}:{line}: unsafe: only {} may", MAY_BE_UNSAFE.join(" and "))),
        );
    }
    let lines = source.lines().count();
    if lines > LINES_MAX {
        findings.push(format!("{shown}: {lines} lines; split it by idea, {LINES_MAX} at most"));
    }
}

/// Every `.rs` file of a package, build output aside, in a fixed order.
pub(crate) fn rust_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    for path in children(folder)? {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

/// The text files that git tracks and whose name is `wanted`: name from the root, and text. None outside of a checkout, such as in
/// an unpacked archive. A file that was deleted but is still tracked has no text.
pub(crate) fn tracked_texts(root: &Path, wanted: fn(&str) -> bool) -> Result<Vec<(String, String)>, String> {
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(root).output();
    let Some(listed) = listed.ok().filter(|o| o.status.success()) else { return Ok(Vec::new()) };
    let names = String::from_utf8(listed.stdout).map_err(|e| format!("git ls-files: {e}"))?;
    let names = names.split('\0').filter(|name| !name.is_empty() && wanted(name));
    Ok(names.filter_map(|n| Some((n.to_owned(), fs::read_to_string(root.join(n)).ok()?))).collect())
}

pub(crate) fn children(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    paths.sort();
    Ok(paths)
}

pub(crate) fn read(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[package]\nname = \"x\"\n\n[lints]\nworkspace = true\n";

    /// A workspace of one crate with one file, and what is found in it.
    fn found_in(name: &str, manifest: &str, source: &str) -> Vec<String> {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("crates/storey").join(name);
        fs::create_dir_all(folder.join("src")).unwrap();
        fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        fs::write(folder.join("src/lib.rs"), source).unwrap();
        findings(root.path()).unwrap()
    }

    #[test]
    fn each_forbidden_name_is_found_in_a_model_crate() {
        for (name, reason) in FORBIDDEN_IN_MODELS {
            let found = found_in("radio", MANIFEST, &format!("fn f() {{\n    {name}();\n}}\n"));
            assert_eq!(found, [format!("crates/storey/radio/src/lib.rs:2: {name}: {reason}")]);
        }
    }

    #[test]
    fn a_wall_clock_is_found_in_every_model_crate() {
        for model in ["core", "wire", "dsr", "aodv", "dsdv", "link-quality", "radio", "world", "transport"] {
            assert_eq!(found_in(model, MANIFEST, "use std::time::Instant;\n").len(), 1, "{model}");
        }
    }

    #[test]
    fn a_crate_that_faces_the_user_may_read_the_clock() {
        assert!(found_in("cli", MANIFEST, "use std::time::Instant;\n").is_empty());
    }

    #[test]
    fn unsafe_is_found_outside_the_crate_that_calls_the_system() {
        let source = "fn f() { unsafe { g() } }\n";
        assert_eq!(
            found_in("sim", MANIFEST, source),
            ["crates/storey/sim/src/lib.rs:1: unsafe: only linux and foreign may"]
        );
        assert!(found_in("linux", MANIFEST, source).is_empty());
    }

    #[test]
    fn a_file_over_the_limit_is_found() {
        assert!(found_in("sim", MANIFEST, &"\n".repeat(800)).is_empty());
        let found = found_in("sim", MANIFEST, &"\n".repeat(801));
        assert_eq!(found, ["crates/storey/sim/src/lib.rs: 801 lines; split it by idea, 800 at most"]);
    }

    #[test]
    fn a_crate_that_leaves_the_workspace_lints_is_found() {
        let found = found_in("sim", "[package]\nname = \"x\"\n", "");
        assert_eq!(found, ["crates/storey/sim/Cargo.toml: add [lints] workspace = true"]);
        let own = "[package]\nname = \"x\"\n\n[lints.rust]\nunsafe_code = \"deny\"\n";
        assert!(found_in("linux", own, "").is_empty());
        assert_eq!(found_in("sim", own, ""), found);
    }

    #[test]
    fn a_model_crate_with_a_clippy_configuration_of_its_own_is_found() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("crates/storey/world");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("Cargo.toml"), MANIFEST).unwrap();
        fs::write(folder.join("clippy.toml"), "").unwrap();
        let found = findings(root.path()).unwrap();
        assert_eq!(
            found,
            ["crates/storey/world/clippy.toml: a model crate obeys the root's clippy.toml; remove this one"]
        );
    }
}
