//! Whether everything that names a version names the same one, and the tree is what will be tagged.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::command::output;

/// Pages that name packages by their version.
const PAGES: [&str; 4] =
    ["README.md", "packaging/README.md", "packaging/Containerfile", "docs/development/release.md"];

pub(super) fn version(root: &Path) -> Result<String, String> {
    let text = read(root, "Cargo.toml")?;
    let version = text.lines().find_map(|l| l.strip_prefix("version = \"")?.strip_suffix('"'));
    version.map(str::to_owned).ok_or("Cargo.toml: no version".into())
}

/// What has to be mended before the version is released.
pub(super) fn findings(root: &Path, version: &str) -> Result<Vec<String>, String> {
    let mut findings: Vec<String> = changelog(&read(root, "CHANGELOG.md")?, version).into_iter().collect();
    for page in PAGES {
        findings.extend(
            others(&read(root, page)?, version)
                .map(|other| format!("{page}: names version {other}, and this is {version}")),
        );
    }
    let git = |words: &[&str]| output(Command::new("git").arg("-C").arg(root).args(words));
    if !git(&["status", "--porcelain"])?.is_empty() {
        findings.push("the tree has changes that are not committed: git status".into());
    }
    let tag = format!("v{version}");
    if !git(&["tag", "--list", &tag])?.is_empty()
        && git(&["rev-parse", &format!("{tag}^{{commit}}")])? != git(&["rev-parse", "HEAD"])?
    {
        findings.push(format!("the tag {tag} is at another commit: raise the version in Cargo.toml"));
    }
    Ok(findings)
}

/// The newest section is that of this version, with a date.
fn changelog(text: &str, version: &str) -> Option<String> {
    let first = text.lines().find(|l| l.starts_with("## ")).unwrap_or_default();
    let date = first.strip_prefix(&format!("## [{version}] - "));
    let is_date = |d: &str| {
        let digits: Vec<&str> = d.split('-').collect();
        digits.len() == 3 && digits.iter().all(|part| part.parse::<u16>().is_ok())
    };
    (!date.is_some_and(is_date))
        .then(|| format!("CHANGELOG.md: begins with \"{first}\", not \"## [{version}] - DATE\""))
}

/// Versions other than this one in the names of packages.
fn others<'a>(text: &'a str, version: &'a str) -> impl Iterator<Item = &'a str> {
    let names = text.match_indices("wayhop").filter_map(|(at, _)| {
        let rest = text[at..].strip_prefix("wayhop-").or_else(|| text[at..].strip_prefix("wayhop_"))?;
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let named = rest[..end].trim_end_matches('.');
        named.contains('.').then_some(named)
    });
    names.filter(move |named| *named != version)
}

fn read(root: &Path, name: &str) -> Result<String, String> {
    fs::read_to_string(root.join(name)).map_err(|e| format!("{name}: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changelog_without_this_version_or_its_date_is_found() {
        let told = |heading: &str| {
            changelog(&format!("# Changelog\n\n## {heading}\n\n## [0.1.0] - 2026-01-02\n"), "0.2.0")
        };
        assert_eq!(told("[0.2.0] - 2026-11-26"), None);
        assert!(told("[0.2.0] - unreleased").is_some());
        assert!(told("[0.3.0] - 2026-11-26").is_some());
        assert!(changelog("", "0.2.0").is_some());
    }

    #[test]
    fn packages_of_other_versions_are_found() {
        let text =
            "wayhop_0.2.0_amd64.deb wayhop-0.1.0-x86_64-linux.tar.gz wayhop-node@.service ./wayhop_0.2.0.";
        assert_eq!(others(text, "0.2.0").collect::<Vec<_>>(), ["0.1.0"]);
    }

    #[test]
    fn the_tree_is_compared_with_its_tag() {
        let root = tempfile::tempdir().unwrap();
        let git = |words: &[&str]| {
            let identity = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
            output(Command::new("git").current_dir(root.path()).args(identity).args(words)).unwrap()
        };
        for folder in ["packaging", "docs/development"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        for page in PAGES {
            fs::write(root.path().join(page), "wayhop_0.2.0_amd64.deb\n").unwrap();
        }
        fs::write(root.path().join("CHANGELOG.md"), "## [0.2.0] - 2026-11-26\n").unwrap();
        git(&["init", "--quiet"]);
        git(&["add", "."]);
        git(&["commit", "--quiet", "--message", "one"]);
        let found = || findings(root.path(), "0.2.0").unwrap();
        assert_eq!(found(), Vec::<String>::new());
        git(&["tag", "--annotate", "v0.2.0", "--message", "it"]);
        assert_eq!(found(), Vec::<String>::new());
        fs::write(root.path().join("README.md"), "wayhop-0.1.9.tar.gz\n").unwrap();
        assert_eq!(found().len(), 2, "{:?}", found());
        git(&["commit", "--quiet", "--all", "--message", "two"]);
        assert!(found().iter().any(|f| f.contains("the tag v0.2.0")), "{:?}", found());
    }
}
