//! An application behaves the same in every world. Needs root and /dev/net/tun for emulation and
//! lab; without root the test says so and passes, but in CI it fails.

use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::emulate::skip_without_root;
use crate::{folder, run_in, wayhop, words};

/// Three nodes in a row; the two at the ends ask the one in the middle, one of them over two hops.
const ROW: &str = r#"
duration_s = 20
nodes.count = 4
movement = { kind = "chain", spacing_m = 200 }
[[applications]]
name = "request"
nodes = [1]
[[applications]]
name = "request"
nodes = [0, 3]
server = 1
think_s = 0.4
max_requests = 20
"#;

/// The figure of each application of a summary.
fn figures(summary: &Value, name: &str) -> Vec<Option<f64>> {
    let applications = summary["applications"].as_array().expect("applications");
    applications.iter().map(|a| a["figures"][name].as_f64()).collect()
}

/// How many rows of the table `events` have this remark.
fn notes(dir: &Path, run: &str, what: &str) -> usize {
    let rows = run_in(dir, &["export", "csv", run, "events"]).ok();
    rows.lines().filter(|l| l.split(',').any(|field| field == what)).count()
}

#[test]
fn requests_are_answered_in_simulation_emulation_and_lab_alike() {
    skip_without_root!();
    let dir = folder(&[("s.toml", ROW)]);
    for world in ["run", "emulate", "lab"] {
        let args =
            [world, "s.toml", "--protocol", "dsr", "--out", world, "--record-inputs", "--json", "--quiet"];
        let summary = run_in(dir.path(), &args).json();
        let [requests, answered, served] =
            ["requests", "answered", "requests_served"].map(|n| figures(&summary, n));
        assert_eq!(requests, [None, Some(20.0), Some(20.0)], "{world}");
        assert_eq!(answered, requests, "{world}");
        // On a real clock, a request that its client repeated may have been lost on its way.
        let retries: f64 = figures(&summary, "retries").iter().flatten().sum();
        let least = if world == "run" { 40.0 + retries } else { 40.0 };
        let served = served[0].expect("the server's");
        assert!((least..=40.0 + retries).contains(&served), "{world}: {served} of 40 and {retries} again");
        assert_eq!(notes(dir.path(), world, "request_answered"), 40, "{world}");
        // What went into each of them gives the same again.
        for log in ["0-request-1.jsonl", "1-request-0.jsonl", "3-request-2.jsonl"] {
            let told = run_in(dir.path(), &["replay", &format!("{world}/inputs/{log}")]).ok();
            assert!(told.contains(": request of node ") && told.contains(": same "), "{world}: {told}");
        }
        // There and back, of each client: flows of programs.
        let flows = summary["flows"].as_array().expect("flows");
        let ends: Vec<_> = flows.iter().map(|f| (f["src"].as_u64(), f["dst"].as_u64())).collect();
        for client in [0, 3] {
            assert!(
                ends.contains(&(Some(client), Some(1))) && ends.contains(&(Some(1), Some(client))),
                "{world}: {ends:?}"
            );
        }
    }
}

#[test]
fn a_server_and_a_client_run_by_hand() {
    let dir = folder(&[]);
    let mut server = wayhop();
    server.current_dir(dir.path()).args(words("application request --set port=17070 --json --for 4"));
    let server = server.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("wayhop");
    let sets = [
        "server=\"127.0.0.1\"",
        "port=17070",
        "client_port=17071",
        "think_s=0.01",
        "timeout_s=0.2",
        "max_requests=5",
        "start_s=0.5",
    ];
    let mut args = vec!["application", "request", "--for", "3", "--json", "--quiet", "--record", "r.jsonl"];
    args.extend(sets.iter().flat_map(|set| ["--set", set]));
    let counted = run_in(dir.path(), &args).json();
    let served = server.wait_with_output().expect("it ends");
    assert_eq!(counted["answered"], 5.0, "{counted}");
    let served: Value = serde_json::from_slice(&served.stdout).expect("one JSON object");
    assert!(served["requests_served"].as_f64() >= Some(5.0), "{served}");
    let record = std::fs::read_to_string(dir.path().join("r.jsonl")).expect("a record");
    assert_eq!(record.matches("\"request_answered\"").count(), 5, "{record}");
}

#[test]
fn what_is_wrong_with_an_application_is_said_with_a_remedy() {
    let dir = folder(&[]);
    let refused = |args: &[&str]| {
        let mut all = vec!["application"];
        all.extend(args);
        run_in(dir.path(), &all).failure(2)
    };
    for (args, message) in [
        (&["requests"][..], "unknown name \"requests\"; did you mean `request`?"),
        (&["request", "--set", "think=1"], "unknown key; did you mean `think_s`?"),
        (&["request", "--set", "tries=0"], "tries: a request that is never sent; give 1 or more"),
        (&["request", "--set", "server=base"], "server"),
    ] {
        let e = refused(args);
        assert!(e.contains(message), "{args:?}: {e}");
    }
    let taken = std::net::UdpSocket::bind("0.0.0.0:0").expect("a port");
    let port = format!("port={}", taken.local_addr().expect("bound").port());
    let e = run_in(dir.path(), &["application", "request", "--set", &port]).failure(1);
    assert!(e.contains("cannot listen on UDP port"), "{e}");
}
