//! The packages: `cargo xtask release` packs the program under test, a Debian with nothing but its base system installs it, runs what it
//! installed, and removes it.
//!
//! Needs root, and what `.ci/install test` and `.ci/install fixtures` install, the base system in `target/debian` among it. Without root
//! the test is skipped with a message; in CI it fails.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

const TOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../..");

/// What a command printed; it has to succeed.
fn said(command: &str, arguments: &[&str]) -> String {
    let done = Command::new(command).args(arguments).env("LC_ALL", "C").output().expect("it is installed");
    let text = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command} {arguments:?}: {text}");
    text.into_owned()
}

/// What the package installs beside manual pages, scenarios and Wireshark's plugin.
const PLACES: [&str; 15] = [
    "/usr/bin/wayhop",
    "/usr/lib/systemd/system/wayhop-node@.service",
    "/usr/share/bash-completion/completions/wayhop",
    "/usr/share/doc/wayhop/CHANGELOG.md.gz",
    "/usr/share/doc/wayhop/changelog.gz",
    "/usr/share/doc/wayhop/control.md",
    "/usr/share/doc/wayhop/copyright",
    "/usr/share/doc/wayhop/examples/node.toml",
    "/usr/share/doc/wayhop/field-node.md",
    "/usr/share/doc/wayhop/licences.txt.gz",
    "/usr/share/doc/wayhop/node.md",
    "/usr/share/doc/wayhop/security.md",
    "/usr/share/doc/wayhop/wireshark.md",
    "/usr/share/fish/vendor_completions.d/wayhop.fish",
    "/usr/share/zsh/vendor-completions/_wayhop",
];

/// The folder from which Debian's tshark loads plugins, as it says itself.
fn plugin_folder() -> String {
    let folders = said("tshark", &["-G", "folders"]);
    let found = folders.lines().find_map(|l| l.strip_prefix("Global Lua Plugins:")).expect("a folder");
    found.trim().to_owned()
}

/// Another system: a copy of Debian's base system, without a network.
struct Debian(String);

impl Debian {
    fn new(root: String) -> Self {
        Self::copy_of(&format!("{TOP}/target/debian"), root)
    }

    /// `base` may be a symbolic link: a copy of the link would let the test change the base itself.
    fn copy_of(base: &str, root: String) -> Self {
        let real = fs::canonicalize(base).unwrap_or_else(|e| panic!("{base}: {e}: .ci/install fixtures"));
        said("cp", &["--archive", "--reflink=auto", real.to_str().unwrap(), &root]);
        Self(root)
    }

    /// What commands of a shell print there.
    fn said(&self, script: &str) -> String {
        let proc = format!("--mount-proc={}/proc", self.0);
        said("unshare", &["--fork", "--pid", "--net", &proc, "chroot", &self.0, "sh", "-euc", script])
    }

    /// All that is there, but for what dpkg keeps of every package that was ever there.
    fn files(&self) -> BTreeSet<String> {
        let all = said("find", &[&self.0, "-xdev"]);
        let all = all.lines().map(|l| l.strip_prefix(&self.0).unwrap().to_owned());
        let of_dpkg = ["/var/lib/dpkg/status-old", "/var/lib/dpkg/lock", "/var/log/dpkg.log"];
        all.filter(|path| !of_dpkg.iter().any(|p| path.starts_with(p))).collect()
    }
}

/// The package of the program under test.
fn package(folder: &str) -> String {
    let program = env!("CARGO_BIN_EXE_wayhop");
    let xtask = Path::new(program).with_file_name("xtask");
    let mut release = Command::new(&xtask);
    release.args(["release", "--draft", "--binary", program, "--only", "deb,static,sbom", "--out", folder]);
    // A program for tests is large.
    release.env("DPKG_DEB_COMPRESSOR_TYPE", "none");
    let done = release.output().unwrap_or_else(|e| panic!("{}: {e}; build the workspace", xtask.display()));
    assert!(done.status.success(), "{done:?}");
    let sums = said("sh", &["-euc", &format!("cd {folder} && sha256sum --check --strict SHA256SUMS && ls")]);
    assert!(sums.contains(concat!("wayhop-", env!("CARGO_PKG_VERSION"), ".cdx.json: OK")), "{sums}");
    let architecture = said("dpkg", &["--print-architecture"]);
    let package = format!("{folder}/wayhop_{}_{}.deb", env!("CARGO_PKG_VERSION"), architecture.trim());
    let field = |name: &str| said("dpkg-deb", &["--field", &package, name]).trim().to_owned();
    assert_eq!((field("Package"), field("Version")), ("wayhop".into(), env!("CARGO_PKG_VERSION").into()));
    let needed = said("readelf", &["--version-info", "--wide", program]);
    let minor = |version: &str| version.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok();
    let newest = needed.split("Name: GLIBC_2.").skip(1).filter_map(minor).max().expect("a version of glibc");
    assert_eq!(field("Depends"), format!("libc6 (>= 2.{newest}), libgcc-s1"));
    for l in said("dpkg-deb", &["--contents", &package]).lines() {
        assert!(l.contains(" root/root "), "{l}");
        assert!(l.starts_with("drwxr-xr-x") || l.starts_with("-rw-r--r--") || l.contains("/usr/bin/"), "{l}");
    }
    package
}

#[test]
fn the_debian_package_installs_program_and_unit_and_leaves_without_a_trace() {
    if said("id", &["-u"]) != "0\n" {
        assert!(std::env::var_os("CI").is_none(), "this test needs root in CI");
        eprintln!("skipped: needs root");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let package = package(&path("dist"));
    let debian = Debian::new(path("root"));
    let root = &debian.0;
    fs::create_dir_all(format!("{root}/etc/systemd/system/multi-user.target.wants")).unwrap();
    let before = debian.files();
    fs::copy(&package, format!("{root}/wayhop.deb")).unwrap();
    debian.said("dpkg --install wayhop.deb && rm wayhop.deb");
    check_files(root, &debian.files().difference(&before).cloned().collect());
    check_unit(root, &path("wayhop-node@field.service"));

    // The first minute of somebody who has just installed it.
    let version = debian.said("wayhop --version");
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
    let doctor = debian.said("wayhop doctor");
    assert!(doctor.contains("sim: works here"), "{doctor}");
    let run = debian.said("cd /tmp && wayhop run /usr/share/wayhop/scenarios/chain.toml");
    assert!(run.contains("delivered"), "{run}");
    let figure = debian.said("cd /tmp && wayhop plot delivery runs/* --out figure.svg && head -c 200 figure.svg && rm -r runs figure.*");
    assert!(figure.contains("<svg"), "{figure}");

    // What a node that was enabled leaves.
    let enabled = format!("{root}/etc/systemd/system/multi-user.target.wants/wayhop-node@field.service");
    symlink("/usr/lib/systemd/system/wayhop-node@.service", enabled).unwrap();
    for state in ["log/wayhop", "lib/wayhop/home-agent-10.0.0.1"] {
        fs::create_dir_all(format!("{root}/var/{state}")).unwrap();
        fs::write(format!("{root}/var/{state}/file"), "").unwrap();
    }
    debian.said("dpkg --purge wayhop");
    assert_eq!(debian.files().symmetric_difference(&before).collect::<Vec<_>>(), Vec::<&String>::new());
    check_archive(&debian, &path("dist"), &before);
}

/// Unpacks the other archive as README.md says: it works from there, and only `bin` and `share` are new.
fn check_archive(debian: &Debian, packages: &str, before: &BTreeSet<String>) {
    let name = concat!("wayhop-", env!("CARGO_PKG_VERSION"), "-x86_64-linux.tar.gz");
    fs::copy(format!("{packages}/{name}"), format!("{}/{name}", debian.0)).unwrap();
    let unpack = format!("tar -xzf {name} -C /usr/local --strip-components=1 && rm {name}");
    let run = debian.said(&format!(
        "{unpack} && wayhop run /usr/local/share/wayhop/scenarios/chain.toml --out /run/chain"
    ));
    assert!(run.contains("delivered"), "{run}");
    // A host that has nothing but the program can have namespaces.
    let doctor = debian.said("PATH= /usr/local/bin/wayhop doctor");
    assert!(doctor.contains("ok      network namespaces: tried, works"), "{doctor}");
    debian.said("rm -r /run/chain && test -f /usr/local/share/man/man1/wayhop-run.1");
    let places = ["/usr/local/bin/wayhop", "/usr/local/share/"];
    let after = debian.files();
    let others = after.difference(before).filter(|f| !places.iter().any(|p| f.starts_with(p)));
    assert_eq!(others.collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn a_base_system_behind_a_symbolic_link_is_copied_and_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::create_dir(path("base")).unwrap();
    symlink(path("base"), path("link")).unwrap();
    let debian = Debian::copy_of(&path("link"), path("root"));
    fs::write(format!("{}/wayhop.deb", debian.0), "").unwrap();
    assert_eq!(fs::read_dir(path("base")).unwrap().count(), 0);
}

fn check_files(root: &str, new: &BTreeSet<String>) {
    let files: Vec<&str> =
        new.iter().map(String::as_str).filter(|f| Path::new(&format!("{root}{f}")).is_file()).collect();
    let below = |folder: &str| files.iter().filter(|f| f.starts_with(folder)).count();
    let plugin = format!("{}/wayhop.lua", plugin_folder());
    let [manual, scenarios, dpkg] =
        ["/usr/share/man/man1/wayhop", "/usr/share/wayhop/scenarios/", "/var/lib/dpkg/"];
    let others =
        files.iter().filter(|f| ![manual, scenarios, dpkg, &plugin].iter().any(|p| f.starts_with(p)));
    assert_eq!(others.copied().collect::<Vec<_>>(), PLACES);
    assert!(below(manual) > 50 && below(scenarios) > 30, "{files:?}");
    assert!(files.contains(&&*plugin), "{plugin}");
    assert_eq!(fs::metadata(format!("{root}/usr/bin/wayhop")).unwrap().permissions().mode() & 0o7777, 0o755);
    said("man", &["--warnings", "-l", &format!("{root}{manual}-node.1.gz")]);
    let completions = PLACES.iter().filter(|p| p.contains("completions"));
    for (shell, file) in [("bash", "-n"), ("fish", "--no-execute"), ("zsh", "-n")].iter().zip(completions) {
        said(shell.0, &[shell.1, &format!("{root}{file}")]);
    }
    let licences =
        said("gzip", &["--decompress", "--stdout", &format!("{root}/usr/share/doc/wayhop/licences.txt.gz")]);
    assert!(licences.contains("\nserde 1.") && licences.contains("MIT License"), "{licences}");
    let example = format!("{root}/usr/share/doc/wayhop/examples/node.toml");
    // The host of this test need not have the example's interface: that is said after the configuration.
    let checked =
        Command::new(format!("{root}/usr/bin/wayhop")).args(["node", &example, "--check"]).output().unwrap();
    assert!(String::from_utf8_lossy(&checked.stdout).contains("interface = \"wlan0\""), "{checked:?}");
    let lacks = String::from_utf8_lossy(&checked.stderr).contains("wayhop: interface wlan0: No such device");
    assert_eq!((checked.status.code(), lacks), (Some(if lacks { 2 } else { 0 }), lacks), "{checked:?}");
}

/// The unit, with the program where it is here.
fn check_unit(root: &str, instance: &str) {
    let unit = fs::read_to_string(format!("{root}/usr/lib/systemd/system/wayhop-node@.service")).unwrap();
    fs::write(instance, unit.replace("/usr/bin/wayhop", &format!("{root}/usr/bin/wayhop"))).unwrap();
    assert_eq!(said("systemd-analyze", &["verify", "--man=no", instance]), "");
    // At most 4 of 10: what is left is what a router needs (SERVICE EXPOSURE in systemd-analyze(1)).
    said("systemd-analyze", &["security", "--no-pager", "--offline=true", "--threshold=40", instance]);
}
