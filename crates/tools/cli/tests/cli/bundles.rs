//! Delay-tolerant networking in simulation, and the commands for bundles where no agent is.

use serde_json::Value;
use wayhop_testkit::tshark;

use crate::schemas::check;
use crate::{folder, run_in, summary_of, wayhop};

const RELAY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scenarios/dtn/relay.toml");

#[test]
fn a_node_that_goes_to_and_fro_carries_every_bundle_and_runs_are_the_same() {
    let dir = folder(&[]);
    let first = summary_of(dir.path(), &[RELAY, "--out", "a"]);
    let bundles = &first["bundles"];
    // Flow 0 makes one a second in 0 to 5 s, flow 1 in 0 to 15 s. The carrier leaves each of them last at 44 s, and both are met after
    // they have made their last ones.
    assert_eq!((&bundles["originated"], &bundles["delivered"]), (&Value::from(22), &Value::from(22)));
    assert_eq!(bundles["delivery_ratio"], 1.0);
    assert_eq!(bundles["delivered_again"], 0);
    // It takes the carrier 9 s from one to the other, after a halt of 8 s.
    assert!(bundles["delay_s"]["max"].as_f64().is_some_and(|d| d > 9.0 && d < 40.0), "{bundles}");
    // Each bundle goes two hops, and signals go, too.
    assert!(bundles["forwarded"].as_u64().is_some_and(|n| n >= 44), "{bundles}");
    assert!(bundles["overhead"].as_f64().is_some_and(|o| o >= 1.0), "{bundles}");
    assert_eq!(bundles["flows"][1]["delivered"], 16);
    let again = summary_of(dir.path(), &[RELAY, "--out", "b"]);
    assert_eq!(first["trace_hash"], again["trace_hash"]);
    assert_eq!(first["bundles"], again["bundles"]);
    for table in ["bundles.parquet", "contacts.parquet"] {
        let read = |run: &str| std::fs::read(dir.path().join(run).join(table)).expect("a table");
        assert_eq!(read("a"), read("b"), "{table}");
    }
    let told = run_in(dir.path(), &["run", RELAY, "--no-out"]).ok();
    assert!(told.contains("bundles    22 of 22 delivered (100.00 %)"), "{told}");
}

#[test]
fn what_went_into_agents_gives_the_same_again_also_over_a_reboot() {
    let outage = "[[outages]]\nnode = 1\nstart_s = 12\nlength_s = 3\ntables = \"lost\"\n";
    let relay = std::fs::read_to_string(RELAY).expect("the scenario");
    let dir = folder(&[("s.toml", &format!("{relay}\n{outage}"))]);
    summary_of(dir.path(), &["s.toml", "--record-inputs", "--out", "a"]);
    for log in ["0-bundles-0.jsonl", "1-bundles-1.jsonl", "2-bundles-2.jsonl"] {
        let told = run_in(dir.path(), &["replay", &format!("a/inputs/{log}")]).ok();
        assert!(told.contains(": bundles of node ") && told.contains(": same "), "{told}");
    }
    let carrier = std::fs::read_to_string(dir.path().join("a/inputs/1-bundles-1.jsonl")).expect("a log");
    for input in ["\"restart\"", "\"datagram\"", "\"timer\""] {
        assert!(carrier.contains(input), "{input}");
    }
}

/// Second, node and length of a list of the table `sizes` of the run `a`.
fn lengths(dir: &std::path::Path, what: &str) -> Vec<(f64, u32, u64)> {
    let csv = run_in(dir, &["export", "csv", "a", "sizes"]).ok();
    let mut lines = csv.lines().map(|l| l.split(',').collect::<Vec<_>>());
    let head = lines.next().expect("names");
    let column = |name: &str| head.iter().position(|h| *h == name).expect("a column");
    let (time, node, list, count) = (column("time_ns"), column("node"), column("what"), column("count"));
    let row = |l: Vec<&str>| {
        let seconds = l[time].parse::<f64>().expect("a number") * 1e-9;
        (l[list] == what)
            .then(|| (seconds, l[node].parse().expect("a node"), l[count].parse().expect("a count")))
    };
    lines.filter_map(row).collect()
}

#[test]
fn the_lengths_of_tables_over_time_have_the_bundles_that_each_node_stores() {
    // Nobody hears anybody: what the flow makes in each second from 0 to 5 s stays with node 0.
    let alone = r#"
duration_s = 20
nodes.count = 3
movement = { kind = "grid", spacing_m = 5000 }
protocol = { name = "none" }
[dtn]
routing = "epidemic"
convergence = "ltp"
[[dtn.flows]]
src = 0
dst = 2
interval_s = 1
stop_s = 6
"#;
    let dir = folder(&[("alone.toml", alone)]);
    summary_of(dir.path(), &["alone.toml", "--out", "a"]);
    let stored = lengths(dir.path(), "bundles");
    let at = |node, second: f64| {
        stored.iter().find(|(t, n, _)| *n == node && (t - second).abs() < 0.01).map(|(_, _, count)| *count)
    };
    // Looks come before what happens at the same moment, or after it: a second has one or the other number.
    for second in 1..=5_u32 {
        let held = at(0, f64::from(second)).expect("a look");
        assert!((second..=second + 1).contains(&held.try_into().expect("few")), "{held} at {second} s");
    }
    assert_eq!((at(0, 7.0), at(0, 19.0)), (Some(6), Some(6)));
    assert_eq!(at(1, 19.0), None, "the others have none");
    assert!(lengths(dir.path(), "bundle_contacts").is_empty(), "and nobody meets anybody");
}

#[test]
fn what_is_undefined_without_a_delivery_is_null() {
    let dir = folder(&[]);
    let s = summary_of(dir.path(), &[RELAY, "--no-out", "--duration", "2.5"]);
    let bundles = &s["bundles"];
    assert_eq!((&bundles["originated"], &bundles["delivered"]), (&Value::from(6), &Value::from(0)));
    assert!(bundles["delay_s"].is_null() && bundles["overhead"].is_null(), "{bundles}");
    assert_eq!(bundles["delivery_ratio"], 0.0);
}

/// Four nodes in a row, the third down for a while; bundles both ways.
const ROW: &str = r#"
duration_s = 90
nodes.count = 4
movement = { kind = "chain", spacing_m = 200 }
protocol = { name = "none" }
captures = { all = true, snap_length_bytes = 3000 }

[dtn]
routing = "epidemic"
convergence = "tcpcl"

[[dtn.flows]]
src = 0
dst = 3
interval_s = 2
stop_s = 40
size_bytes = 20000
custody = true

[[dtn.flows]]
src = 3
dst = 1
interval_s = 3
stop_s = 40
size_bytes = 3000

[[outages]]
node = 2
start_s = 10
length_s = 15
"#;

#[test]
fn over_tcpcl_the_same_bundles_arrive_as_over_the_other_layers() {
    let dir = folder(&[("row.toml", ROW)]);
    let counts = |scenario: &str, layer: &str, more: &str| {
        let layer = format!("dtn.convergence={layer}");
        let s = summary_of(dir.path(), &[scenario, "--no-out", "--set", &layer, "--set", more]);
        ["originated", "delivered", "delivered_again"].map(|name| s["bundles"][name].as_u64())
    };
    for layer in ["tcpcl", "ltp", "udpcl"] {
        let of = counts(RELAY, layer, "dtn.fragment_bytes=1400");
        assert_eq!(of, [Some(22), Some(22), Some(0)], "{layer}");
    }
    // Where hidden nodes collide, UDPCL loses some.
    for layer in ["tcpcl", "ltp"] {
        assert_eq!(counts("row.toml", layer, "outages=[]"), [Some(34), Some(34), Some(0)], "{layer}");
    }
}

/// What tshark complains about in what a node sent and received itself: of others' connections it hears one direction only.
/// In one pass it would miss acknowledgements that are still to come.
fn complaints(capture: &std::path::Path, own: &str) -> String {
    let filter = format!("(_ws.malformed || _ws.expert.severity == error) && ip.addr == {own}");
    let shown = std::process::Command::new("tshark")
        .args(["-n", "-2", "-o", "tcp.reassemble_out_of_order:TRUE", "-Y", &filter, "-r"])
        .arg(capture)
        .output()
        .expect("tshark (.ci/install test)");
    assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    String::from_utf8_lossy(&shown.stdout).into_owned()
}

#[test]
fn bundles_over_tcpcl_outlive_an_outage_over_several_hops_and_tshark_reads_them() {
    for tables in ["kept", "lost"] {
        let dir = folder(&[("row.toml", &format!("{ROW}tables = \"{tables}\"\n"))]);
        let s = summary_of(dir.path(), &["row.toml", "--out", "a", "--record-inputs"]);
        assert_eq!(s["bundles"]["delivered"], 34, "{tables}: {}", s["bundles"]);
        assert_eq!((&s["bundles"]["originated"], &s["bundles"]["delivered_again"]), (&34.into(), &0.into()));
        for node in 0..4 {
            let capture = dir.path().join(format!("a/captures/{node}.pcapng"));
            assert_eq!(complaints(&capture, &format!("10.0.0.{}", node + 1)), "", "{tables}, node {node}");
            let checks = tshark::fields(&capture, "tcp", &["tcp.checksum.status"]).expect("tshark");
            assert!(checks.len() > 100 && checks.iter().all(|row| row[0] == "1"), "{tables}, node {node}");
            let bundles = tshark::fields(&capture, "tcpcl && bpv7", &["frame.number"]).expect("tshark");
            assert!(bundles.len() >= 14, "{tables}, node {node}: {}", bundles.len());
            let log = dir.path().join(format!("a/inputs/{node}-bundles-{node}.jsonl"));
            let told = run_in(dir.path(), &["replay", log.to_str().expect("UTF-8")]).ok();
            assert!(told.contains(": same "), "{tables}, node {node}: {told}");
            let text = std::fs::read_to_string(log).expect("a log");
            for input in ["\"connected\"", "\"accepted\"", "\"data\"", "\"room\""] {
                let is_here = text.contains(input);
                // Of two neighbours the one with the lesser name calls.
                let (first, last) = (node == 0, node == 3);
                assert_eq!(
                    is_here,
                    !(first && input == "\"accepted\"" || last && input == "\"connected\""),
                    "{node} {input}"
                );
            }
        }
    }
}

#[test]
fn without_an_agent_the_commands_say_how_to_start_one() {
    let dir = folder(&[]);
    for arguments in [
        &["bundle", "list", "--socket", "none.sock"][..],
        &["bundle", "send", "dtn://b/inbox", "--text", "x", "--socket", "none.sock"],
        &["bundle", "receive", "inbox", "--socket", "none.sock"],
    ] {
        let e = run_in(dir.path(), arguments).failure(1);
        assert!(e.contains("none.sock") && e.contains("wayhop bundle agent"), "{e}");
    }
    let e = run_in(dir.path(), &["bundle", "agent", "--node", "dtn://a/x", "--store", "a.redb"]).failure(2);
    assert!(e.contains("dtn://name/"), "{e}");
    let e = run_in(dir.path(), &["bundle", "send", "dtn://b/inbox"]).failure(2);
    assert!(e.contains("--text"), "{e}");
}

/// An agent that is killed when this goes.
struct Agent(std::process::Child);

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_an_agent_answers_is_what_the_schemas_say() {
    let dir = folder(&[]);
    // An address of this host's own loopback that nobody else listens at; ports are the usual ones.
    let sets = ["socket=a.sock", "listen=127.0.0.77", "beacon_s=0"];
    let mut command = wayhop();
    command.args(["bundle", "agent", "--quiet", "--node", "dtn://a/", "--store", "a.redb"]);
    command.args(sets.iter().flat_map(|s| ["--set", s])).current_dir(dir.path());
    let mut agent = Agent(command.spawn().expect("the program runs"));
    let begun = std::time::Instant::now();
    while !dir.path().join("a.sock").exists() {
        assert!(agent.0.try_wait().expect("a process").is_none(), "the agent has ended");
        assert!(begun.elapsed().as_secs() < 60, "the agent does not come up");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let bundle = |args: &[&str]| {
        run_in(dir.path(), &[&["bundle"], args, &["--socket", "a.sock", "--json"]].concat()).ok()
    };
    check("bundle-send", &bundle(&["send", "dtn://a/inbox", "--text", "to myself", "--custody"]));
    std::fs::write(dir.path().join("f.bin"), [1, 2, 3]).expect("a file");
    bundle(&["send", "dtn://a/inbox", "--file", "f.bin"]);
    bundle(&["send", "dtn://b/inbox", "--text", "nobody is near"]);
    let listed = bundle(&["list"]);
    check("bundle-list", &listed);
    assert!(listed.contains("dtn://b/inbox"), "{listed}");
    let received = bundle(&["receive", "inbox", "--count", "2", "--timeout", "60", "--folder", "got"]);
    check("bundle-receive", &received);
    assert!(received.contains("to myself") && received.contains("got/f.bin"), "{received}");
    assert_eq!(std::fs::read(dir.path().join("got/f.bin")).expect("the file"), [1, 2, 3]);
}
