//! The protocol or application of a log: built in, or of a library that the user names.
//!
//! The log's own run directory says where the library was, but a stranger's log must not choose code to run.

use std::path::{Path, PathBuf};

use wayhop_core::{ApplicationDescription, Description};

/// The protocol of this name.
pub(super) fn protocol(name: &str, libraries: &[PathBuf]) -> Result<&'static Description, String> {
    if let Some(known) = wayhop_protocols::find(name) {
        return Ok(known);
    }
    // A model of ns-3 is found by its name, among the libraries that the user installed.
    let model = wayhop_protocols::locate(name).filter(|_| name.starts_with("ns3:") && libraries.is_empty());
    let model = model.transpose().map_err(|e| format!("{}; {}", e.problem, e.remedy))?;
    let libraries: Vec<&Path> = model.iter().chain(libraries).map(PathBuf::as_path).collect();
    let names: Vec<_> = wayhop_protocols::names().collect();
    of_this_name(("protocol", name, &names), &libraries, wayhop_protocols::load, |d| d.name)
}

/// The application of this name.
pub(super) fn application(
    name: &str,
    libraries: &[PathBuf],
) -> Result<&'static ApplicationDescription, String> {
    if let Some(known) = wayhop_applications::find(name) {
        return Ok(known);
    }
    let libraries: Vec<&Path> = libraries.iter().map(PathBuf::as_path).collect();
    let names: Vec<_> = wayhop_applications::names().collect();
    of_this_name(("application", name, &names), &libraries, wayhop_applications::load, |d| d.name)
}

/// What the first library that has something of this name gives.
fn of_this_name<T>(
    (kind, name, built_in): (&str, &str, &[&str]),
    libraries: &[&Path],
    load: fn(&Path) -> Result<&'static T, String>,
    its_name: fn(&T) -> &'static str,
) -> Result<&'static T, String> {
    let mut refused = Vec::new();
    for path in libraries {
        match load(path) {
            Ok(found) if its_name(found) == name => return Ok(found),
            Ok(other) => refused.push(format!("; {} has the {kind} {}", path.display(), its_name(other))),
            Err(why) => refused.push(format!("; cannot use {}: {why}", path.display())),
        }
    }
    if libraries.is_empty() {
        refused.push("; for one of a shared library or Python module, add --library FILE".to_owned());
    }
    Err(format!("unknown {kind} {name:?}; known {kind}s: {}{}", built_in.join(", "), refused.concat()))
}
