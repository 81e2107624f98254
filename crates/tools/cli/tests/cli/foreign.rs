//! Routing protocols in shared libraries: good ones, and ones with mistakes.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::emulate::skip_without_root;
use crate::{Ran, folder, hash_without_randomised_memory, manifest, run_in, summary_of, wayhop};

const SCENARIO: &str = "duration_s = 20\nnodes.count = 4\nmovement = { kind = \"chain\", spacing_m = 200 }\n\
    protocol.library = \"./libmine.so\"\n[[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 3\nstart_s = 1\n";

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..")
}

/// A folder with the scenario and this source as its library.
fn with_library(source: &Path, flags: &[&str]) -> tempfile::TempDir {
    let dir = folder(&[("s.toml", SCENARIO)]);
    compile(source, &dir.path().join("libmine.so"), flags);
    dir
}

/// Makes a library of a source, which may include the header and the examples.
pub(crate) fn compile(source: &Path, library: &Path, flags: &[&str]) {
    let status = Command::new("cc")
        .args(["-std=gnu99", "-O2", "-shared", "-fPIC", "-o"])
        .arg(library)
        .args(
            ["crates/routing/foreign/include", "examples/c"]
                .map(|i| format!("-I{}", root().join(i).display())),
        )
        .args(flags)
        .arg(source)
        .arg("-lm")
        .status()
        .expect("a C compiler");
    assert!(status.success());
}

fn flood() -> tempfile::TempDir {
    with_library(&root().join("examples/c/flood.c"), &[])
}

fn faulty(flags: &[&str]) -> tempfile::TempDir {
    with_library(&root().join("crates/tools/cli/tests/cli/faulty.c"), flags)
}

/// What is said of a run that fails, with this exit status.
fn error(dir: &Path, args: &[&str], status: i32) -> String {
    let all = [&["run", "s.toml", "--out", "out", "--quiet"], args].concat();
    let ran = run_in(dir, &all);
    assert_eq!(ran.status, Some(status), "{}{}", ran.out, ran.err);
    ran.err
}

#[test]
fn a_library_runs_like_a_protocol_of_ours() {
    let dir = flood();
    let at = dir.path();
    let first = summary_of(at, &["s.toml", "--out", "out"]);
    assert_eq!(first["protocol"], "flood");
    assert!(first["totals"]["delivery_ratio"].as_f64().unwrap() > 0.9, "{first}");
    assert!(first["totals"]["by_type"]["flood"].as_u64().unwrap() > 100, "{first}");
    // Another process has another layout of its memory, or always the same one.
    let again = summary_of(at, &["s.toml", "--out", "again"]);
    assert_eq!(first["trace_hash"], again["trace_hash"]);
    assert_eq!(first["trace_hash"], hash_without_randomised_memory(at, &["s.toml", "--no-out"]));
    let library = &manifest(&at.join("out"))["library"];
    assert_eq!((&library["protocol"], &library["version"]), (&Value::from("flood"), &Value::from("1.0")));
    let sum = Command::new("sha256sum").arg(at.join("libmine.so")).output().expect("sha256sum");
    let sum = String::from_utf8_lossy(&sum.stdout).into_owned();
    assert_eq!(library["sha256"], sum.split_whitespace().next().unwrap());
    // Two hops are too few for three.
    let short = summary_of(at, &["s.toml", "--out", "short", "--set", "protocol.ttl=2"]);
    assert_eq!(short["totals"]["received"], 0);
}

#[test]
fn parameters_of_a_library_are_checked_like_ours() {
    let dir = flood();
    let at = dir.path();
    for (set, expected) in [
        ("protocol.ttl=0", "protocol.ttl (from the command line): 0 is not a whole number from 1 to 255"),
        ("protocol.ttl=many", "give a whole number, such as 16"),
        ("protocol.tll=3", "unknown key; did you mean `ttl`?"),
        ("protocol.profile=ns2", "flood has rfc"),
    ] {
        let said = error(at, &["--set", set], 2);
        assert!(said.contains(expected), "{set}: {said}");
    }
    let check = run_in(at, &["run", "s.toml", "--check"]).ok();
    assert!(check.contains("ttl") && check.contains("16") && check.contains("jitter_ms"), "{check}");
}

#[test]
fn the_command_line_chooses_between_libraries_and_built_in_protocols() {
    let dir = flood();
    let at = dir.path();
    assert_eq!(summary_of(at, &["s.toml", "--protocol", "dsr", "--out", "out"])["protocol"], "dsr");
    assert_eq!(manifest(&at.join("out")).get("library"), None);
    std::fs::write(at.join("dsr.toml"), SCENARIO.replace("protocol.library = \"./libmine.so\"\n", ""))
        .unwrap();
    let summary = summary_of(at, &["dsr.toml", "--protocol", "./libmine.so", "--out", "out"]);
    assert_eq!(summary["protocol"], "flood");
    let said = error(at, &["--set", "protocol.name=floods"], 2);
    assert!(said.contains("has the protocol flood, not floods; remove `name`"), "{said}");
}

#[test]
fn a_run_is_read_without_its_library() {
    let dir = flood();
    let at = dir.path();
    summary_of(at, &["s.toml", "--out", "out", "--set", "protocol.ttl=2"]);
    std::fs::remove_file(at.join("libmine.so")).unwrap();
    let why = run_in(at, &["why", "out"]).ok();
    assert!(why.contains("TTL_EXPIRED") || why.contains("DUPLICATE"), "{why}");
    run_in(at, &["report", "out"]).ok();
    let said = error(at, &[], 2);
    assert!(said.contains("protocol.library") && said.contains("cannot be read"), "{said}");
}

#[test]
fn files_that_are_no_library_are_named_with_a_remedy() {
    let nameless = with_library(&root().join("examples/c/flood.c"), &["-Dwayhop_protocol=another_name"]);
    for (dir, expected) in [
        (faulty(&["-DVERSION=7"]), "was built for version 7 of the interface, this Wayhop has version 1"),
        (faulty(&["-DSIZE=16"]), "its description has 16 bytes"),
        (faulty(&["-DREFUSES"]), "wayhop_protocol(1) returned NULL"),
        (nameless, "it does not export wayhop_protocol()"),
    ] {
        let said = error(dir.path(), &[], 2);
        assert!(said.contains(expected) && said.contains("cannot use the library ./libmine.so"), "{said}");
    }
    let dir = folder(&[("s.toml", SCENARIO), ("libmine.so", "no library\n")]);
    let said = error(dir.path(), &[], 2);
    assert!(said.contains("it cannot be loaded") && said.contains("cc -shared -fPIC"), "{said}");
    let dir = faulty(&["-DCRASHES"]);
    let said = error(dir.path(), &[], 1);
    assert!(said.contains("crashed (SIGABRT) in wayhop_protocol"), "{said}");
}

/// As with a run that is killed, all but the last seconds of the wall clock are kept.
#[test]
fn the_run_of_a_library_that_crashed_is_readable() {
    let is_readable = |fault: &str| {
        let dir = faulty(&[]);
        let fault = format!("protocol.fault={fault}");
        let said = error(dir.path(), &["--set", &fault, "--pace", "0.5"], 1);
        assert!(said.contains("recorded up to") && said.contains("wayhop recover out"), "{said}");
        run_in(dir.path(), &["recover", "out"]).ok();
        assert_eq!(manifest(&dir.path().join("out"))["status"], "killed");
        run_in(dir.path(), &["why", "out", "--json"]).ok();
        run_in(dir.path(), &["plot", "delivery", "out", "--out", "delivery.svg"]).ok();
    };
    std::thread::scope(|s| {
        for fault in ["segv", "fpe", "abort", "nothing"] {
            s.spawn(move || is_readable(fault));
        }
    });
}

#[test]
fn a_run_that_a_library_ended_at_once_recorded_nothing() {
    let dir = faulty(&[]);
    let said = error(dir.path(), &["--set", "protocol.fault=create"], 1);
    // On a busy machine the writer has had time to begin its files.
    let nothing =
        ["the run ended before it recorded anything\n", "the run was killed; recorded up to 0.000 s ("];
    assert!(nothing.iter().any(|end| said.contains(&format!("\nout: {end}"))), "{said}");
}

#[test]
fn the_inputs_of_a_library_are_replayed_to_it() {
    let dir = flood();
    let at = dir.path();
    // Node 2 loses its memory, and has a second engine.
    let outage = "[[outages]]\nnode = 2\nstart_s = 8\nlength_s = 2\ntables = \"lost\"\n";
    std::fs::write(at.join("s.toml"), format!("{SCENARIO}{outage}")).unwrap();
    run_in(at, &["run", "s.toml", "--out", "out", "--record-inputs", "--quiet"]).ok();
    for node in 0..4 {
        let log = format!("out/inputs/{node}.jsonl");
        let told = run_in(at, &["replay", &log, "--library", "./libmine.so"]).ok();
        assert!(told.contains(": same "), "{told}");
    }
    // The source of the packets writes how far they may go.
    let log = "out/inputs/0.jsonl";
    let other = run_in(at, &["replay", log, "--library", "./libmine.so", "--set", "protocol.ttl=2"]);
    assert_eq!(other.status, Some(1), "{}", other.err);
    let said = run_in(at, &["replay", log]).failure(2);
    assert!(said.contains("unknown protocol \"flood\"") && said.contains("add --library FILE"), "{said}");
    let faulty = faulty(&[]);
    let library = faulty.path().join("libmine.so").display().to_string();
    let said = run_in(at, &["replay", log, "--library", &library]).failure(2);
    assert!(said.contains("has the protocol faulty"), "{said}");
}

#[test]
fn a_library_that_dies_is_named_with_the_place() {
    let dir = faulty(&[]);
    for (fault, expected) in [
        ("segv", "crashed (SIGSEGV) in frame of node 1 at 3."),
        ("wild", "crashed (SIGSEGV) in frame of node 1 at 3."),
        ("fpe", "crashed (SIGFPE) in frame of node 1 at 3."),
        ("ill", "crashed (SIGILL) in frame of node 1 at 3."),
        ("abort", "crashed (SIGABRT) in frame of node 1 at 3."),
        ("exit", "ended the process in frame of node 1 at 3."),
        ("nothing", "(exit status 0)"),
        ("fail", "it ran out of ideas"),
        ("twice", "it sent a packet that it had already sent, delivered, dropped or consumed"),
        ("handle", "which is no packet of this engine"),
        ("length", "whose header says"),
        ("interface", "it used interface 9; this node has 1"),
        ("gap", "it inserted 4 bytes at 100000"),
        ("stale", "outside of the callback that received it"),
        ("create", "created no engine for node 0: no memory today"),
    ] {
        let said = error(dir.path(), &["--set", &format!("protocol.fault={fault}")], 1);
        assert!(said.contains(expected) && said.contains("libmine.so"), "{fault}: {said}");
        assert!(said.contains("out: "), "{fault}: {said}");
    }
}

/// Several runs in one process wait for each other: libraries have global variables.
#[test]
fn runs_of_a_sweep_take_turns_and_give_the_hashes_of_single_runs() {
    let dir = flood();
    let at = dir.path();
    run_in(at, &["run", "s.toml", "--seeds", "4", "--jobs", "3", "--out", "seeds", "--quiet"]).ok();
    run_in(
        at,
        &["sweep", "s.toml", "--vary", "protocol.ttl=2,16", "--seeds", "2", "--out", "sweep", "--quiet"],
    )
    .ok();
    let single = summary_of(at, &["s.toml", "--seed", "3", "--out", "out"]);
    let text = std::fs::read(at.join("seeds/runs/seed-3/summary.json")).expect("a summary");
    let of_seeds: Value = serde_json::from_slice(&text).expect("JSON");
    assert_eq!(of_seeds["trace_hash"], single["trace_hash"]);
}

#[test]
fn a_call_that_does_not_return_is_ended() {
    let dir = faulty(&[]);
    let output = wayhop()
        .args(["run", "s.toml", "--out", "out", "--quiet", "--set", "protocol.fault=hang"])
        .env("WAYHOP_CALL_LIMIT_S", "1")
        .current_dir(dir.path())
        .output()
        .expect("the program");
    let ran = Ran::of(&output);
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    assert!(ran.err.contains("did not return within 1 s in frame of node 1 at 3."), "{}", ran.err);
}

#[test]
fn leaked_packets_are_held_and_told() {
    let dir = faulty(&[]);
    let ran =
        run_in(dir.path(), &["run", "s.toml", "--out", "out", "--json", "--set", "protocol.fault=leak"]);
    assert!(ran.err.contains("the engine of node 1 leaked packets"), "{}", ran.err);
    let summary = ran.json();
    assert!(summary["totals"]["held"].as_u64().unwrap() > 10, "{summary}");
}

/// Real programs over the library's packets, in real time and with one daemon a node.
#[test]
fn programs_ping_each_other_through_a_library() {
    skip_without_root!();
    let dir = flood();
    // The command's `-` is not the scenario on standard input.
    let command = ["--", "sh", "-c", "ping -c 5 mesh-3", "-"];
    for world in ["emulate", "lab"] {
        let args = [&[world, "s.toml", "--out", world, "--quiet", "--node", "0"][..], &command].concat();
        let ran = run_in(dir.path(), &args);
        assert_eq!(ran.status, Some(0), "{world}: {}{}", ran.out, ran.err);
        assert!(
            ran.out.contains(" 0% packet loss") || ran.out.contains(" 20% packet loss"),
            "{world}: {}",
            ran.out
        );
        assert_eq!(manifest(&dir.path().join(world))["library"]["protocol"], "flood", "{world}");
    }
}

/// The daemon of a node tells as a simulation does, and the lab passes it on.
#[test]
fn a_crash_in_a_node_of_a_lab_is_told() {
    skip_without_root!();
    let dir = faulty(&[]);
    let args = ["lab", "s.toml", "--out", "out", "--quiet", "--set", "protocol.fault=segv"];
    let ran = run_in(dir.path(), &args);
    assert!(ran.err.contains("crashed (SIGSEGV) in frame of node 1 at"), "{}{}", ran.out, ran.err);
}
