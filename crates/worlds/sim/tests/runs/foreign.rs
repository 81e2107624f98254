//! The C interface and Python: the examples against the same protocol in Rust, to the last bit.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use serde_json::{Map, Value};
use wayhop_core::{Configured, Parameters, Protocol};
use wayhop_scenario::Scenario;
use wayhop_testkit::flood::{Flood, Wait, wait_in_c, wait_in_python};

use crate::run;

#[derive(Debug)]
struct InRust(Wait);

impl Parameters for InRust {
    fn engine(self: Arc<Self>) -> Box<dyn Protocol> {
        Box::new(Flood::new(self.0))
    }
    fn values(&self) -> Map<String, Value> {
        Map::new()
    }
}

/// Compiles the example.
fn library(folder: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let out = folder.join("libflood.so");
    let status = Command::new("cc")
        .args(["-std=c99", "-O2", "-shared", "-fPIC", "-o"])
        .arg(&out)
        .arg(root.join("examples/c/flood.c"))
        .arg("-I")
        .arg(root.join("crates/routing/foreign/include"))
        .status()
        .expect("a C compiler");
    assert!(status.success());
    out
}

#[test]
fn a_protocol_in_c_does_what_it_does_in_rust() {
    let folder = tempfile::tempdir().unwrap();
    assert_like_in_rust(&folder, &library(folder.path()), "flood", wait_in_c);
}

#[test]
fn a_protocol_in_python_does_what_it_does_in_rust() {
    let folder = tempfile::tempdir().unwrap();
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../examples/python/flooding.py");
    assert_like_in_rust(&folder, &module.canonicalize().unwrap(), "flooding", wait_in_python);
}

/// Runs the protocol of a file, and the one in Rust.
fn assert_like_in_rust(folder: &tempfile::TempDir, protocol: &Path, name: &str, wait: Wait) {
    let text = format!(
        "duration_s = 30\nnodes.count = 15\narea = {{ x_m = 700, y_m = 500 }}\n\
         movement = {{ kind = \"random-waypoint\", speed_min_mps = 1, speed_max_mps = 20 }}\n\
         protocol.library = \"{}\"\n\
         [[traffic]]\nkind = \"cbr-random\"\nconnections = 5\nrate_pps = 4\npayload_bytes = 64\nstart_max_s = 5\n\
         [[outages]]\nnode = 3\nstart_s = 10\nlength_s = 5\ntables = \"lost\"\n",
        protocol.display()
    );
    let file = folder.path().join("flood.toml");
    std::fs::write(&file, text).unwrap();
    let mut s = Scenario::load(&file, &[]).and_then(|s| s.resolve()).unwrap();
    let (foreign, audit) = run(&s);
    assert_eq!(audit.defect(), None);
    assert_eq!(foreign.protocol, name);
    assert!(foreign.totals.received > 100, "{:?}", foreign.totals);
    assert_eq!(foreign.trace_hash, run(&s).0.trace_hash, "twice the same");
    let in_rust = Configured::new(s.protocol.description(), "rfc", Arc::new(InRust(wait)));
    (s.protocol, s.protocol_after_reboot) = (in_rust.clone(), in_rust);
    let (in_rust, audit) = run(&s);
    assert_eq!(audit.defect(), None);
    assert_eq!(foreign.trace_hash, in_rust.trace_hash);
    assert_eq!(foreign.totals.by_type, in_rust.totals.by_type);
    assert!(foreign.totals.by_type["flood"] > 1_000, "{:?}", foreign.totals);
}
