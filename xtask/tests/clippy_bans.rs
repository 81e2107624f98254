//! The bans of the root's clippy.toml bite, in the way that the workspace's crates meet them.

use std::fs;
use std::path::Path;
use std::process::Command;

const MANIFEST: &str = "[package]\nname = \"victim\"\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
    [lib]\npath = \"lib.rs\"\n\n[lints.clippy]\ndisallowed_methods = \"deny\"\ndisallowed_types = \"deny\"\n";

/// Uses of what a model may not name, one a line, with the path that clippy then reports.
const USES: &[(&str, &str)] = &[
    ("pub fn a() { let _ = std::time::Instant::now(); }", "std::time::Instant::now"),
    ("pub fn b() { let _ = std::time::SystemTime::now(); }", "std::time::SystemTime::now"),
    ("pub type C = std::collections::HashMap<u8, u8>;", "std::collections::HashMap"),
    ("pub type D = std::collections::HashSet<u8>;", "std::collections::HashSet"),
    ("pub type E = std::hash::RandomState;", "std::hash::RandomState"),
    ("pub fn f() { std::thread::spawn(|| ()); }", "std::thread::spawn"),
    ("pub fn g(x: f64) -> f64 { x.ln() }", "f64::ln"),
    ("pub fn h(x: f64) -> f64 { x.powi(2) }", "f64::powi"),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// Runs clippy on a package in a folder below one that holds the root's clippy.toml.
fn clippy_says(own_configuration: Option<&str>) -> (bool, String) {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("crates/victim");
    fs::create_dir_all(&package).unwrap();
    fs::copy(root().join("clippy.toml"), folder.path().join("clippy.toml")).unwrap();
    fs::write(package.join("Cargo.toml"), MANIFEST).unwrap();
    let source: Vec<&str> = USES.iter().map(|(line, _)| *line).collect();
    fs::write(package.join("lib.rs"), source.join("\n")).unwrap();
    if let Some(text) = own_configuration {
        fs::write(package.join("clippy.toml"), text).unwrap();
    }
    let output = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .args(["clippy", "--offline", "--quiet", "--target-dir"])
        .arg(folder.path().join("target"))
        .current_dir(&package)
        .env_remove("CLIPPY_CONF_DIR")
        .output()
        .unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn a_crate_below_the_root_configuration_meets_every_ban() {
    let (passed, errors) = clippy_says(None);
    assert!(!passed);
    for (line, path) in USES {
        assert!(errors.contains(&format!("`{path}`")), "{line} went through:\n{errors}");
    }
}

#[test]
fn a_crate_with_a_configuration_of_its_own_is_free_of_them() {
    let own = fs::read_to_string(root().join("crates/tools/cli/clippy.toml")).unwrap();
    let (passed, errors) = clippy_says(Some(&own));
    assert!(passed, "{errors}");
}
