//! Conversations of real programs are flows: the programs' own reports are the oracle. Needs root
//! and Debian's iperf3 and iputils-ping.

use std::path::Path;

use serde_json::Value;

use crate::emulate::{CHAIN, skip_without_root};
use crate::{folder, run_in};

/// The flow with these ends in a summary.
fn flow<'a>(summary: &'a Value, kind: &str, [src, dst]: [u64; 2], port: Option<(&str, u64)>) -> &'a Value {
    let is_it = |f: &&Value| {
        f["kind"] == kind && f["src"] == src && f["dst"] == dst && port.is_none_or(|(key, p)| f[key] == p)
    };
    let mut all = summary["flows"].as_array().expect("flows").iter().filter(is_it);
    all.next().unwrap_or_else(|| panic!("no {kind} from {src} to {dst}: {summary}"))
}

fn count(f: &Value, key: &str) -> u64 {
    f[key].as_u64().unwrap_or_else(|| panic!("no {key}: {f}"))
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("a file")).expect("JSON")
}

#[test]
fn flows_of_programs_count_what_ping_and_iperf3_count() {
    skip_without_root!();
    let nodes =
        CHAIN.split("[[traffic]]").next().unwrap_or_default().replace("duration_s = 30", "duration_s = 600");
    let server = "[[programs]]\nnode = 4\ncommand = [\"sh\", \"-c\", \"iperf3 -s >/dev/null\"]\n";
    let dir = folder(&[("s.toml", &format!("protocol.name = \"dsr\"\n{nodes}{server}"))]);
    // For the last answer ping waits at least as long as between two requests.
    let script = "ping -c 30 -i 0.5 -W 5 mesh-3 > ping.txt
        until iperf3 -u -c mesh-4 -b 60k -l 500 -t 4 -J > iperf3.json; do sleep 0.2; done";
    let run = ["emulate", "s.toml", "--out", "run", "--quiet", "--node", "0", "--", "sh", "-c", script];
    run_in(dir.path(), &run).ok();
    let summary = read(&dir.path().join("run/summary.json"));

    let said = std::fs::read_to_string(dir.path().join("ping.txt")).expect("what ping said");
    let answered = said.split(" received").next().and_then(|s| s.rsplit(' ').next()).expect("a count");
    let (asks, answers) = (flow(&summary, "icmp", [0, 3], None), flow(&summary, "icmp", [3, 0], None));
    assert_eq!((count(asks, "sent"), count(answers, "received")), (30, answered.parse().expect("a number")));
    assert_eq!(count(asks, "received"), count(answers, "sent"), "the kernel answers each request that came");
    assert_eq!((&asks["protocol"], &asks["src_port"]), (&Value::from(1), &asks["dst_port"]));
    assert_eq!(asks["hops_mean"], 3.0);

    let iperf3 = read(&dir.path().join("iperf3.json"));
    let port = iperf3["start"]["connected"][0]["local_port"].as_u64().expect("the port");
    let data = flow(&summary, "udp", [0, 4], Some(("src_port", port)));
    let sum = &iperf3["end"]["sum"];
    let (sent, lost) = (count(sum, "packets"), count(sum, "lost_packets"));
    // One more datagram opens the test.
    assert_eq!(count(data, "sent"), sent + 1, "{sum}");
    // What is under way when the test ends, iperf3 counts neither as received nor as lost.
    let received = count(data, "received");
    assert!(received.abs_diff(sent + 1 - lost) <= 3, "{data} {sum}");
    assert_eq!(data["dst_port"], 5201);
    for f in summary["flows"].as_array().expect("flows") {
        assert_eq!(count(f, "sent"), count(f, "received") + count(f, "dropped") + count(f, "held"), "{f}");
    }
    let totals = &summary["totals"];
    assert_eq!(
        count(totals, "sent") + count(&summary["programs"], "without_flow"),
        count(&summary["programs"], "sent")
    );
    assert!(count(totals, "received") > 100, "{totals}");

    // Tables and commands have the same flows.
    let id = data["id"].to_string();
    let outcomes = run_in(dir.path(), &["export", "csv", "run", "outcomes"]).ok();
    let arrived = outcomes.lines().filter(|l| l.starts_with(&format!("{id},")) && l.contains(",delivered,"));
    assert_eq!(arrived.count() as u64, received);
    let told = run_in(dir.path(), &["why", "run", "--flow", &id, "--seq", "0"]).ok();
    assert!(
        told.contains("an application sends it") && told.contains("delivered to its application"),
        "{told}"
    );
    let list = run_in(dir.path(), &["why", "run"]).ok();
    assert!(!list.contains("sent no packets"), "{list}");
    run_in(dir.path(), &["plot", "delivery", "run", "--out", "delivery.svg"]).ok();
    run_in(dir.path(), &["plot", "throughput", "run", "--out", "throughput.svg"]).ok();
    let compared = run_in(dir.path(), &["compare", "--json", "run", "run"]).ok();
    assert!(compared.contains("udp 0-4 port 5201"), "{compared}");
    let shown = run_in(dir.path(), &["export", "csv", "run", "flows"]).ok();
    assert!(shown.lines().next().is_some_and(|head| head.contains("protocol,src_port,dst_port")), "{shown}");
}
