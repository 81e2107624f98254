//! The sample output in the README.

use std::path::Path;
use std::process::Command;

/// Runs the README's commands and writes what they print into its samples. The test that compares them does both, since it
/// has the program at hand; `cargo test` fails on a stale sample.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let status = Command::new(cargo)
        .args(["test", "--quiet", "--package", "wayhop-cli", "--test", "cli", "readme::the_five_minutes"])
        .current_dir(root)
        .env("WAYHOP_REWRITE_SAMPLES", "1")
        .status()
        .map_err(|error| format!("cannot run cargo: {error}"))?;
    if status.success() { Ok(()) } else { Err("the README's commands failed, see above".into()) }
}
