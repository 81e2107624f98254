//! What is released, and how.

use std::path::Path;

use tempfile::TempDir;

use super::options::Options;

/// The release under way.
pub(super) struct Release<'a> {
    /// The repository.
    pub(super) root: &'a Path,
    pub(super) version: String,
    /// The commit that is checked out, twelve digits of it, and when it was made, in seconds since 1970.
    pub(super) commit: String,
    pub(super) epoch: String,
    pub(super) options: Options,
    /// Where packages are put together.
    pub(super) scratch: TempDir,
}
