//! The sample output in the README and the tutorials.

use std::path::Path;
use std::process::Command;

/// Runs the pages' commands and writes what they print into their samples. The tests that compare them do both, since they
/// have the program at hand; `cargo test` fails on a stale sample.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["test", "--quiet", "--package", "wayhop-cli", "--test", "cli", "pages::"])
        .current_dir(root)
        .env("WAYHOP_REWRITE_SAMPLES", "1")
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("a page's commands failed, see above".into()) }
}
