//! The code that this program was built from.

use std::collections::BTreeSet;
use std::sync::OnceLock;

static OF_PROGRAM: OnceLock<&'static str> = OnceLock::new();

/// The version of the workspace: `0.2.0`.
pub const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// What every record of this program says of it, by Semantic Versioning with the commit as build metadata: `0.2.0+1a2b3c4d5e6f`,
/// `0.2.0+1a2b3c4d5e6f.modified` if the tree had changes, and `0.2.0+unknown` without git, and in tests of single crates.
pub fn full() -> &'static str {
    OF_PROGRAM.get().copied().unwrap_or(concat!(env!("CARGO_PKG_VERSION"), "+unknown"))
}

/// Sets [`full`], once: only the program's own build script knows the commit, so that a new commit
/// recompiles one crate only.
pub fn set(full: &'static str) {
    let _ = OF_PROGRAM.set(full);
}

/// The release that a recorded version is of: `0.2.0` of `0.2.0+1a2b3c4d5e6f`.
pub fn release_of(version: &str) -> &str {
    version.split_once('+').map_or(version, |(release, _)| release)
}

/// These versions with commas between them, if they differ: records of different code.
pub fn different<'a>(versions: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let all: BTreeSet<&str> = versions.into_iter().collect();
    (all.len() > 1).then(|| all.into_iter().collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_without_commit_is_of_the_same_release() {
        assert_eq!(release_of("0.2.0+1a2b.modified"), "0.2.0");
        assert_eq!(release_of("0.1.0"), "0.1.0");
        assert_eq!(release_of(full()), RELEASE);
    }

    #[test]
    fn versions_that_differ_are_listed() {
        assert_eq!(different(["0.2.0+b", "0.1.0", "0.2.0+b"]).as_deref(), Some("0.1.0, 0.2.0+b"));
        assert_eq!(different(["0.2.0+b", "0.2.0+b"]), None);
        assert_eq!(different([]), None);
    }
}
