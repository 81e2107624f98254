//! Applications in shared libraries: the example, and one with mistakes.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::emulate::skip_without_root;
use crate::foreign::{compile, root};
use crate::{Ran, folder, manifest, run_in, summary_of, wayhop};

/// Node 1 answers two clients, but for two seconds; the client at node 3 loses its memory later.
pub(crate) const SCENARIO: &str = r#"
duration_s = 20
nodes.count = 4
movement = { kind = "chain", spacing_m = 200 }
[[applications]]
library = "./libmine.so"
nodes = [1]
[[applications]]
library = "./libmine.so"
nodes = [0, 3]
server = 1
think_s = 0.4
timeout_s = 0.5
max_requests = 20
[[outages]]
node = 1
start_s = 3
length_s = 2
tables = "kept"
[[outages]]
node = 3
start_s = 6
length_s = 3
tables = "lost"
"#;

fn with_library(source: &str) -> tempfile::TempDir {
    let dir = folder(&[("s.toml", SCENARIO)]);
    compile(&root().join(source), &dir.path().join("libmine.so"), &[]);
    dir
}

fn example() -> tempfile::TempDir {
    let source = fs::read_to_string(root().join("examples/c/request.c")).expect("the example");
    assert!(source.lines().count() < 150, "the tutorial promises less than 150 lines");
    with_library("examples/c/request.c")
}

/// The figures of each application of a summary.
pub(crate) fn figures(summary: &Value) -> Vec<&Value> {
    summary["applications"].as_array().expect("applications").iter().map(|a| &a["figures"]).collect()
}

pub(crate) fn notes(dir: &Path, run: &str) -> Vec<String> {
    let rows = run_in(dir, &["export", "csv", run, "events"]).ok();
    rows.lines().filter(|l| l.contains("request_")).map(str::to_owned).collect()
}

/// The example `name` of `library` answers all requests in each world, and its recorded inputs give the same again. The folder has
/// the scenario, whose outages have no counterpart in a lab.
pub(crate) fn runs_in_three_worlds_and_is_replayed(dir: &tempfile::TempDir, name: &str, library: &str) {
    let at = dir.path();
    let text = fs::read_to_string(at.join("s.toml")).expect("the scenario");
    fs::write(at.join("s.toml"), text.split("[[outages]]").next().expect("a scenario")).unwrap();
    for world in ["run", "emulate", "lab"] {
        let args =
            [world, "s.toml", "--protocol", "dsr", "--out", world, "--record-inputs", "--json", "--quiet"];
        let summary = run_in(at, &args).json();
        let answered: Vec<_> = figures(&summary).iter().map(|f| f["answered"].as_f64()).collect();
        // On the real clock, as many as a busy machine has time for.
        let least = if world == "run" { 20.0 } else { 5.0 };
        let [None, Some(one), Some(other)] = answered[..] else { panic!("{world}: {answered:?}") };
        assert!(one.min(other) >= least && one.max(other) <= 20.0, "{world}: {answered:?}");
        assert!(notes(at, world).len() as f64 >= one + other, "{world}");
        for place in ["0-NAME-1", "1-NAME-0", "3-NAME-2"] {
            let log = format!("{world}/inputs/{}.jsonl", place.replace("NAME", name));
            let told = run_in(at, &["replay", &log, "--library", library]).ok();
            assert!(told.contains(": same "), "{world}: {told}");
            let said = run_in(at, &["replay", &log]).failure(2);
            let unknown = format!("unknown application \"{name}\"");
            assert!(said.contains(&unknown) && said.contains("--library"), "{said}");
        }
    }
}

/// The application of Wayhop's own in Rust is the oracle.
#[test]
fn an_application_in_c_does_what_it_does_in_rust() {
    let dir = example();
    let at = dir.path();
    let in_rust = SCENARIO.replace("library = \"./libmine.so\"", "name = \"request\"");
    fs::write(at.join("rust.toml"), in_rust).unwrap();
    let [rust, c] = ["rust", "s"]
        .map(|name| summary_of(at, &[&format!("{name}.toml"), "--protocol", "aodv", "--out", name]));
    assert_eq!(c["applications"][0]["application"], "request-c");
    assert_eq!(figures(&c), figures(&rust));
    assert!(figures(&c)[1]["retries"].as_f64() > Some(0.0), "{c}");
    assert_eq!(notes(at, "s"), notes(at, "rust"));
    assert!(notes(at, "s").len() > 20);
    assert_eq!(c["trace_hash"], rust["trace_hash"]);
    let inputs = manifest(&at.join("s"))["inputs"].to_string();
    assert!(inputs.contains("libmine.so"), "{inputs}");
}

#[test]
fn the_command_line_sets_and_checks_parameters_of_a_library() {
    let dir = example();
    let at = dir.path();
    for (set, expected) in [
        (
            "applications.1.tries=0",
            "applications[1].tries (from the command line): 0 is not a whole number from 1",
        ),
        ("applications.1.think=1", "unknown key; did you mean `think_s`?"),
        ("applications.1.server=\"bass\"", "there is no node named \"bass\""),
        ("applications.1.name=\"request\"", "has the application request-c, not request; remove `name`"),
        ("applications.0.library=\"./gone.so\"", "cannot use the library ./gone.so: it cannot be read"),
        ("applications.0.library=\"./mine.py\"", "no class that is derived from wayhop.Application"),
    ] {
        fs::write(at.join("mine.py"), "").unwrap();
        let said = run_in(at, &["run", "s.toml", "--no-out", "--quiet", "--set", set]).failure(2);
        assert!(said.contains(expected), "{set}: {said}");
    }
    let few = summary_of(at, &["s.toml", "--no-out", "--set", "applications.1.max_requests=3"]);
    assert_eq!(figures(&few)[1]["requests"], 3.0, "{few}");
    run_in(at, &["run", "s.toml", "--check"]).ok();
    let flood = at.join("libflood.so");
    compile(&root().join("examples/c/flood.c"), &flood, &[]);
    let set = "applications.0.library=\"./libflood.so\"";
    let said = run_in(at, &["run", "s.toml", "--no-out", "--set", set]).failure(2);
    assert!(said.contains("it does not export wayhop_application()"), "{said}");
}

#[test]
fn a_run_is_read_without_the_library_of_its_application() {
    let dir = example();
    let at = dir.path();
    summary_of(at, &["s.toml", "--out", "out"]);
    fs::remove_file(at.join("libmine.so")).unwrap();
    run_in(at, &["why", "out"]).ok();
    run_in(at, &["report", "out"]).ok();
    run_in(at, &["compare", "out", "out"]).ok();
    run_in(at, &["plot", "delivery", "out", "--out", "delivery.svg"]).ok();
    let said = run_in(at, &["run", "s.toml", "--no-out"]).failure(2);
    assert!(said.contains("applications[0].library") && said.contains("cannot be read"), "{said}");
}

#[test]
fn mistakes_of_an_application_are_told_with_node_callback_and_time() {
    let dir = with_library("crates/tools/cli/tests/cli/faulty_application.c");
    for (fault, expected) in [
        ("segv", "crashed (SIGSEGV) in timer of node "),
        ("fpe", "crashed (SIGFPE) in timer of node "),
        ("abort", "crashed (SIGABRT) in timer of node "),
        ("exit", "ended the process in timer of node "),
        ("create", "created no application at 10.0.0."),
        ("note", "it made the remark \"surprise\"; list it in `notes`"),
        ("port", "it used port 0; give 1 to 65535"),
        ("long", "it gave a datagram of 100000 bytes; 65507 is the most"),
        ("null", "of 9 bytes; 16777216 is the most, and NULL has none"),
        ("answer", "it answered a command with no JSON object"),
        ("stale", "outside of the callback that received it"),
        ("counter", "it counted under the name \"Mean delay\""),
        ("hang", "did not return within 1 s in timer of node "),
    ] {
        let set = format!("applications.1.fault=\"{fault}\"");
        let output = wayhop()
            .args(["run", "s.toml", "--out", "out", "--quiet", "--set", &set])
            .env("WAYHOP_CALL_LIMIT_S", "1")
            .current_dir(dir.path())
            .output()
            .expect("the program");
        let ran = Ran::of(&output);
        assert_eq!(ran.status, Some(1), "{fault}: {}", ran.err);
        assert!(ran.err.contains(expected) && ran.err.contains("libmine.so"), "{fault}: {}", ran.err);
    }
}

#[test]
fn an_application_in_a_library_runs_in_simulation_emulation_and_lab_and_is_replayed() {
    skip_without_root!();
    runs_in_three_worlds_and_is_replayed(&example(), "request-c", "./libmine.so");
}

/// The application is loaded last.
#[test]
fn a_crash_names_the_library_that_crashed() {
    let dir = example();
    let at = dir.path();
    compile(&root().join("crates/tools/cli/tests/cli/faulty.c"), &at.join("libfaulty.so"), &[]);
    let args = ["run", "s.toml", "--protocol", "./libfaulty.so", "--set", "protocol.fault=segv", "--no-out"];
    let ran = run_in(at, &args);
    let expected = "libfaulty.so crashed (SIGSEGV) in frame of node 1 at ";
    assert!(ran.status == Some(1) && ran.err.contains(expected), "{}", ran.err);
}

#[test]
fn a_crash_of_an_application_by_hand_is_told() {
    let dir = with_library("crates/tools/cli/tests/cli/faulty_application.c");
    let args = [
        "application",
        "./libmine.so",
        "--for",
        "5",
        "--set",
        "server=127.0.0.1",
        "--set",
        "think_s=0",
        "--set",
        "fault=segv",
    ];
    let ran = run_in(dir.path(), &args);
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    assert!(ran.err.contains("crashed (SIGSEGV) in timer at "), "{}", ran.err);
}
