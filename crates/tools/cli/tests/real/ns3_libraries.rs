//! Builds the libraries of ns-3's models (`ns3/`). Needs g++, make and ns-3 (`.ci/install test` and `fixtures`).

use std::path::{Path, PathBuf};
use std::process::Command;

/// Debian's ns-3, and PyPI's with the folder that has it.
pub(crate) const VERSIONS: [(&str, Option<&str>); 2] =
    [("ns-3.37", None), ("ns-3.44", Some("target/ns3-3.44"))];

/// The folder with the libraries of a version; those of Debian's are where `wayhop` finds them. Several tests may ask at once.
pub(crate) fn build((version, ns3): (&str, Option<&str>), goal: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").canonicalize().unwrap();
    let out = root.join(if ns3.is_some() { "target/ns3/3.44" } else { "target/ns3" });
    let mut make = Command::new("flock");
    make.arg(root.join("target/ns3.lock")).args(["make", "--silent", "-C"]).arg(root.join("ns3"));
    make.arg(goal).arg(format!("OUT={}", out.display()));
    if let Some(ns3) = ns3 {
        make.arg(format!("NS3={}", root.join(ns3).display()));
    }
    let done = make.output().expect("flock and make");
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{version}: {said}");
    out
}
