//! `wayhop emulate` and `wayhop exec`, with real programs in namespaces. Needs root, /dev/net/tun and Debian's
//! iputils-ping and iproute2; without root these tests say so and pass, but in CI they fail.

use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::{Ran, folder, run_in, summary_of, wayhop};

/// Whether namespaces can be had here.
pub(crate) fn is_root() -> bool {
    let uid = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let root = uid.lines().any(|l| l.starts_with("Uid:\t0\t"));
    assert!(root || std::env::var_os("CI").is_none(), "CI must run these tests as root");
    if !root {
        eprintln!("not root: emulation is not tested");
    }
    root
}

/// Ends a test here, as passed, where namespaces cannot be had.
macro_rules! skip_without_root {
    () => {
        if !crate::emulate::is_root() {
            return;
        }
    };
}
pub(crate) use skip_without_root;

/// Five nodes in a line; one flow and one ping from end to end.
pub(crate) const CHAIN: &str = r#"
duration_s = 30
nodes.count = 5
movement = { kind = "chain", spacing_m = 200 }
[[nodes.node]]
id = 4
name = "far"
[[traffic]]
kind = "cbr"
src = 0
dst = 4
rate_pps = 20
start_s = 1
[[traffic]]
kind = "ping"
src = 4
dst = 0
start_s = 1.02
interval_s = 0.5
"#;

fn emulated(dir: &std::path::Path, args: &[&str]) -> Value {
    let all = [&["emulate", "s.toml", "--no-out", "--json", "--quiet"], args].concat();
    run_in(dir, &all).json()
}

/// An emulation in the background, up.
pub(crate) fn background(dir: &std::path::Path) -> Child {
    let child = wayhop()
        .args(["emulate", "s.toml", "--no-out"])
        .current_dir(dir)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let pid = child.id().to_string();
    let until = Instant::now() + Duration::from_secs(60);
    while run_in(dir, &["exec", "--run", &pid, "0", "--", "true"]).status != Some(0) {
        assert!(Instant::now() < until, "the mesh does not come up");
        sleep(Duration::from_millis(50));
    }
    child
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args([name, &pid]).status().expect("kill").success());
}

#[test]
fn an_emulated_chain_delivers_what_the_simulated_one_does() {
    skip_without_root!();
    // What is under way at the end depends on when exactly that is: the flow ends before.
    let text = CHAIN.replace("rate_pps = 20\n", "rate_pps = 20\nstop_s = 4.5\n");
    let dir = folder(&[("s.toml", &text)]);
    for protocol in ["aodv", "dsr"] {
        let args = ["s.toml", "--protocol", protocol, "--duration", "6"];
        let sim = summary_of(dir.path(), &[&args[..], &["--no-out"]].concat());
        let emu = emulated(dir.path(), &args[1..]);
        assert_eq!((emu["world"].as_str(), sim["world"].as_str()), (Some("emulation"), Some("sim")));
        for (s, e) in sim["flows"].as_array().unwrap().iter().zip(emu["flows"].as_array().unwrap()) {
            let n = |v: &Value, key: &str| v[key].as_f64().expect("a number");
            // A machine under load may be late by a packet or two.
            assert!((n(s, "sent") - n(e, "sent")).abs() <= 2.0, "{protocol}: {s} {e}");
            assert!((n(s, "received") - n(e, "received")).abs() <= 4.0, "{protocol}: {s} {e}");
            assert_eq!(n(s, "hops_mean"), n(e, "hops_mean"), "{protocol}");
        }
        // Nothing happens after the flow, and the run's time goes on.
        let until = emu["simulated_s"].as_f64().expect("seconds");
        assert!((5.9..=6.0).contains(&until), "{protocol}: {until} s of 6");
        assert!(["ok", "degraded"].contains(&emu["lateness_us"]["verdict"].as_str().unwrap()), "{emu}");
        // Answers to flows come from the kernels, and are the flows' own: no program sent anything.
        assert_eq!((&emu["programs"]["sent"], &sim["programs"]), (&Value::from(0), &Value::Null), "{emu}");
    }
}

#[test]
fn an_emulated_connection_carries_what_the_simulated_one_does_and_leaves_its_table() {
    skip_without_root!();
    let nodes = CHAIN.split("[[traffic]]").next().unwrap().replace("nodes.count = 5", "nodes.count = 3");
    let tcp = "[[traffic]]\nkind = \"tcp\"\nsrc = 0\ndst = 2\nstart_s = 1\n";
    // A name would stand for a node that there is not.
    let text = nodes.split("[[nodes.node]]").next().unwrap().to_owned() + tcp;
    let dir = folder(&[("s.toml", &text)]);
    let carried = |world: &str| {
        let args =
            [world, "s.toml", "--protocol", "aodv", "--duration", "5", "--out", world, "--json", "--quiet"];
        let summary = run_in(dir.path(), &args).json();
        let rows = run_in(dir.path(), &["export", "csv", world, "tcp"]).ok().lines().count();
        (summary["flows"][0]["tcp"]["delivered_bytes"].as_f64().expect("octets"), rows)
    };
    let ((sim, sim_rows), (emu, emu_rows)) = (carried("run"), carried("emulate"));
    // A machine under load is late with some segments.
    assert!(sim > 200e3 && (emu / sim - 1.0).abs() < 0.1, "{sim} and {emu} octets");
    assert!(
        sim_rows > 100 && (emu_rows as f64 / sim_rows as f64 - 1.0).abs() < 0.2,
        "{sim_rows}, {emu_rows}"
    );
}

#[test]
fn a_command_runs_in_its_node_and_the_run_ends_with_its_status() {
    skip_without_root!();
    let dir = folder(&[("s.toml", CHAIN)]);
    let emulate = |node: &str, command: &[&str]| {
        let head = ["emulate", "s.toml", "--no-out", "--quiet", "--protocol", "aodv", "--node", node, "--"];
        run_in(dir.path(), &[&head, command].concat())
    };
    // Over four hops: each node on the way takes one from 64, the last not.
    // With a deadline, ping goes on until it has had two answers; more may have been under way.
    let ping = emulate("far", &["ping", "-c", "2", "-i", "0.2", "-w", "25", "mesh-0"]).ok();
    assert!(ping.matches(" ttl=61 ").count() >= 2, "{ping}");
    assert_eq!(emulate("mesh-1", &["sh", "-c", "exit 7"]).status, Some(7));
    assert_eq!(emulate("1", &["sh", "-c", "kill -9 $$"]).status, Some(137));
    let missing = emulate("1", &["no-such-program"]);
    assert_eq!(missing.status, Some(127));
    assert!(
        missing.err.contains("node 1: cannot start no-such-program: No such file or directory"),
        "{}",
        missing.err
    );
    let nobody = emulate("9", &["true"]).failure(2);
    assert!(nobody.contains("--node 9: no such node; give a number from 0 to 4"), "{nobody}");
}

#[test]
fn a_program_whose_packet_finds_no_route_hears_so() {
    skip_without_root!();
    let apart =
        CHAIN.replace("spacing_m = 200", "spacing_m = 5000").split("[[traffic]]").next().unwrap().to_owned();
    let short = apart + "[protocol]\nname = \"aodv\"\nrreq_retries = 0\n";
    let dir = folder(&[("s.toml", &short)]);
    // Rings of 1, 3, 5, 7 hops and one request to all: 0.24 + 0.4 + 0.56 + 0.72 + 2.8 s.
    let ping = [
        "emulate", "s.toml", "--no-out", "--quiet", "--node", "0", "--", "ping", "-c", "1", "-W", "40",
        "mesh-1",
    ];
    let ran = run_in(dir.path(), &ping);
    assert_eq!(ran.status, Some(1), "{}", ran.err);
    assert!(ran.out.contains("Destination Host Unreachable"), "{}", ran.out);
}

#[test]
fn programs_of_a_scenario_run_in_their_nodes_and_leave_their_output() {
    skip_without_root!();
    let programs = r#"
[[programs]]
node = 0
start_s = 0.5
command = ["ping", "-c", "2", "-i", "0.2", "-w", "25", "far"]
output = "ping.txt"
[[programs]]
node = "far"
command = ["sh", "-c", "hostname -I; cat /etc/hosts; sleep 60"]
"#;
    let dir = folder(&[("s.toml", &(CHAIN.split("[[traffic]]").next().unwrap().to_owned() + programs))]);
    let begun = Instant::now();
    let ran =
        run_in(dir.path(), &["emulate", "s.toml", "--duration", "8", "--protocol", "aodv", "--out", "run"]);
    assert!(begun.elapsed() < Duration::from_secs(50), "the sleeping program was ended");
    ran.ok();
    let read =
        |name: &str| std::fs::read_to_string(dir.path().join("run/programs").join(name)).expect("an output");
    assert!(read("ping.txt").contains("2 received"), "{}", read("ping.txt"));
    assert!(read("1-far.txt").contains("10.0.0.5 mesh-4 far"), "{}", read("1-far.txt"));
    // Without --out an emulation takes no simulation's place; and its output has a file name whatever the node is called.
    let odd = CHAIN.split("[[traffic]]").next().unwrap().replace("far", "far: the end");
    let odd = odd + "[[programs]]\nnode = 4\ncommand = [\"echo\", \"here\"]\n";
    std::fs::write(dir.path().join("s.toml"), odd).expect("written");
    run_in(dir.path(), &["run", "s.toml", "--duration", "1", "--quiet"]).ok();
    run_in(dir.path(), &["emulate", "s.toml", "--duration", "1", "--quiet"]).ok();
    assert!(dir.path().join("runs/s-dsr-1/summary.json").is_file());
    let output = dir.path().join("runs/s-dsr-1-emulation/programs/0-far__the_end.txt");
    assert_eq!(std::fs::read_to_string(&output).expect("an output"), "here\n");
}

#[test]
fn other_processes_enter_a_node_and_a_killed_run_leaves_nothing() {
    skip_without_root!();
    let dir = folder(&[("s.toml", CHAIN)]);
    let mut child = background(dir.path());
    let pid = child.id().to_string();
    let exec = |args: &[&str]| run_in(dir.path(), &[&["exec", "--run", &pid], args].concat());
    let links = exec(&["far", "--", "ip", "-o", "-4", "addr"]).ok();
    assert!(links.contains("mesh0    inet 10.0.0.5/24"), "{links}");
    assert_eq!(exec(&["0", "--", "sh", "-c", "exit 3"]).status, Some(3));
    assert!(exec(&["9", "--", "true"]).failure(2).contains("no such node"));
    assert_eq!(exec(&["0", "--", "no-such-program"]).status, Some(127));
    let before = std::process::Command::new("ip").args(["-o", "link"]).output().expect("ip").stdout;
    signal(&child, "-KILL");
    child.wait().expect("it ended");
    let after = std::process::Command::new("ip").args(["-o", "link"]).output().expect("ip").stdout;
    assert_eq!(before, after, "no interface of the host comes or goes");
    assert!(exec(&["0", "--", "true"]).failure(2).contains("no"), "nobody is there any more");
    // The next run clears the files of the killed one away.
    let next = background(dir.path());
    signal(&next, "-TERM");
    let ended: Ran = Ran::of(&next.wait_with_output().expect("it ended"));
    assert_eq!(ended.status, Some(130));
    for folder in ["/run/wayhop".into(), std::env::var("XDG_RUNTIME_DIR").unwrap_or_default() + "/wayhop"] {
        assert!(!std::path::Path::new(&folder).join(format!("emulate-{pid}.json")).exists());
    }
}

/// Asks a running emulation; the answer.
pub(crate) fn ask(socket: &std::path::Path, request: &str) -> Value {
    use std::io::{BufRead as _, BufReader, Write as _};
    let mut stream = std::os::unix::net::UnixStream::connect(socket).expect("a control socket");
    writeln!(stream, "{{\"wayhop\": 1, {request}}}").expect("it listens");
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).expect("an answer");
    let answer: Value = serde_json::from_str(&line).expect("one JSON object");
    assert!(answer.get("error").is_none(), "{request}: {answer}");
    answer["ok"].clone()
}

#[test]
fn links_and_places_are_changed_while_programs_run_and_gps_clients_see_it() {
    skip_without_root!();
    let name = format!("t{}", std::process::id());
    let text = CHAIN.split("[[traffic]]").next().unwrap().replace("duration_s = 30", "duration_s = 300");
    let dir = folder(&[(
        "s.toml",
        &format!(
            "name = \"{name}\"\norigin = {{ lat = 40.0, lon = -80.0 }}\nprotocol.name = \"aodv\"\n{text}"
        ),
    )]);
    let child = background(dir.path());
    let pid = child.id().to_string();
    let socket = std::path::PathBuf::from(format!("/run/wayhop/{name}.sock"));
    let exec = |args: &[&str]| run_in(dir.path(), &[&["exec", "--run", &pid, "0", "--"], args].concat());
    let ping = ["ping", "-c", "1", "-w", "40", "mesh-4"];
    assert!(exec(&ping).ok().contains("ttl=61"), "four hops");
    // Both ends hear each other: after a purge one hop is enough.
    ask(&socket, r#""do": "set-link", "a": 0, "b": "far", "state": "up""#);
    ask(&socket, r#""do": "purge-routes""#);
    assert!(exec(&ping).ok().contains("ttl=64"));
    ask(&socket, r#""do": "set-link", "a": 0, "b": "far", "state": "model""#);
    assert_eq!(ask(&socket, r#""do": "links""#)["links"], serde_json::json!([]));
    // Node 4 moves beside node 2: two hops.
    ask(&socket, r#""do": "set-position", "node": 4, "place": {"x": 400, "y": 50}"#);
    ask(&socket, r#""do": "purge-routes""#);
    assert!(exec(&ping).ok().contains("ttl=63"));
    let table = ask(&socket, r#""do": "tables", "node": 0, "tables": ["forwarding"]"#);
    assert_eq!(table["nodes"][0]["tables"]["forwarding"].as_array().map(Vec::len), Some(2), "{table}");
    // 0.0045 degrees of latitude are 500 m.
    ask(
        &socket,
        r#""do": "set-position", "node": 4, "place": {"latitude_deg": 40.0045, "longitude_deg": -80.0}"#,
    );
    let gps = run_in(dir.path(), &["exec", "--run", &pid, "far", "--", "gpspipe", "-w", "-n", "6"]).ok();
    let tpv: Value = gps
        .lines()
        .filter_map(|l| serde_json::from_str::<Value>(l).ok())
        .rfind(|v| v["class"] == "TPV")
        .expect("a report");
    assert!((tpv["lat"].as_f64().unwrap() - 40.0045).abs() < 1e-6, "{tpv}");
    ask(&socket, r#""do": "quit""#);
    assert_eq!(child.wait_with_output().expect("it ended").status.code(), Some(0));
    assert!(!socket.exists());
}

#[test]
fn a_program_that_fails_is_in_the_summary_the_manifest_and_the_exit_status() {
    skip_without_root!();
    let programs = "[[programs]]\nnode = 0\ncommand = [\"no-such-program\"]\n\
        [[programs]]\nnode = 1\ncommand = [\"sh\", \"-c\", \"exit 3\"]\n\
        [[programs]]\nnode = 2\ncommand = [\"true\"]\n[[programs]]\nnode = 2\ncommand = [\"sleep\", \"60\"]\n";
    let dir = folder(&[("s.toml", &(CHAIN.split("[[traffic]]").next().unwrap().to_owned() + programs))]);
    for world in ["emulate", "lab"] {
        let ran = run_in(dir.path(), &[world, "s.toml", "--duration", "4", "--json", "--out", world]);
        assert_eq!(ran.status, Some(1), "{}", ran.err);
        let summary: Value = serde_json::from_str(&ran.out).expect("JSON");
        let mut exits: Vec<(u64, Option<i64>)> = summary["program_exits"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|e| (e["node"].as_u64().expect("a node"), e["exit"].as_i64()))
            .collect();
        exits.sort_unstable();
        assert_eq!(
            exits,
            [(0, None), (1, Some(3)), (2, Some(0))],
            "what the run's end ended did not fail: {summary}"
        );
        let m = crate::manifest(&dir.path().join(world));
        let error = m["error"].as_str().expect("an error");
        assert!(
            error.contains("node 1: sh exited with status 3") && error.contains("no-such-program: "),
            "{m}"
        );
        assert_eq!(m["status"], "complete", "the run came to its end");
    }
    let head = ["emulate", "s.toml", "--no-out", "--quiet", "--node", "0", "--"];
    assert_eq!(run_in(dir.path(), &[&head[..], &["sh", "-c", "sleep 1; exit 7"]].concat()).status, Some(7));
    assert_eq!(run_in(dir.path(), &[&head[..], &["sleep", "1"]].concat()).status, Some(1));
}

#[test]
fn programs_reach_each_other_over_radios_on_two_channels_and_a_wire() {
    skip_without_root!();
    let text = "duration_s = 60\nnodes.count = 4\nmovement = { kind = \"chain\", spacing_m = 200 }\n\
                [radio]\nname = \"wlan0\"\npreset = \"80211b\"\nchannel = 1\nnodes = [0, 1]\n\
                [[radios]]\nname = \"wlan1\"\npreset = \"80211b\"\nchannel = 6\nnodes = [1, 2]\n\
                [[wires]]\nname = \"eth0\"\nnodes = [2, 3]\n[captures]\nnodes = [1]\n";
    let dir = folder(&[("s.toml", text)]);
    for protocol in ["dsr", "aodv"] {
        let command = ["ping", "-c", "2", "-i", "0.2", "-w", "25", "mesh-3"];
        let head =
            ["emulate", "s.toml", "--out", protocol, "--quiet", "--protocol", protocol, "--node", "0", "--"];
        let ping = run_in(dir.path(), &[&head[..], &command].concat()).ok();
        // Over three hops; DSR's nodes on the way are none to IP's time to live.
        assert!(ping.matches(" bytes from ").count() >= 2, "{protocol}: {ping}");
        let packets = run_in(dir.path(), &["export", "csv", protocol, "packets"]).ok();
        let sent_by = |node: &str, interface: &str| {
            let row = |l: &&str| {
                let cells: Vec<&str> = l.split(',').collect();
                // The last is the node's name.
                cells[1..3] == [node, "transmit"] && cells[cells.len() - 2] == interface
            };
            packets.lines().filter(row).count()
        };
        assert!(sent_by("1", "0") > 0 && sent_by("1", "1") > 0, "{protocol}: the relay sends on both radios");
        assert!(sent_by("2", "1") > 0 && sent_by("3", "0") > 0, "{protocol}: the wire is used");
        let none = run_in(dir.path(), &["export", "csv", protocol, "nodes"]).ok();
        assert!(none.contains("\n1,1,10.0.0.2,\"wlan0,wlan1\",\n"), "{none}");
    }
}
