//! The `wayhop` command as its users have it: run as a program, judged by its output, its files and its exit status.

mod aodv_captures;
mod applications;
mod bundles;
mod check;
mod chunks;
mod collect;
mod compare;
mod confined;
mod console;
mod conversations;
mod ctl;
mod demonstration;
mod determinism;
mod diff;
mod dissector;
mod doctor;
mod dsr_options;
mod emulate;
mod emulate_capture;
mod emulate_faults;
mod emulate_tells;
mod extremes;
mod figures;
mod foreign;
mod foreign_applications;
mod gateway;
mod golden;
mod import;
mod input;
mod interruption;
mod ipv6;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod large_pages;
mod link_types;
mod matrix;
mod merge;
mod messages;
mod mobile_ip;
#[cfg(target_os = "linux")]
mod node_of_scenario;
mod ns2;
mod ns2_scripts;
mod ns3;
#[path = "../real/ns3_libraries.rs"]
mod ns3_libraries;
mod oracle;
mod pages;
mod partial_records;
mod places;
mod plot;
mod presets;
mod python;
mod python_applications;
mod real_daemons;
mod real_programs;
mod replay;
mod reproduce;
mod run_dirs;
mod run_seeds;
mod schemas;
mod studio;
mod sweep;
mod sweep_arguments;
mod tables;
mod terminal;
mod topology;
mod why;
mod why_paths;
mod worlds;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The program.
fn wayhop() -> Command {
    Command::new(env!("CARGO_BIN_EXE_wayhop"))
}

/// What a command did.
struct Ran {
    status: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let ran = Self { status: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) };
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        ran
    }

    /// What it printed, if it succeeded.
    fn ok(self) -> String {
        assert_eq!(self.status, Some(0), "{}", self.err);
        self.out
    }

    /// The object that it printed, if it succeeded.
    fn json(self) -> serde_json::Value {
        serde_json::from_str(&self.ok()).expect("one JSON object")
    }

    /// The one message of a failure with this exit status.
    fn failure(self, status: i32) -> String {
        assert_eq!(self.status, Some(status), "{}{}", self.out, self.err);
        assert_eq!(self.out, "", "a failure prints nothing on standard output");
        self.err
    }
}

/// The words of a command line.
fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn run_in(dir: &Path, args: &[&str]) -> Ran {
    Ran::of(&wayhop().args(args).current_dir(dir).output().expect("the program runs"))
}

/// The summary that `wayhop run ... --json --quiet` prints.
fn summary_of(dir: &Path, args: &[&str]) -> serde_json::Value {
    let all = [&["run"], args, &["--json", "--quiet"]].concat();
    run_in(dir, &all).json()
}

fn hash(dir: &Path, args: &[&str]) -> String {
    summary_of(dir, args)["trace_hash"].as_str().expect("a hash").to_owned()
}

/// The same with the memory of each process laid out alike, which the kernel otherwise randomises.
fn hash_without_randomised_memory(dir: &Path, args: &[&str]) -> String {
    let output = Command::new("setarch")
        .args(["-R", env!("CARGO_BIN_EXE_wayhop"), "run", "--json", "--quiet"])
        .args(args)
        .current_dir(dir)
        .output()
        .expect("setarch of util-linux");
    let summary = Ran::of(&output).json();
    summary["trace_hash"].as_str().expect("a hash").to_owned()
}

/// A file of tests/data.
fn data(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "data", name].iter().collect();
    path.to_str().expect("UTF-8").to_owned()
}

/// A new directory with these files in it.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a directory");
    for (name, text) in files {
        std::fs::write(dir.path().join(name), text).expect("a file");
    }
    dir
}

fn manifest(run: &Path) -> serde_json::Value {
    let text = std::fs::read(run.join("manifest.json")).expect("a manifest");
    serde_json::from_slice(&text).expect("JSON")
}
