//! Applications in Python: the example, and modules with mistakes.

use std::fs;
use std::path::Path;

use crate::emulate::skip_without_root;
use crate::foreign::{compile, root};
use crate::foreign_applications::{SCENARIO, figures, notes, runs_in_three_worlds_and_is_replayed};
use crate::{Ran, folder, hash, hash_without_randomised_memory, manifest, run_in, summary_of, wayhop};

/// The scenario of applications in C, with this module.
fn with(module: &str) -> tempfile::TempDir {
    folder(&[
        ("s.toml", &SCENARIO.replace("library = \"./libmine.so\"", "python = \"mine.py\"")),
        ("mine.py", module),
    ])
}

fn example() -> tempfile::TempDir {
    let text = fs::read_to_string(root().join("examples/python/request.py")).expect("the example");
    assert!(text.lines().count() < 80, "the tutorial promises fewer than 80 lines");
    with(&text)
}

/// A class with these methods.
fn module(methods: &str) -> String {
    format!(
        "import os, sys, time\nimport wayhop\n\n\nclass Mine(wayhop.Application):\n    \
         server = wayhop.address_parameter('Whom to ask')\n    think_s = wayhop.parameter(1.0, '')\n    \
         timeout_s = wayhop.parameter(1.0, '')\n    max_requests = wayhop.parameter(0, '')\n    \
         notes = ('seen',)\n\n{methods}\n"
    )
}

/// The built-in application in Rust is the oracle, and the one in C another witness.
#[test]
fn an_application_in_python_does_what_it_does_in_rust_and_in_c() {
    let dir = example();
    let at = dir.path();
    let other = |name: &str, by: &str| {
        fs::write(at.join(name), SCENARIO.replace("library = \"./libmine.so\"", by)).unwrap();
    };
    other("rust.toml", "name = \"request\"");
    other("c.toml", "library = \"./libmine.so\"");
    compile(&root().join("examples/c/request.c"), &at.join("libmine.so"), &[]);
    let [rust, c, python, again] = [("rust", "rust"), ("c", "c"), ("s", "s"), ("s", "again")]
        .map(|(name, out)| summary_of(at, &[&format!("{name}.toml"), "--protocol", "aodv", "--out", out]));
    assert_eq!(python["applications"][0]["application"], "request-py");
    assert_eq!(figures(&python), figures(&rust));
    assert!(figures(&python)[1]["retries"].as_f64() > Some(0.0), "{python}");
    assert_eq!(notes(at, "s"), notes(at, "rust"));
    assert!(notes(at, "s").len() > 20);
    let hashes = [&rust, &c, &python, &again].map(|summary| &summary["trace_hash"]);
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
    let args = ["s.toml", "--protocol", "aodv", "--no-out"];
    assert_eq!(hash_without_randomised_memory(at, &args), *hashes[0]);
    assert_ne!(hash(at, &[&args[..], &["--seed", "2"]].concat()), *hashes[0]);
    let inputs = manifest(&at.join("s"))["inputs"].to_string();
    assert!(inputs.contains("mine.py"), "{inputs}");
    // The record is read without the module.
    fs::remove_file(at.join("mine.py")).unwrap();
    run_in(at, &["why", "s"]).ok();
    run_in(at, &["report", "s"]).ok();
}

#[test]
fn parameters_of_a_class_are_set_and_checked_like_ours() {
    let dir = example();
    let at = dir.path();
    for (set, expected) in [
        (
            "applications.1.tries=0",
            "applications[1].tries (from the command line): 0 is not a whole number from 1 to 1000",
        ),
        ("applications.1.think=1", "unknown key; did you mean `think_s`?"),
        ("applications.1.server=\"bass\"", "there is no node named \"bass\""),
        ("applications.1.name=\"request\"", "has the application request-py, not request; remove `name`"),
        ("applications.0.python=\"./gone.py\"", "cannot use the Python module ./gone.py: it cannot be read"),
    ] {
        let said = run_in(at, &["run", "s.toml", "--no-out", "--quiet", "--set", set]).failure(2);
        assert!(said.contains(expected), "{set}: {said}");
    }
    let few = summary_of(at, &["s.toml", "--no-out", "--set", "applications.1.max_requests=3"]);
    assert_eq!(figures(&few)[1]["requests"], 3.0, "{few}");
    run_in(at, &["run", "s.toml", "--check"]).ok();
}

#[test]
fn modules_that_cannot_be_used_are_named_with_the_line() {
    let flooding = fs::read_to_string(root().join("examples/python/flooding.py")).expect("an example");
    for (text, expected) in [
        ("import wayhop\nx = y\n", "it raised NameError: name 'y' is not defined (mine.py, line 2)"),
        ("x = 1\n", "it defines no class that is derived from wayhop.Application"),
        (&flooding, "its class is a protocol: name the file in `protocol`"),
        (&module("    notes = ['A']"), "notes is a list with \"A\""),
        (&module("    name = 'A B'"), "name is \"A B\""),
        (&module("    name = 'request'"), "has the name of a built-in one, request; rename it"),
        (&module("    about = 7"), "its class has an attribute of a wrong type"),
        (&module("    nodes = wayhop.parameter(5, '')"), "the name of a key of every section"),
    ] {
        let said = run_in(with(text).path(), &["run", "s.toml", "--no-out", "--quiet"]).failure(2);
        assert!(
            said.contains(expected) && said.contains("cannot use the Python module mine.py"),
            "{text}: {said}"
        );
    }
    let dir = example();
    let said = run_in(dir.path(), &["run", "s.toml", "--no-out", "--protocol", "./mine.py"]).failure(2);
    assert!(said.contains("its class is an application: name the file in [[applications]]"), "{said}");
}

#[test]
fn mistakes_of_handlers_are_told_with_line_node_and_time() {
    let timer = |body: &str| {
        let start = "    def on_start(self, cx):\n        cx.set_timer('x', 2)\n\n";
        format!("{start}    def on_timer(self, cx, key):\n        {body}")
    };
    for (methods, expected) in [
        (
            timer("{}['gone']"),
            "it raised KeyError: 'gone' (mine.py, line 16) in on_timer of node 0 at 2.000000 s",
        ),
        (timer("cx.listen(70000)"), "70000 is not a port; give 1 to 65535 (mine.py, line 16)"),
        (timer("return 7"), "it returned an int from on_timer (mine.py, line 15); handlers return None"),
        (timer("os._exit(3)"), "it ended the Python process (exit status: 3) in on_timer of node 0 at 2."),
        (timer("import ctypes; ctypes.string_at(0)"), "it ended the Python process (signal: 11 (SIGSEGV)"),
        (timer("os.write(3, b'rubbish, rubbish')"), "bytes that are no answer"),
        (
            timer("while True: pass"),
            "the handler did not return within 3 s (mine.py, line 16) in on_timer of node 0",
        ),
        (timer("import re; re.match('(a+)+$', 'a' * 99 + 'b')"), "not return within 3 s"),
        (
            "    def figures(self):\n        return 7".to_owned(),
            "it returned 7 from figures (mine.py, line 12)",
        ),
        (
            "    def on_restart(self):\n        {}[5]".to_owned(),
            "raised KeyError: 5 (mine.py, line 13) in on_restart of node 3 at ",
        ),
    ] {
        let dir = with(&module(&methods));
        let output = wayhop()
            .args(["run", "s.toml", "--protocol", "aodv", "--out", "out", "--quiet"])
            // On a busy machine, loading Python takes a part of a second.
            .env("WAYHOP_CALL_LIMIT_S", "3")
            .current_dir(dir.path())
            .output()
            .expect("the program");
        let ran = Ran::of(&output);
        assert_eq!(ran.status, Some(1), "{methods}: {}", ran.err);
        assert!(ran.err.contains(expected), "{methods}: {}", ran.err);
        assert!(ran.err.contains("mine.py ended the run: it") && ran.err.contains("out: "), "{}", ran.err);
    }
}

#[test]
fn the_run_of_an_application_that_failed_is_readable() {
    let fails = "    def on_start(self, cx):\n        cx.set_timer('x', 9)\n\n    def on_timer(self, cx, key):\n        \
                 assert cx.now < 9";
    let dir = with(&module(fails));
    let ran = run_in(dir.path(), &["run", "s.toml", "--out", "out", "--quiet", "--pace", "2"]);
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    assert!(ran.err.contains("recorded up to") && ran.err.contains("wayhop recover out"), "{}", ran.err);
    run_in(dir.path(), &["recover", "out"]).ok();
    assert_eq!(manifest(&dir.path().join("out"))["status"], "killed");
}

#[test]
fn a_protocol_and_an_application_in_python_are_in_one_run() {
    let dir = example();
    let at = dir.path();
    fs::copy(root().join("examples/python/flooding.py"), at.join("flooding.py")).unwrap();
    let summary = summary_of(at, &["s.toml", "--protocol", "./flooding.py", "--out", "out"]);
    assert_eq!(summary["protocol"], "flooding");
    assert!(figures(&summary)[1]["answered"].as_f64() > Some(5.0), "{summary}");
}

/// Node 3 lost its memory.
#[test]
fn an_object_without_on_restart_is_replaced_after_a_loss_of_memory() {
    let counts = "    def __init__(self):\n        self.starts = 0\n\n    def on_start(self, cx):\n        \
                  self.starts += 1\n        cx.note('seen', cx.address, self.starts)\n\n    \
                  def figures(self):\n        return {'starts': self.starts}";
    for (more, starts) in [("", 1.0), ("\n\n    def on_restart(self):\n        pass", 2.0)] {
        let dir = with(&module(&format!("{counts}{more}")));
        let summary = summary_of(dir.path(), &["s.toml", "--out", "out"]);
        let counted: Vec<_> = figures(&summary).iter().map(|f| f["starts"].as_f64()).collect();
        assert_eq!(counted, [Some(1.0), Some(1.0), Some(starts)]);
        let rows = run_in(dir.path(), &["export", "csv", "out", "events"]).ok();
        assert_eq!(rows.matches("seen").count(), 4, "{rows}");
    }
}

#[test]
fn an_application_in_python_runs_in_simulation_emulation_and_lab_and_is_replayed() {
    skip_without_root!();
    runs_in_three_worlds_and_is_replayed(&example(), "request-py", "./mine.py");
}

#[test]
fn a_module_runs_by_hand_and_its_crash_is_told() {
    let fails = "    def on_start(self, cx):\n        cx.set_timer(1, 0.1)\n\n    def on_timer(self, cx, key):\n        \
                 assert cx.node is None and self.server == '127.0.0.1'\n        {}[self.think_s]";
    let dir = with(&module(fails));
    let set = |value| ["--set", value];
    let args =
        [&["application", "./mine.py", "--for", "5"][..], &set("server=127.0.0.1"), &set("think_s=0.5")];
    let ran = run_in(dir.path(), &args.concat());
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    assert!(ran.err.contains("raised KeyError: 0.5 (mine.py, line 17) in on_timer at "), "{}", ran.err);
}

/// Paths of a plan count from its folder.
#[test]
fn a_sweep_varies_a_modules_parameters() {
    let dir = example();
    let at: &Path = dir.path();
    let vary = "applications.1.tries=1,3";
    run_in(at, &["sweep", "s.toml", "--vary", vary, "--out", "swept", "--quiet"]).ok();
    let lines = fs::read_to_string(at.join("swept/runs.jsonl")).unwrap();
    let single = hash(at, &["s.toml", "--set", "applications.1.tries=1", "--no-out"]);
    assert!(lines.lines().count() == 2 && lines.contains(&single), "{lines}");
}
