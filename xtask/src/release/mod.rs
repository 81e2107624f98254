//! `cargo xtask release`: everything that is published of a version, in one folder.

mod agreement;
mod licences;
mod linked;
mod options;
mod packages;
mod sbom;
mod training;

use std::fs;
use std::path::Path;
use std::process::Command;

use options::{Options, Part};
use packages::Release;
use tempfile::TempDir;

use crate::command::output;

/// Builds the packages that `words` ask for; or returns what disagrees with the version, one line each.
pub(crate) fn release(root: &Path, words: &[&str]) -> Result<Vec<String>, String> {
    let options = Options::parse(root, words)?;
    let git = |words: &[&str]| output(Command::new("git").arg("-C").arg(root).args(words));
    let release = Release {
        root,
        version: agreement::version(root)?,
        commit: git(&["rev-parse", "--short=12", "HEAD"])?,
        epoch: git(&["show", "--no-patch", "--format=%ct", "HEAD"])?,
        options,
        scratch: TempDir::new().map_err(|e| format!("no folder for the packages' files: {e}"))?,
    };
    let findings = agreement::findings(root, &release.version)?;
    if release.options.draft {
        for finding in &findings {
            eprintln!("draft: {finding}");
        }
    } else if !findings.is_empty() {
        return Ok(findings);
    }
    release.build()?;
    Ok(Vec::new())
}

impl Release<'_> {
    fn build(&self) -> Result<(), String> {
        let out = &self.options.out;
        fs::create_dir_all(out).map_err(|e| format!("{}: {e}", out.display()))?;
        let mut made = Vec::new();
        if self.makes(Part::Deb) {
            made.extend(self.deb()?);
        }
        if self.makes(Part::Static) {
            made.extend(self.static_archive()?);
        }
        if self.makes(Part::Source) {
            made.push(self.source_archive()?);
        }
        if self.makes(Part::Sbom) {
            made.push(self.sbom()?);
        }
        let sums = output(Command::new("sha256sum").arg("--").args(&made).current_dir(out))?;
        self.write("SHA256SUMS", &format!("{sums}\n"))?;
        println!("{}:\n{sums}", out.display());
        if !self.options.draft {
            self.print_commands();
        }
        Ok(())
    }

    fn makes(&self, part: Part) -> bool {
        self.options.parts.contains(&part)
    }

    /// The bill of materials, of what the static program has in it.
    fn sbom(&self) -> Result<String, String> {
        let linked = linked::crates(self.root, packages::STATIC)?;
        let name = format!("wayhop-{}.cdx.json", self.version);
        self.write(&name, &sbom::cyclonedx(&self.version, &self.epoch, &linked)?)?;
        Ok(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.options.out.join(name);
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// What is left to do, by hand: nothing here publishes.
    fn print_commands(&self) {
        let (version, out) = (&self.version, self.options.out.display());
        println!(
            "
To publish it:
  git tag --annotate v{version} --message 'Wayhop {version}'
  git push origin v{version}
  gh release create v{version} --verify-tag --title 'Wayhop {version}' {out}/*
  make site WAYHOP_REPOSITORY_FILES=https://HOST/OWNER/wayhop/blob/v{version}/   # then copy site/ to the web server"
        );
    }
}
