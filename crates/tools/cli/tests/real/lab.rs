//! `wayhop lab`: a scenario's nodes as daemons on one wire with a macfilter.
//!
//! Needs root, network namespaces, and ip, nft, ping and gpspipe (`.ci/install test`). Without root the tests are skipped with a
//! message; in CI they fail.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::mesh::{WAYHOP, run_scenario, skip_without_root};

const CHAIN: &str = "\
duration_s = 8
nodes.count = 4
movement = { kind = \"chain\", spacing_m = 200 }
[[traffic]]
kind = \"cbr\"
src = 0
dst = 3
rate_pps = 20
payload_bytes = 200
start_s = 1
stop_s = 6
[[traffic]]
kind = \"ping\"
src = 3
dst = 0
start_s = 2
";

fn lab(arguments: &[&str]) -> (Output, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chain.toml"), CHAIN).unwrap();
    let done = Command::new(WAYHOP)
        .args(["lab", "chain.toml"])
        .args(arguments)
        .current_dir(folder.path())
        .output()
        .unwrap();
    (done, folder)
}

fn summary(done: &Output) -> serde_json::Value {
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    serde_json::from_slice(&done.stdout).unwrap()
}

/// The command lines of all processes.
fn command_lines() -> Vec<String> {
    let all = fs::read_dir("/proc").unwrap().flatten();
    all.filter_map(|e| fs::read(e.path().join("cmdline")).ok())
        .map(|octets| String::from_utf8_lossy(&octets).into_owned())
        .collect()
}

const KEY: &str = "5ec2e700112233445566778899aabbcc";

#[test]
fn nodes_with_keys_deliver_and_no_command_line_or_file_shows_a_key() {
    skip_without_root!();
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{CHAIN}[security]\nkeys = [{{ id = 4, key = \"{KEY}\" }}]\n");
    fs::write(folder.path().join("chain.toml"), text).unwrap();
    let mut lab = Command::new(WAYHOP);
    lab.args(["lab", "chain.toml", "--json", "--out", "run"]).current_dir(folder.path());
    let child = lab.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begun = Instant::now();
    let are_nodes =
        |lines: &[String]| lines.iter().filter(|l| l.contains("security.keys_file=")).count() >= 4;
    let mut lines = Vec::new();
    while !are_nodes(&lines) && begun.elapsed() < Duration::from_secs(30) {
        lines = command_lines();
        sleep(Duration::from_millis(5));
    }
    assert!(are_nodes(&lines), "the nodes start");
    assert!(!lines.iter().any(|l| l.contains(KEY)));
    let s = summary(&child.wait_with_output().unwrap());
    let cbr = &s["flows"][0];
    assert_eq!(cbr["sent"], 100);
    assert!(cbr["received"].as_u64().unwrap() > 80, "{cbr}");
    for name in ["manifest.json", "summary.json"] {
        assert!(!fs::read_to_string(folder.path().join("run").join(name)).unwrap().contains(KEY), "{name}");
    }
}

#[test]
fn a_chain_of_daemons_delivers_the_scenarios_flows_over_three_hops() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let (done, folder) = lab(&["--protocol", protocol, "--json", "--out", "run"]);
        let s = summary(&done);
        assert_eq!((s["world"].as_str(), s["protocol"].as_str()), (Some("lab"), Some(protocol)));
        let cbr = &s["flows"][0];
        assert_eq!(cbr["sent"], 100, "20 packets a second from 1 s to 6 s");
        // On a busy machine a link may break for a second, and what is under way then is lost.
        assert!(cbr["delivery_ratio"].as_f64().unwrap() >= 0.5, "{cbr}");
        assert!((cbr["hops_mean"].as_f64().unwrap() - 3.0).abs() < 0.1, "{cbr}");
        let ping = &s["flows"][1];
        assert!(ping["delivery_ratio"].as_f64().unwrap() >= 0.5, "{ping}");
        assert!(s["totals"]["by_type"]["rreq"].as_u64().unwrap() >= 3, "{s}");
        assert!(folder.path().join("run/summary.json").is_file());
        let run = folder.path().join("run");
        let rreqs = table(&run, "packets").iter().filter(|r| r[6] == "rreq" && r[2] == "send").count();
        assert!(rreqs >= 1, "searches are in the table");
        // The chain's places.
        let places: Vec<(String, f64)> =
            table(&run, "positions").iter().map(|r| (r[1].clone(), r[2].parse().unwrap())).collect();
        let wanted = [("0", 0.0), ("1", 200.0), ("2", 400.0), ("3", 600.0)];
        assert_eq!(places, wanted.map(|(n, x)| (n.to_owned(), x)));
        // Each daemon tells the lab once a second how long its queue and its tables are.
        let sizes = table(&run, "sizes");
        for node in ["0", "1", "2", "3"] {
            let of = |what: &str| sizes.iter().filter(|r| r[1] == node && r[2] == what).count();
            assert!(of("queue") >= 2, "node {node}: {sizes:?}");
            assert!(of("forwarding") + of("route_cache") + of("link_cache") >= 1, "node {node}: {sizes:?}");
        }
        if protocol == "dsr" {
            follow(&run);
        }
    }
}

/// The rows of a table of a run, without its head.
fn table(run: &std::path::Path, table: &str) -> Vec<Vec<String>> {
    let done = Command::new(WAYHOP).args(["export", "csv"]).arg(run).arg(table).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let text = String::from_utf8(done.stdout).unwrap();
    text.lines().skip(1).map(|l| l.split(',').map(str::to_owned).collect()).collect()
}

/// Each packet of the first flow that arrived went over the nodes of the chain, and each of them says so.
fn follow(run: &std::path::Path) {
    let packets = table(run, "packets");
    let of_flow: Vec<_> = packets.iter().filter(|r| r[4] == "0").collect();
    let delivered: Vec<&String> = of_flow.iter().filter(|r| r[2] == "deliver").map(|r| &r[5]).collect();
    assert!(delivered.len() >= 50, "{}", delivered.len());
    for seq in delivered {
        let has =
            |event: &str, node: &str| of_flow.iter().any(|r| r[5] == *seq && r[2] == event && r[1] == node);
        for (event, node) in [
            ("originate", "0"),
            ("send", "0"),
            ("receive", "1"),
            ("forward", "1"),
            ("receive", "2"),
            ("forward", "2"),
            ("receive", "3"),
            ("deliver", "3"),
        ] {
            assert!(has(event, node), "packet {seq} lacks {event} at node {node}");
        }
        let count = of_flow.iter().filter(|r| r[5] == *seq && r[2] == "originate").count();
        assert_eq!(count, 1, "packet {seq} begins once");
    }
    // What DSR knew at the source and on the way, about the same packets.
    let number = &of_flow.iter().rfind(|r| r[2] == "deliver").unwrap()[3];
    let sends = table(run, "sends");
    for node in ["0", "1", "2"] {
        assert!(sends.iter().any(|r| r[1] == node && r[2] == *number), "nothing of {number} at node {node}");
    }
}

#[test]
fn each_node_of_a_lab_has_a_gps_receiver_that_its_daemon_and_gpsds_clients_read() {
    skip_without_root!();
    let folder = tempfile::tempdir().unwrap();
    let nodes = CHAIN.split("[[traffic]]").next().unwrap();
    let text = format!("origin = {{ lat = 40.0, lon = -80.0 }}\n{nodes}");
    fs::write(folder.path().join("s.toml"), text).unwrap();
    // The daemon's socket is in a folder of the lab's.
    let sockets = folder.path().join("sockets");
    let script = format!(
        "gpspipe -w -n 6; until {WAYHOP} ctl --json --socket {}/lab-*/node-1.sock position | grep latitude; \
         do sleep 0.1; done",
        sockets.display()
    );
    let done = Command::new(WAYHOP)
        .args([
            "lab",
            "s.toml",
            "--protocol",
            "dsr",
            "--quiet",
            "--no-out",
            "--node",
            "1",
            "--",
            "sh",
            "-c",
            &script,
        ])
        .env("WAYHOP_RUNTIME_DIR", &sockets)
        .current_dir(folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}{}", String::from_utf8_lossy(&done.stderr));
    let lines: Vec<serde_json::Value> = said.lines().filter_map(|l| serde_json::from_str(l).ok()).collect();
    // 200 m to the east, of 111,320 m times cos 40 degrees to a degree, nearly.
    let is_there = |lat: &serde_json::Value, lon: &serde_json::Value| {
        let east = (lon.as_f64().unwrap() + 80.0) * 111_320.0 * 40f64.to_radians().cos();
        (lat.as_f64().unwrap() - 40.0).abs() < 1e-5 && (east - 200.0).abs() < 1.0
    };
    let report = lines.iter().rfind(|v| v["class"] == "TPV").unwrap_or_else(|| panic!("no report: {said}"));
    assert!(is_there(&report["lat"], &report["lon"]), "{report}");
    let earth = &lines.last().unwrap()["nodes"][0]["earth"];
    assert!(is_there(&earth["latitude_deg"], &earth["longitude_deg"]), "{said}");
}

#[test]
fn a_macfilter_by_hand_decides_who_hears_whom() {
    skip_without_root!();
    let folder = tempfile::tempdir().unwrap();
    // Node 3 is deaf to all from 3 s on: half of the flow's packets are lost.
    let text = "at 3 node 3 ignores 02:00:0a:00:00:01 02:00:0a:00:00:02 02:00:0a:00:00:03\n";
    let file = folder.path().join("walk.macfilter");
    fs::write(&file, text).unwrap();
    let (done, _folder) =
        lab(&["--protocol", "aodv", "--json", "--no-out", "--macfilter", file.to_str().unwrap()]);
    let s = summary(&done);
    let cbr = &s["flows"][0];
    assert!((cbr["hops_mean"].as_f64().unwrap() - 1.0).abs() < 0.1, "until then all hear each other: {cbr}");
    let received = cbr["received"].as_u64().unwrap();
    // 40, but for what the search takes before and the filter's change after; without the filter it would be 100.
    assert!((20..=70).contains(&received), "20 a second from 1 s to 3 s: {cbr}");
}

#[test]
fn a_command_in_a_node_knows_the_others_names_and_its_exit_status_is_the_runs() {
    skip_without_root!();
    let ping = "--protocol dsr --quiet --no-out --node 1 -- ping -c 2 -w 25 mesh-3";
    let (done, _folder) = lab(&ping.split(' ').collect::<Vec<_>>());
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("2 received"), "{said}");
    let (done, _folder) = lab(&["--quiet", "--no-out", "--node", "1", "--", "sh", "-c", "exit 7"]);
    assert_eq!(done.status.code(), Some(7));
}

#[test]
fn the_macfilter_of_a_scenario_names_those_out_of_range() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("chain.toml"), CHAIN).unwrap();
    let mut export = Command::new(WAYHOP);
    export.args(["export", "macfilter", "chain.toml"]).current_dir(folder.path());
    let done = export.output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    let lines: Vec<&str> = text.lines().filter(|l| !l.starts_with('#')).collect();
    assert_eq!(
        lines,
        [
            "at 0.000000000 node 0 ignores 02:00:0a:00:00:03 02:00:0a:00:00:04",
            "at 0.000000000 node 1 ignores 02:00:0a:00:00:04",
            "at 0.000000000 node 2 ignores 02:00:0a:00:00:01",
            "at 0.000000000 node 3 ignores 02:00:0a:00:00:01 02:00:0a:00:00:02",
        ]
    );
}

/// A lab in the background; it ends with this value.
struct Background {
    child: Child,
    folder: tempfile::TempDir,
}

impl Background {
    fn start(scenario: &str, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("s.toml"), scenario).unwrap();
        let child = Command::new(WAYHOP)
            .args(["lab", "s.toml", "--quiet"])
            .args(arguments)
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let lab = Self { child, folder };
        until("the lab is up", || lab.exec(0, &["true"]).status.success());
        lab
    }

    fn wayhop(&self, arguments: &[&str]) -> Output {
        Command::new(WAYHOP).args(arguments).current_dir(self.folder.path()).output().unwrap()
    }
    fn exec(&self, node: usize, command: &[&str]) -> Output {
        let (run, node) = (self.child.id().to_string(), node.to_string());
        self.wayhop(&[&["exec", "--run", &run, &node, "--"], command].concat())
    }
    fn ctl(&self, run: &str, arguments: &[&str]) -> serde_json::Value {
        let done = self.wayhop(&[&["ctl", "--run", run, "--json"], arguments].concat());
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
        serde_json::from_slice(&done.stdout).unwrap_or_default()
    }
    /// What a table of its run directory holds, a line a row.
    fn table(&self, name: &str) -> Vec<String> {
        let done = self.wayhop(&["export", "csv", "run", name]);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).unwrap().lines().skip(1).map(str::to_owned).collect()
    }
}

fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(90), "not within 90 s: {what}");
        sleep(Duration::from_millis(50));
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = Command::new("kill").arg(self.child.id().to_string()).status();
            let _ = self.child.wait();
        }
    }
}

#[test]
fn one_control_socket_shows_and_changes_all_nodes_of_a_lab() {
    skip_without_root!();
    let name = format!("wht-lab-{}", std::process::id());
    let scenario = format!(
        "name = \"{name}\"\nduration_s = 600\nnodes.count = 3\n\
         movement = {{ kind = \"chain\", spacing_m = 200 }}\nprotocol = {{ name = \"aodv\" }}\n"
    );
    let lab = Background::start(&scenario, &["--no-out"]);
    let pings = |wait: &str| lab.exec(0, &["ping", "-c", "1", "-W", wait, "mesh-2"]).status.success();
    until("a ping comes back", || pings("2"));

    let tables = lab.ctl(&name, &["tables", "forwarding"]);
    let nodes = tables["nodes"].as_array().unwrap();
    let told: Vec<_> = nodes.iter().map(|n| (n["node"].as_u64(), n["name"].as_str())).collect();
    assert_eq!(told, [(Some(0), Some("0")), (Some(1), Some("1")), (Some(2), Some("2"))]);
    let rows = nodes[0]["tables"]["forwarding"].as_array().unwrap();
    assert!(rows.iter().any(|r| r["destination"] == "10.0.0.3" && r["next_hop"] == "10.0.0.2"), "{rows:?}");
    let requests =
        |node: usize| lab.ctl(&name, &["counters"])["nodes"][node]["counters"]["type.rreq"].clone();
    assert!(requests(0).as_u64().unwrap() >= 1);

    let interval = |node: usize| {
        lab.ctl(&name, &["params"])["nodes"][node]["parameters"]["hello_interval_ms"].as_u64().unwrap()
    };
    let before = interval(1);
    lab.ctl(&name, &["--node", "2", "params", "hello_interval_ms=777"]);
    assert_eq!((interval(1), interval(2)), (before, 777), "of node 2 alone");

    lab.ctl(&name, &["link", "1", "2", "down"]);
    assert_eq!(lab.ctl(&name, &["links"])["links"].as_array().unwrap().len(), 2, "both ways");
    until("nothing crosses a link that is down", || !pings("1"));
    lab.ctl(&name, &["link", "1", "2", "model"]);
    until("the route is found again", || pings("2"));
    lab.ctl(&name, &["link", "0", "2", "up"]);
    lab.ctl(&name, &["purge"]);
    until("the nodes that heard nothing of each other do now", || {
        let said = lab.exec(0, &["ping", "-c", "1", "-W", "2", "mesh-2"]);
        String::from_utf8_lossy(&said.stdout).contains("ttl=64")
    });
    let place = lab.wayhop(&["ctl", "--run", &name, "--node", "0", "position", "5,5"]);
    assert!(!place.status.success() && String::from_utf8_lossy(&place.stderr).contains("no radio model"));

    let mut watch = Command::new(WAYHOP)
        .args(["ctl", "--run", &name, "--json", "watch", "note"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines();
    // Until it has subscribed, nothing comes; a purge makes each ping search.
    let heard = std::thread::scope(|s| {
        let heard = s.spawn(move || lines.find(|l| l.as_ref().is_ok_and(|l| l.contains("discovery_done"))));
        while !heard.is_finished() {
            lab.ctl(&name, &["purge"]);
            pings("1");
        }
        heard.join().unwrap().unwrap().unwrap()
    });
    watch.kill().unwrap();
    watch.wait().unwrap();
    let event: serde_json::Value = serde_json::from_str(&heard).unwrap();
    let event = event.get("event").unwrap_or(&event);
    assert!(event["time_s"].as_f64().unwrap() > 0.0 && event["node"].as_u64().unwrap() < 3, "{event}");
    lab.ctl(&name, &["quit"]);
}

#[test]
fn a_lab_runs_programs_orders_and_flows_to_all_and_leaves_the_tables_of_a_run() {
    skip_without_root!();
    // Node 0 is purged half a second after its last packet: it would overhear one under way, and learn the route again.
    let scenario = "\
duration_s = 9
nodes.count = 4
movement = { kind = \"chain\", spacing_m = 200 }
protocol = { name = \"dsr\" }
[[traffic]]
kind = \"cbr\"
src = 0
dst = 3
rate_pps = 1
start_s = 1.5
stop_s = 7.5
[[traffic]]
kind = \"cbr\"
src = 1
dst = \"all\"
rate_pps = 5
start_s = 1
stop_s = 7
[[programs]]
node = 3
start_s = 2.6
command = [\"ping\", \"-i\", \"0.2\", \"-c\", \"2\", \"-w\", \"5\", \"mesh-0\"]
output = \"ping.txt\"
[[commands]]
kind = \"purge-routes\"
nodes = [0]
start_s = 2
every_s = 2
";
    let mut lab = Background::start(scenario, &["--out", "run", "--captures"]);
    assert!(lab.child.wait().unwrap().success());
    let run = lab.folder.path().join("run");
    let s: serde_json::Value = serde_json::from_slice(&fs::read(run.join("summary.json")).unwrap()).unwrap();
    assert_eq!(
        (s["flows"][1]["sent"].as_u64(), s["flows"][1]["dst"].as_u64()),
        (Some(3 * 30), None),
        "30 for three nodes"
    );
    assert!(s["flows"][1]["delivery_ratio"].as_f64().unwrap() >= 0.5, "{s}");
    assert!(fs::read_to_string(run.join("programs/ping.txt")).unwrap().contains("2 received"));

    // Purged at 2, 4 and 6 s, node 0 searches each time again.
    let events = lab.table("events");
    let searches: Vec<f64> = events
        .iter()
        .map(|l| l.split(',').collect::<Vec<_>>())
        .filter(|c| c[1..4] == ["0", "discovery_done", "10.0.0.4"])
        .map(|c| c[0].parse::<f64>().unwrap() / 1e9)
        .collect();
    for purged in [2.0, 4.0, 6.0] {
        let again = |at: &f64| (purged..purged + 2.0).contains(at);
        assert!(searches.iter().any(again), "after {purged} s: {searches:?}");
    }
    // What was received is what the tables show; by the hand of the sender's and the receivers' clocks.
    let packets = lab.table("packets");
    let cells: Vec<Vec<&str>> = packets.iter().map(|l| l.split(',').collect()).collect();
    let count = |what: &str| cells.iter().filter(|c| c[2] == what && !c[4].is_empty()).count() as u64;
    let of_scenario = cells.iter().filter(|c| c[2] == "originate" && ["0", "1"].contains(&c[4])).count();
    assert_eq!(of_scenario, 6 + 30);
    assert_eq!(count("deliver"), s["totals"]["received"].as_u64().unwrap());
    // The pings of the program: their ends are the daemons' to write.
    for (event, node) in [("originate", "3"), ("deliver", "0")] {
        let pings = cells.iter().filter(|c| c[1..3] == [node, event] && !["", "0", "1"].contains(&c[4]));
        let pings = pings.filter(|c| c[10..12] == ["10.0.0.4", "10.0.0.1"]).count();
        assert!(pings >= 2, "{pings} pings at {node}: {event}");
    }
    assert_eq!(lab.table("nodes").len(), 4);
    assert_eq!(lab.table("flows").len(), 4, "the scenario's, and the ping's requests and answers");
    assert_eq!(lab.table("positions")[3].split(',').nth(2), Some("600"));
    assert!(lab.table("counters").iter().any(|l| l.starts_with("0,host,originated,")));
    assert!((0..4).all(|i| run.join(format!("captures/{i}.pcapng")).is_file()));
}

#[test]
fn ctrl_c_at_the_terminal_of_a_lab_ends_it_in_good_order() {
    use std::os::unix::process::CommandExt as _;
    skip_without_root!();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.toml"), CHAIN.replace("duration_s = 8", "duration_s = 600")).unwrap();
    let mut lab = Command::new(WAYHOP)
        .args(["lab", "s.toml", "--out", "run"])
        .current_dir(folder.path())
        .process_group(0)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(lab.stderr.take().unwrap()).lines().map_while(Result::ok);
    assert!(said.any(|l| l.starts_with("control:")));
    // As a terminal does: to all that it started.
    let group = format!("-{}", lab.id());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
    assert_eq!(lab.wait().unwrap().code(), Some(130));
    let rest: Vec<String> = said.filter(|l| !l.starts_with("simulated ")).collect();
    assert!(rest.is_empty(), "{rest:?}");
    let run = folder.path().join("run");
    assert!(fs::read_to_string(run.join("manifest.json")).unwrap().contains("\"interrupted\""));
    // The daemons told what they counted.
    let arguments = ["export", "csv", "run", "counters"];
    let counters = Command::new(WAYHOP).args(arguments).current_dir(folder.path()).output().unwrap();
    let counters = String::from_utf8_lossy(&counters.stdout);
    assert!((0..4).all(|n| counters.contains(&format!("\n{n},"))), "{counters}");
}

#[test]
fn what_a_lab_cannot_do_is_refused_with_the_remedy() {
    for (more, message) in [
        (
            "[[stalls]]\nnode = 0\nstart_s = 1\nlength_s = 2\n",
            "not supported in a lab, whose interface queues",
        ),
        (
            "[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 1\n",
            "s.toml: traffic.2.kind: a lab cannot run flows of kind tcp; remove them (or all flows: --set traffic=[])",
        ),
        ("[output]\nns2_trace = true\n", "output.ns2_trace: not supported in a lab"),
    ] {
        let (done, _folder) = run_scenario(&format!("{CHAIN}{more}"), &["lab", "s.toml", "--no-out"]);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.code() == Some(2) && said.contains(message), "{said}");
    }
}

fn lab_of(text: &str, arguments: &[&str]) -> (Output, tempfile::TempDir) {
    run_scenario(text, &[&["lab", "s.toml"], arguments].concat())
}

#[test]
fn daemons_with_two_radios_and_a_wire_reach_each_other_over_all_of_them() {
    skip_without_root!();
    // All are within range of each other, but no two neighbours of the chain have more than one radio or wire in common.
    let text = "duration_s = 60\nnodes.count = 4\nmovement = { kind = \"chain\", spacing_m = 10 }\n\
                [radio]\nname = \"wlan0\"\npreset = \"80211b\"\nchannel = 1\nnodes = [0, 1]\n\
                [[radios]]\nname = \"wlan1\"\npreset = \"80211b\"\nchannel = 6\nnodes = [1, 2]\n\
                [[wires]]\nname = \"eth0\"\nnodes = [2, 3]\n[captures]\nnodes = [1]\n";
    for protocol in ["dsr", "aodv", "dsdv"] {
        let (done, folder) = lab_of(
            text,
            &[
                "--protocol",
                protocol,
                "--out",
                "run",
                "--node",
                "0",
                "--",
                "sh",
                "-c",
                "ping -c 40 -W 1 -i 1 mesh-3 | \
               { while read -r l; do echo \"$l\"; case \"$l\" in *icmp_seq*time=*) n=$((n+1)); test $n = 2 && exit 0;; esac; done; \
               exit 1; }",
            ],
        );
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{protocol}: {} {said}", String::from_utf8_lossy(&done.stdout));
        let capture = folder.path().join("run/captures/1.pcapng");
        let capture = fs::read(capture).unwrap();
        for name in ["wlan0", "wlan1"] {
            assert!(capture.windows(5).any(|w| w == name.as_bytes()), "{protocol}: no interface {name}");
        }
    }
}

#[test]
fn daemons_use_a_wire_until_it_is_cut_and_then_the_radio() {
    skip_without_root!();
    let text = "duration_s = 26\nnodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 10 }\n\
                [radio]\nname = \"wlan0\"\n[[wires]]\nname = \"eth0\"\nnodes = [0, 1]\ncuts = [{ start_s = 9 }]\n\
                [[traffic]]\nkind = \"cbr\"\nsrc = 0\ndst = 1\nrate_pps = 10\nstart_s = 5\nstop_s = 25\n\
                [captures]\nnodes = [1]\n";
    for protocol in ["dsr", "aodv"] {
        let (done, folder) = lab_of(text, &["--protocol", protocol, "--json", "--out", "run"]);
        summary(&done);
        let run = folder.path().join("run");
        let delivered: Vec<f64> = table(&run, "packets")
            .iter()
            .filter(|r| r[2] == "deliver")
            .map(|r| r[0].parse::<f64>().unwrap() / 1e9)
            .collect();
        let between = |a: f64, b: f64| delivered.iter().filter(|t| (a..b).contains(*t)).count();
        assert!(between(5.0, 9.0) >= 10, "{protocol}: {} before the cut", between(5.0, 9.0));
        assert!(between(15.0, 25.0) >= 30, "{protocol}: {} after the cut", between(15.0, 25.0));
    }
}

/// A server that takes what comes, and a client that sends 300 kB and waits for the answer.
const TRANSFER: &str = r#"
duration_s = 60
nodes.count = 3
movement = { kind = "chain", spacing_m = 200 }
[[programs]]
node = 2
command = ["python3", "-c", """
import socket
server = socket.create_server(("", 7))
while True:
    taken, (one, _) = 0, server.accept()
    while taken < 300000:
        taken += len(one.recv(65536))
    one.sendall(b"taken")
    one.recv(1)
"""]
"#;

const CLIENT: &str = r#"
import socket, time
while True:
    try:
        one = socket.create_connection(("10.0.0.3", 7))
        break
    except OSError:
        time.sleep(0.1)
one.sendall(bytes(300000))
assert one.recv(5) == b"taken"
time.sleep(3)
"#;

#[test]
fn connections_of_programs_are_in_the_labs_each_nodes_and_the_merged_record() {
    skip_without_root!();
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path();
    fs::write(dir.join("s.toml"), TRANSFER).unwrap();
    let wayhop = |args: &[&str]| {
        let done = Command::new(WAYHOP).args(args).current_dir(dir).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    let lab = ["lab", "s.toml", "--protocol", "dsr", "--node-runs", "--quiet", "--out", "lab"];
    wayhop(&[&lab[..], &["--node", "0", "--", "python3", "-c", CLIENT]].concat());
    wayhop(&["merge", "lab/nodes/0", "lab/nodes/1", "lab/nodes/2", "--out", "merged", "--quiet"]);
    // The transfer at both ends: octets and the last state that was seen.
    let ends = |run: &str, client: u32, server: u32| {
        let (mut sent, mut received) = ((0, 0), 0);
        let mut keep = |e: wayhop_trace::ConnectionEvent| {
            let c = e.connection;
            if e.node.0 == client && c.ends.remote_port == 7 {
                sent = (c.sent - c.sent_again, c.acked);
            }
            if e.node.0 == server && c.ends.local_port == 7 {
                received = c.received;
            }
            Ok(())
        };
        let of = wayhop_trace::RunDir::open(dir.join(run), wayhop_protocols::CLASSIFIER).unwrap();
        wayhop_trace::Tables::of(&of, "dsr").connections(&mut keep).unwrap();
        (sent, received)
    };
    // The client waits before it ends, for longer than looks are apart on a busy machine: one finds all acknowledged.
    assert_eq!(ends("lab", 0, 2), ((300_000, 300_000), 300_000));
    assert_eq!(ends("lab/nodes/0", 0, 99).0, (300_000, 300_000));
    assert_eq!(ends("lab/nodes/2", 99, 0).1, 300_000);
    assert_eq!(ends("merged", 0, 2), ((300_000, 300_000), 300_000));
    // A scenario of it has the streams of the two programs.
    wayhop(&["import", "run", "merged", "--out", "back.toml"]);
    let back: toml::Table = fs::read_to_string(dir.join("back.toml")).unwrap().parse().unwrap();
    let octets =
        |f: &toml::Value| (f["kind"].as_str() == Some("tcp")).then(|| f["bytes"].as_integer().unwrap());
    let streams: Vec<i64> = back["traffic"].as_array().unwrap().iter().filter_map(octets).collect();
    assert_eq!(streams, [300_000, 5]);
}
