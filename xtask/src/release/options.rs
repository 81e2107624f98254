//! The command line of `cargo xtask release`.

use std::path::{Path, PathBuf};

/// What can be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The Debian package.
    Deb,
    /// The archive with the statically linked program, and the Python package with it.
    Static,
    /// The sources with those of all dependencies.
    Source,
    /// The bill of materials.
    Sbom,
}

/// The profile of what is published.
pub(super) const RELEASED: &str = "dist";

const PARTS: [(&str, Part); 4] =
    [("deb", Part::Deb), ("static", Part::Static), ("source", Part::Source), ("sbom", Part::Sbom)];

/// How to build the release.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) profile: String,
    pub(super) parts: Vec<Part>,
    /// A program to package instead of one that is built for it.
    pub(super) binary: Option<PathBuf>,
    pub(super) out: PathBuf,
    /// Builds even if the version's files disagree, and does not say how to publish the result.
    pub(super) draft: bool,
}

impl Options {
    /// Reads the words that follow `release`.
    pub(super) fn parse(root: &Path, words: &[&str]) -> Result<Self, String> {
        let mut options = Self {
            profile: RELEASED.into(),
            parts: PARTS.map(|(_, part)| part).into(),
            binary: None,
            out: root.join("dist"),
            draft: false,
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().ok_or(format!("{word} needs a value"));
            match word {
                "--profile" => (*value()?).clone_into(&mut options.profile),
                "--only" => options.parts = parts(value()?)?,
                "--binary" => options.binary = Some(path(value()?)?),
                "--out" => options.out = path(value()?)?,
                "--draft" => options.draft = true,
                _ => return Err(format!("unknown option {word}: cargo xtask help")),
            }
        }
        if !options.draft && (options.profile != RELEASED || options.binary.is_some()) {
            return Err(
                "--profile and --binary need --draft: releases are built with the profile dist".into()
            );
        }
        Ok(options)
    }
}

/// The same wherever a program runs.
fn path(word: &str) -> Result<PathBuf, String> {
    std::path::absolute(word).map_err(|e| format!("{word}: {e}"))
}

fn parts(names: &str) -> Result<Vec<Part>, String> {
    let part = |name| {
        let found = PARTS.iter().find(|(n, _)| *n == name);
        found.map(|(_, part)| *part).ok_or(format!("--only {name}: use deb, static, source or sbom"))
    };
    names.split(',').map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_that_is_no_draft_is_built_with_its_own_profile() {
        let parse = |words: &[&str]| Options::parse(Path::new("/r"), words);
        let all = parse(&[]).unwrap();
        assert_eq!((all.profile.as_str(), all.parts.len(), all.draft), ("dist", 4, false));
        assert!(parse(&["--profile", "demo"]).is_err());
        let some = parse(&["--draft", "--profile", "demo", "--only", "deb,source"]).unwrap();
        assert_eq!((some.profile.as_str(), some.parts), ("demo", vec![Part::Deb, Part::Source]));
        assert!(parse(&["--only", "rpm"]).unwrap_err().contains("rpm"));
        assert!(parse(&["--out"]).is_err());
    }
}
