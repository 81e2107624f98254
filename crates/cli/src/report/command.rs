//! What a page says of itself.

use std::path::PathBuf;

/// The command that makes a page again.
pub(super) fn command(of: &[PathBuf]) -> String {
    let shown: Vec<String> = of.iter().map(|p| p.display().to_string()).collect();
    format!("wayhop report {}", shown.join(" "))
}
