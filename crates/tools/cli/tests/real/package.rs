//! The Debian package (packaging/): it is built of the program under test, installed into a folder, and removed.
//!
//! Needs root, and Debian's dpkg, tshark and systemd-analyze (`.ci/install test`). Without root the test is skipped with a message; in
//! CI it fails.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
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

/// What the package installs beside manual pages and Wireshark's plugin.
const PLACES: [&str; 12] = [
    "/usr/bin/wayhop",
    "/usr/lib/systemd/system/wayhop-node@.service",
    "/usr/share/bash-completion/completions/wayhop",
    "/usr/share/doc/wayhop/CHANGELOG.md.gz",
    "/usr/share/doc/wayhop/changelog.gz",
    "/usr/share/doc/wayhop/control.md",
    "/usr/share/doc/wayhop/copyright",
    "/usr/share/doc/wayhop/examples/node.toml",
    "/usr/share/doc/wayhop/field-node.md",
    "/usr/share/doc/wayhop/node.md",
    "/usr/share/doc/wayhop/security.md",
    "/usr/share/doc/wayhop/wireshark.md",
];

/// The folder from which Debian's tshark loads plugins, as it says itself.
fn plugin_folder() -> String {
    let folders = said("tshark", &["-G", "folders"]);
    let found = folders.lines().find_map(|l| l.strip_prefix("Global Lua Plugins:")).expect("a folder");
    found.trim().to_owned()
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
    said(&format!("{TOP}/packaging/build-deb"), &[env!("CARGO_BIN_EXE_wayhop"), &path("")]);
    let package = fs::read_dir(folder.path())
        .unwrap()
        .map(|e| e.unwrap().path())
        .find(|p| p.extension().is_some_and(|e| e == "deb"));
    let package = package.expect("a package").to_str().unwrap().to_owned();
    let field = |name: &str| said("dpkg-deb", &["--field", &package, name]).trim().to_owned();
    assert_eq!(
        (field("Package"), field("Version")),
        ("wayhop".to_owned(), env!("CARGO_PKG_VERSION").to_owned())
    );
    let contents = said("dpkg-deb", &["--contents", &package]);
    for l in contents.lines() {
        assert!(l.contains(" root/root "), "{l}");
        assert!(l.starts_with("drwxr-xr-x") || l.starts_with("-rw-r--r--") || l.contains("/usr/bin/"), "{l}");
    }

    // A system with nothing but dpkg's own lists.
    let root = path("root");
    for list in ["updates", "info", "triggers"] {
        fs::create_dir_all(Path::new(&root).join("var/lib/dpkg").join(list)).unwrap();
    }
    fs::write(Path::new(&root).join("var/lib/dpkg/status"), "").unwrap();
    let dpkg = |what: &[&str]| {
        let root = format!("--root={root}");
        let all =
            [&["--force-depends", "--force-script-chrootless", "--log=/dev/null", &root], what].concat();
        said("dpkg", &all)
    };
    let files = || {
        let all = said("find", &[&root, "-path", "*/var/lib/dpkg", "-prune", "-o", "-type", "f", "-print"]);
        let mut all: Vec<String> = all.lines().map(|l| l.strip_prefix(&root).unwrap().to_owned()).collect();
        all.sort();
        all
    };
    dpkg(&["--install", &package]);
    let (manual, others): (Vec<String>, Vec<String>) =
        files().into_iter().partition(|f| f.starts_with("/usr/share/man/man1/wayhop"));
    assert!(manual.contains(&"/usr/share/man/man1/wayhop-node.1.gz".to_owned()), "{manual:?}");
    said("man", &["--warnings", "-l", &format!("{root}/usr/share/man/man1/wayhop-node.1.gz")]);
    let plugin = format!("{}/wayhop.lua", plugin_folder());
    let without: Vec<String> = others.iter().filter(|f| **f != plugin).cloned().collect();
    assert_eq!((without.len() + 1, without), (others.len(), PLACES.map(str::to_owned).to_vec()));
    let program = format!("{root}/usr/bin/wayhop");
    assert_eq!(fs::metadata(&program).unwrap().permissions().mode() & 0o7777, 0o755);
    assert!(said(&program, &["--version"]).contains(env!("CARGO_PKG_VERSION")));
    let example = format!("{root}/usr/share/doc/wayhop/examples/node.toml");
    // The host of this test need not have the example's interface: that is said after the configuration.
    let checked = Command::new(&program).args(["node", &example, "--check"]).output().unwrap();
    assert!(String::from_utf8_lossy(&checked.stdout).contains("interface = \"wlan0\""), "{checked:?}");
    let lacks = String::from_utf8_lossy(&checked.stderr).contains("wayhop: interface wlan0: No such device");
    assert_eq!((checked.status.code(), lacks), (Some(if lacks { 2 } else { 0 }), lacks), "{checked:?}");
    said("bash", &["-n", &format!("{root}/usr/share/bash-completion/completions/wayhop")]);

    // The unit, with the program where it is here.
    let unit = fs::read_to_string(format!("{root}/usr/lib/systemd/system/wayhop-node@.service")).unwrap();
    let instance = path("wayhop-node@field.service");
    fs::write(&instance, unit.replace("/usr/bin/wayhop", &program)).unwrap();
    assert_eq!(said("systemd-analyze", &["verify", "--man=no", &instance]), "");
    // At most 4 of 10: what is left is what a router needs (SERVICE EXPOSURE in systemd-analyze(1)).
    said("systemd-analyze", &["security", "--no-pager", "--offline=true", "--threshold=40", &instance]);

    dpkg(&["--remove", "wayhop"]);
    assert_eq!(files(), Vec::<String>::new());
}
