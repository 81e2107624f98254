//! The sample output in the README and the tutorials.

use std::path::Path;

use crate::command::{cargo, run};

/// Runs the pages' commands and writes what they print into their samples. The tests that compare them do both, since they
/// have the program at hand; `cargo test` fails on a stale sample.
pub(crate) fn write(root: &Path) -> Result<(), String> {
    let words = ["test", "--quiet", "--package", "wayhop-cli", "--test", "cli", "pages::"];
    run(cargo().args(words).current_dir(root).env("WAYHOP_REWRITE_SAMPLES", "1"))
}
