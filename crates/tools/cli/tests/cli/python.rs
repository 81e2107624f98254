//! Routing protocols in Python: the examples, and modules with mistakes.

use std::fs;
use std::path::Path;

use crate::emulate::skip_without_root;
use crate::{Ran, folder, hash, hash_without_randomised_memory, manifest, run_in, summary_of, wayhop};

const SCENARIO: &str = "duration_s = 20\nnodes.count = 4\nmovement = { kind = \"chain\", spacing_m = 200 }\n\
    protocol.python = \"mine.py\"\n[[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 3\nstart_s = 1\n";

/// A class with these methods.
fn module(methods: &str) -> String {
    format!(
        "import os, sys, time\nimport wayhop\n\n\nclass Mine(wayhop.Protocol):\n    carrier = wayhop.udp(7000)\n    \
         jitter = wayhop.parameter(5, 'A number', maximum=9)\n\n{methods}\n"
    )
}

fn with(module: &str) -> tempfile::TempDir {
    folder(&[("s.toml", SCENARIO), ("mine.py", module)])
}

fn example(name: &str) -> tempfile::TempDir {
    let path = format!("{}/../../../examples/python/{name}.py", env!("CARGO_MANIFEST_DIR"));
    let text = fs::read_to_string(path).expect("an example");
    assert!(text.lines().count() < 90, "{name}: the tutorial promises fewer than 90 lines");
    with(&text)
}

/// What is said of a run that fails, with this exit status.
fn error(dir: &Path, args: &[&str], status: i32) -> String {
    let ran = run_in(dir, &[&["run", "s.toml", "--out", "out", "--quiet"], args].concat());
    assert_eq!(ran.status, Some(status), "{}{}", ran.out, ran.err);
    assert_eq!(ran.out, "");
    ran.err
}

#[test]
fn the_examples_deliver_and_repeat_themselves() {
    for (name, kind) in [("flooding", "flood"), ("greedy", "beacon")] {
        let dir = example(name);
        let at = dir.path();
        let first = summary_of(at, &["s.toml", "--out", "out"]);
        assert_eq!(first["protocol"], "mine");
        assert!(first["totals"]["delivery_ratio"].as_f64().unwrap() > 0.8, "{name}: {first}");
        assert!(first["totals"]["by_type"][kind].as_u64().unwrap() > 50, "{name}: {first}");
        let again = summary_of(at, &["s.toml", "--out", "again"]);
        assert_eq!(first["trace_hash"], again["trace_hash"], "{name}");
        let fixed = hash_without_randomised_memory(at, &["s.toml", "--no-out"]);
        assert_eq!(first["trace_hash"], fixed, "{name}");
        let other = summary_of(at, &["s.toml", "--out", "other", "--seed", "2"]);
        assert_ne!(first["trace_hash"], other["trace_hash"], "{name}");
        let library = &manifest(&at.join("out"))["library"];
        assert_eq!(library["protocol"], "mine");
        assert!(library["version"].as_str().unwrap().contains("(Python 3."), "{library}");
        // The record is read without the module.
        fs::remove_file(at.join("mine.py")).unwrap();
        run_in(at, &["why", "out"]).ok();
    }
}

/// Anybody in range can send these: messages that are cut off or of an unknown kind, and an infinite latitude.
#[test]
fn malformed_messages_do_not_end_the_greedy_example() {
    let dir = example("greedy");
    let at = dir.path();
    fs::rename(at.join("mine.py"), at.join("greedy.py")).unwrap();
    let hostile = "import struct\nfrom greedy import ENTRY, Greedy\n\n\nclass Mine(Greedy):\n    \
        def on_timer(self, cx, key):\n        super().on_timer(cx, key)\n        \
        far = struct.pack(ENTRY, b'\\n\\0\\0\\4', cx.now, float('inf'), 0.0)\n        \
        for message in (b'', b'\\1cut', b'\\1' + far, b'\\2', b'\\7?'):\n            \
        cx.send(cx.message(message))\n";
    fs::write(at.join("mine.py"), hostile).unwrap();
    let totals = &summary_of(at, &["s.toml", "--out", "out"])["totals"];
    assert!(totals["delivery_ratio"].as_f64().unwrap() > 0.8, "{totals}");
    let packets = run_in(at, &["export", "csv", "out", "packets"]).ok();
    assert!(packets.matches("MALFORMED").count() > 100, "{packets}");
}

/// Python orders sets of texts by their hashes, which the environment seeds.
#[test]
fn the_order_of_a_set_is_the_same_whatever_the_environment_says() {
    let orders = "    def on_outbound(self, cx, packet):\n        \
                  first, second = [ord(x) - 97 for x in {'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'}][:2]\n        \
                  cx.send(cx.message(bytes(1 + first + 8 * second)))\n        \
                  cx.drop(packet, wayhop.DropReason.POLICY)\n\n    \
                  def on_frame(self, cx, packet, rx):\n        cx.consume(packet)";
    let dir = with(&module(orders));
    let first = hash(dir.path(), &["s.toml", "--no-out"]);
    for seed in ["1", "2", "random"] {
        let ran = wayhop()
            .args(["run", "s.toml", "--no-out", "--json", "--quiet"])
            .env("PYTHONHASHSEED", seed)
            .current_dir(dir.path())
            .output()
            .expect("the program");
        assert_eq!(Ran::of(&ran).json()["trace_hash"], first, "{seed}");
    }
}

#[test]
fn the_inputs_of_a_module_are_replayed_to_it() {
    for name in ["flooding", "greedy"] {
        let dir = example(name);
        let at = dir.path();
        run_in(at, &["run", "s.toml", "--out", "out", "--record-inputs", "--quiet"]).ok();
        let logs = ["out/inputs/0.jsonl", "out/inputs/1.jsonl"];
        let told = run_in(at, &[&["replay", "--library", "mine.py"], &logs[..]].concat()).ok();
        assert_eq!(told.matches(": same ").count(), 2, "{name}: {told}");
    }
}

#[test]
fn a_sweep_compares_modules_with_a_built_in_protocol() {
    let plan = "scenario = \"../s.toml\"\nmetrics = [\"totals.delivery_ratio\"]\n[[axis]]\nname = \"protocol\"\n\
                key = \"protocol.name\"\nvalues = [\"./flooding.py\", \"aodv\"]\n";
    let dir = example("flooding");
    let at = dir.path();
    fs::create_dir(at.join("plans")).unwrap();
    fs::write(at.join("plans/p.toml"), plan).unwrap();
    fs::rename(at.join("mine.py"), at.join("plans/flooding.py")).unwrap();
    fs::write(at.join("s.toml"), SCENARIO.replace("protocol.python = \"mine.py\"\n", "")).unwrap();
    run_in(at, &["sweep", "plans/p.toml", "--out", "swept", "--quiet"]).ok();
    let single = hash(at, &["s.toml", "--protocol", "plans/flooding.py", "--no-out"]);
    let lines = fs::read_to_string(at.join("swept/runs.jsonl")).unwrap();
    let runs: Vec<serde_json::Value> = lines.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let of = |label: &str| runs.iter().find(|r| r["run"]["protocol"] == label).expect("a run");
    assert_eq!(of("flooding.py")["summary"]["trace_hash"], single);
    assert_eq!(of("aodv")["summary"]["protocol"], "aodv");
    // The copy of the plan names the same file, from its own folder: nothing is left to run.
    let again = run_in(at, &["sweep", "swept/plan.toml", "--quiet"]);
    assert_eq!(again.status, Some(0), "{}", again.err);
    assert_eq!(fs::read_to_string(at.join("swept/runs.jsonl")).unwrap(), lines);
    run_in(at, &["plot", "sweep", "swept", "--out", "sweep.svg"]).ok();
    assert!(fs::read_to_string(at.join("sweep.svg")).unwrap().contains("flooding.py"));
    // Without a plan, paths count from the working directory, as those of --protocol do.
    let vary = "protocol.name=plans/flooding.py,aodv";
    run_in(at, &["sweep", "s.toml", "--vary", vary, "--out", "varied", "--quiet"]).ok();
    let varied = fs::read_to_string(at.join("varied/runs.jsonl")).unwrap();
    assert!(varied.contains(&single), "{varied}");
}

#[test]
fn parameters_of_a_class_are_checked_like_ours() {
    let dir = example("flooding");
    let at = dir.path();
    for (set, expected) in [
        ("protocol.hops=0", "protocol.hops (from the command line): 0 is not a whole number from 1 to 255"),
        ("protocol.hops=many", "give a whole number, such as 16"),
        ("protocol.hop=3", "unknown key; did you mean `hops`?"),
    ] {
        let said = error(at, &["--set", set], 2);
        assert!(said.contains(expected), "{set}: {said}");
    }
    let check = run_in(at, &["run", "s.toml", "--check"]).ok();
    assert!(check.contains("hops") && check.contains("jitter_ms"), "{check}");
    let short = summary_of(at, &["s.toml", "--out", "out", "--set", "protocol.hops=2"]);
    assert_eq!(short["totals"]["received"], 0);
    fs::write(at.join("dsr.toml"), SCENARIO.replace("protocol.python = \"mine.py\"\n", "")).unwrap();
    let summary = summary_of(at, &["dsr.toml", "--protocol", "./mine.py", "--out", "out"]);
    assert_eq!(summary["protocol"], "mine");
}

#[test]
fn modules_that_cannot_be_used_are_named_with_the_line() {
    for (text, expected) in [
        ("import wayhop\nx = 1 +\n", "it raised SyntaxError: invalid syntax (mine.py, line 2)"),
        ("import wayhop\nx = y\n", "it raised NameError: name 'y' is not defined (mine.py, line 2)"),
        ("x = 1\n", "it defines no class that is derived from wayhop.Protocol"),
        ("import wayhop\nclass A(wayhop.Protocol): pass\n", "add `carrier = wayhop.udp(7000)`"),
        (&module("    control = {300: 'x'}"), "has the first octet 300; give 0 to 255"),
        (&module("    name = 'A B'"), "name is \"A B\""),
        (&module("    low = wayhop.parameter(5, '', minimum=7)"), "the parameter low: the default 5 is not"),
        ("import os\nos._exit(3)\n", "it ended the Python process (exit status: 3)"),
    ] {
        let said = error(with(text).path(), &[], 2);
        assert!(said.contains(expected), "{text}: {said}");
        assert!(said.contains("cannot use the Python module mine.py"), "{said}");
    }
    let dir = with(&module(""));
    let ran = wayhop()
        .args(["run", "s.toml", "--out", "out"])
        .env("WAYHOP_PYTHON", "python-of-nowhere")
        .current_dir(dir.path())
        .output()
        .expect("the program");
    let said = Ran::of(&ran).err;
    assert!(said.contains("apt-get install python3") && said.contains("python-of-nowhere"), "{said}");
}

#[test]
fn mistakes_of_handlers_are_told_with_traceback_node_and_time() {
    let dies = "import ctypes; ctypes.string_at(0)";
    for (body, expected) in [
        ("{}['gone']", &["raised KeyError: 'gone' (mine.py, line 10) in on_outbound of node 0 at 1."][..]),
        ("{}['gone']", &["Traceback (most recent call last):", "mine.py\", line 10, in on_outbound"]),
        ("pass", &["it returned without passing its packet on"]),
        ("cx.send(packet); cx.send(packet)", &["this packet was sent already", "line 10"]),
        ("cx.send(packet, interface=9)", &["it used interface 9; this node has 1"]),
        ("packet.data = b'x'; cx.send(packet)", &["1 bytes that are no IPv4 packet: 78", "line 10"]),
        ("sys.exit('enough')", &["it raised SystemExit: enough (mine.py, line 10)"]),
        ("os._exit(3)", &["it ended the Python process (exit status: 3) in on_outbound of node 0 at 1."]),
        (dies, &["it ended the Python process (signal: 11 (SIGSEGV)"]),
        // The pipe to Wayhop is its file 3.
        ("os.write(3, b'rubbish, rubbish')", &["bytes that are no answer"]),
    ] {
        let dir = with(&module(&format!("    def on_outbound(self, cx, packet):\n        {body}")));
        let said = error(dir.path(), &[], 1);
        for part in expected {
            assert!(said.contains(part), "{body}: {said}");
        }
        assert!(said.contains("the Python module") && said.contains("mine.py ended the run: it"), "{said}");
        assert!(!said.contains("<wayhop"), "{said}");
        assert!(said.contains("out: "), "{said}");
    }
}

/// As with a run that is killed, all but the last seconds of the wall clock are kept.
#[test]
fn the_run_of_a_module_that_failed_is_readable() {
    let fails =
        "    def on_outbound(self, cx, packet):\n        assert cx.now < 9\n        cx.consume(packet)";
    let dir = with(&module(fails));
    let said = error(dir.path(), &["--pace", "2"], 1);
    assert!(said.contains("recorded up to") && said.contains("wayhop recover out"), "{said}");
    run_in(dir.path(), &["recover", "out"]).ok();
    assert_eq!(manifest(&dir.path().join("out"))["status"], "killed");
    run_in(dir.path(), &["why", "out", "--json"]).ok();
}

#[test]
fn a_handler_that_does_not_return_is_interrupted_with_its_line() {
    for (body, expected) in [
        ("while True: pass", "TimeoutError: the handler did not return within 3 s (mine.py, line 10)"),
        ("time.sleep(99)", "TimeoutError: the handler did not return within 3 s (mine.py, line 10)"),
        // Nothing interrupts a regular expression.
        ("import re; re.match('(a+)+$', 'a' * 99 + 'b')", "not return within 3 s"),
    ] {
        let dir = with(&module(&format!("    def on_outbound(self, cx, packet):\n        {body}")));
        let output = wayhop()
            .args(["run", "s.toml", "--out", "out", "--quiet"])
            // On a busy machine, loading Python takes a part of a second.
            .env("WAYHOP_CALL_LIMIT_S", "3")
            .current_dir(dir.path())
            .output()
            .expect("the program");
        let ran = Ran::of(&output);
        assert_eq!(ran.status, Some(1), "{}", ran.err);
        assert!(ran.err.contains(expected) && ran.err.contains("in on_outbound of node 0"), "{}", ran.err);
    }
}

#[test]
fn what_a_module_prints_stays_out_of_the_output() {
    let talks =
        "    def on_outbound(self, cx, packet):\n        print('a packet')\n        cx.consume(packet)";
    let dir = with(&module(talks));
    let ran = run_in(dir.path(), &["run", "s.toml", "--out", "out", "--json", "--quiet"]);
    assert!(ran.err.contains("a packet\n"), "{}", ran.err);
    assert_eq!(ran.json()["protocol"], "mine");
}

#[test]
fn packets_that_a_module_keeps_are_held_and_those_that_it_loses_are_told() {
    let loses = "    def on_outbound(self, cx, packet):\n        self.last = packet";
    let dir = with(&module(loses));
    let ran = run_in(dir.path(), &["run", "s.toml", "--out", "out", "--json"]);
    assert!(ran.err.contains("mine.py: node 0 lost packets"), "{}", ran.err);
    let keeps = "    def on_start(self, cx):\n        self.all = []\n\n    def on_outbound(self, cx, packet):\n        \
                 self.all.append(packet)";
    let dir = with(&module(keeps));
    let ran = run_in(dir.path(), &["run", "s.toml", "--out", "out", "--json"]);
    assert!(!ran.err.contains("lost packets"), "{}", ran.err);
    assert!(ran.json()["totals"]["held"].as_u64().unwrap() > 10);
}

/// Real programs over the module's packets, in real time and with one daemon a node.
#[test]
fn programs_ping_each_other_through_a_module() {
    skip_without_root!();
    let dir = example("flooding");
    let three = SCENARIO.replace("nodes.count = 4", "nodes.count = 3").replace("dst = 3", "dst = 2");
    fs::write(dir.path().join("s.toml"), three).unwrap();
    for world in ["emulate", "lab"] {
        let args =
            [world, "s.toml", "--out", world, "--quiet", "--node", "0", "--", "ping", "-c", "5", "mesh-2"];
        let ran = run_in(dir.path(), &args);
        assert_eq!(ran.status, Some(0), "{world}: {}{}", ran.out, ran.err);
        let few = [" 0% packet loss", " 20% packet loss"];
        assert!(few.iter().any(|l| ran.out.contains(l)), "{world}: {}", ran.out);
        assert_eq!(manifest(&dir.path().join(world))["library"]["protocol"], "mine", "{world}");
    }
}
