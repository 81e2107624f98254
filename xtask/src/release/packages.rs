//! The program, and what it is packed into.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::options::{Options, RELEASED};
use super::{licences, linked, training};
use crate::command::{cargo, output, run};

/// What the static program is built for: it needs no library of the host.
pub(super) const STATIC: &str = "x86_64-unknown-linux-musl";

/// The systems that pip installs it on, with whatever C library.
const STATIC_WHEEL: &str = "manylinux_2_17_x86_64.musllinux_1_2_x86_64";

/// Has cargo take the crates of the source archive from its own folder.
const VENDORED: &str = "
[source.crates-io]
replace-with = \"vendored\"

[source.vendored]
directory = \"vendor\"

";

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

impl Release<'_> {
    /// The Debian package, of a program for this machine's libraries; and its symbols.
    pub(super) fn deb(&self) -> Result<Vec<String>, String> {
        let architecture = output(Command::new("dpkg").arg("--print-architecture"))?;
        let name = format!("wayhop_{}_{architecture}", self.version);
        let binary = self.program(&name, None)?;
        let licences = self.licences()?;
        let mut build = Command::new(self.root.join("packaging/build-deb"));
        run(build.arg(&binary).arg(&self.options.out).arg(&licences).env("SOURCE_DATE_EPOCH", &self.epoch))?;
        let package = format!("{name}.deb");
        let unpacked = self.folder("unpacked")?;
        let mut extract = Command::new("dpkg-deb");
        run(extract.arg("--extract").arg(self.options.out.join(&package)).arg(&unpacked))?;
        self.check(&unpacked.join("usr"))?;
        Ok(vec![package, format!("{name}.debug")])
    }

    /// An archive of the static program and what belongs to it, for a folder such as /usr/local; the Python package with that program; and
    /// its symbols.
    pub(super) fn static_archive(&self) -> Result<Vec<String>, String> {
        let name = format!("wayhop-{}-x86_64-linux", self.version);
        let binary = self.program(&name, Some(STATIC))?;
        if self.options.binary.is_none() && needs_libraries(&binary)? {
            return Err(format!("the program for {STATIC} is not static"));
        }
        let folder = self.folder(&name)?;
        let mut install = Command::new(self.root.join("packaging/install-files"));
        run(install.arg(&binary).arg(&folder).arg(self.licences()?))?;
        for name in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            let copy = folder.join("share/doc/wayhop").join(name);
            fs::copy(self.root.join(name), copy).map_err(|e| format!("{name}: {e}"))?;
        }
        let archive = self.archive(&name)?;
        let unpacked = self.folder("unpacked")?;
        run(Command::new("tar").arg("-xf").arg(self.options.out.join(&archive)).arg("-C").arg(&unpacked))?;
        self.check(&unpacked.join(&name))?;
        let mut wheel = Command::new(self.root.join("packaging/build-wheel"));
        run(wheel
            .arg(&binary)
            .arg(&self.options.out)
            .arg(STATIC_WHEEL)
            .env("SOURCE_DATE_EPOCH", &self.epoch))?;
        let wheel = format!("wayhop-{}-py3-none-{STATIC_WHEEL}.whl", self.version);
        Ok(vec![archive, wheel, format!("{name}.debug")])
    }

    /// The commit's sources with those of all crates, which build without a network.
    pub(super) fn source_archive(&self) -> Result<String, String> {
        let name = format!("wayhop-{}", self.version);
        let folder = self.folder(&name)?;
        let tar = self.options.out.join("sources.tar");
        run(Command::new("git").arg("-C").arg(self.root).args(["archive", "HEAD", "--output"]).arg(&tar))?;
        run(Command::new("tar").arg("-xf").arg(&tar).arg("-C").arg(&folder))?;
        fs::remove_file(&tar).map_err(|e| format!("{}: {e}", tar.display()))?;
        let vendor = ["vendor", "--quiet", "--locked", "--versioned-dirs", "vendor"];
        run(cargo().args(vendor).current_dir(&folder))?;
        let config = folder.join(".cargo/config.toml");
        let fails = |e| format!("{}: {e}", config.display());
        let own = fs::read_to_string(&config).map_err(fails)?;
        // Without git, the program asks this for its commit.
        let commit = format!("[env]\nWAYHOP_COMMIT = \"{}\"\n", self.commit);
        fs::write(&config, format!("{own}{VENDORED}{commit}")).map_err(fails)?;
        // Every crate is found, without those that this user has downloaded.
        let complete = ["tree", "--quiet", "--workspace", "--offline", "--locked"];
        output(cargo().args(complete).env("CARGO_HOME", self.folder("empty")?).current_dir(&folder))?;
        self.archive(&name)
    }

    /// The program without symbols. They are in `NAME.debug` in the output folder, which the program names to debuggers and profilers.
    fn program(&self, name: &str, target: Option<&str>) -> Result<PathBuf, String> {
        let built = match &self.options.binary {
            Some(binary) => binary.clone(),
            None => self.build_program(target)?,
        };
        let debug = format!("{name}.debug");
        let stripped = self.folder("stripped")?.join("wayhop");
        let objcopy = |words: &[&str], from: &Path, to: &Path| {
            run(Command::new("objcopy").args(words).arg(from).arg(to).current_dir(&self.options.out))
        };
        let symbols = ["--only-keep-debug", "--compress-debug-sections"];
        objcopy(&symbols, &built, &self.options.out.join(&debug))?;
        objcopy(&["--strip-all", &format!("--add-gnu-debuglink={debug}")], &built, &stripped)?;
        Ok(stripped)
    }

    /// Checks an unpacked package: its program starts, is of this commit, and has its manual pages and completions beside it.
    fn check(&self, folder: &Path) -> Result<(), String> {
        let version = output(Command::new(folder.join("bin/wayhop")).arg("--version"))?;
        if !version.contains(&format!("{}+{}", self.version, self.commit)) && !self.options.draft {
            return Err(format!("the packaged program is of another commit: {version}"));
        }
        for part in ["man/man1", "bash-completion/completions", "fish/vendor_completions.d", "zsh"] {
            let path = folder.join("share").join(part);
            if !path.is_dir() {
                return Err(format!("the package lacks {}", path.display()));
            }
        }
        Ok(())
    }

    fn build_program(&self, target: Option<&str>) -> Result<PathBuf, String> {
        let profile = self.options.profile.as_str();
        let mut build = vec!["build", "--locked", "--package", "wayhop-cli", "--profile", profile];
        build.extend(target.into_iter().flat_map(|t| ["--target", t]));
        let targets = std::env::var_os("CARGO_TARGET_DIR").map_or(self.root.join("target"), PathBuf::from);
        let program = Path::new(target.unwrap_or_default()).join(profile).join("wayhop");
        if profile == RELEASED {
            let folder = targets.join("training").join(target.unwrap_or("host"));
            return training::build(self.root, &folder, &build, &program);
        }
        run(cargo().args(&build).current_dir(self.root))?;
        Ok(targets.join(program))
    }

    fn licences(&self) -> Result<PathBuf, String> {
        let path = self.folder("licences")?.join("licences.txt");
        let text = licences::text(&linked::crates(self.root, STATIC)?)?;
        fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(path)
    }

    /// An empty folder among what is thrown away.
    fn folder(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.scratch.path().join(name);
        fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        Ok(folder)
    }

    /// Packs a folder, the same octets for the same files.
    fn archive(&self, name: &str) -> Result<String, String> {
        let archive = format!("{name}.tar.gz");
        let mut tar = Command::new("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rw,go+r-w,a+X"]);
        tar.arg(format!("--mtime=@{}", self.epoch)).arg("--use-compress-program=gzip -9n");
        run(tar
            .arg("-cf")
            .arg(self.options.out.join(&archive))
            .arg("-C")
            .arg(self.scratch.path())
            .arg(name))?;
        Ok(archive)
    }
}

/// Whether a program is linked to libraries, which an interpreter loads when it starts.
fn needs_libraries(program: &Path) -> Result<bool, String> {
    let headers = ["--program-headers", "--wide"];
    Ok(output(Command::new("readelf").args(headers).arg(program))?.contains(" INTERP "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_is_not_static_is_found() {
        assert_eq!(needs_libraries(&std::env::current_exe().unwrap()), Ok(true));
    }
}
