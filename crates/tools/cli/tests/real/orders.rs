//! `wayhop ctl down` and `up`, where interfaces, routes and programs are real.
//!
//! Needs root, network namespaces, and ip, nft, ping and tshark. Without root the tests are skipped with a message; in CI they
//! fail.

use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::mesh::{Mesh, WAYHOP, skip_without_root};

const PATIENCE: Duration = Duration::from_secs(30);

/// `wayhop ctl` at a node's socket: whether it succeeded, and what it said.
fn ctl(mesh: &Mesh, name: &str, arguments: &[&str]) -> (bool, String) {
    let socket = mesh.socket(name).display().to_string();
    let done = Command::new(WAYHOP).args(["ctl", "--socket", &socket]).args(arguments).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    (done.status.success(), said.into_owned())
}

fn is_up(mesh: &Mesh, name: &str) -> bool {
    let about: Value = serde_json::from_str(&ctl(mesh, name, &["hello", "--json"]).1).unwrap();
    about["nodes"][0]["up"].as_bool().unwrap()
}

/// How many routes the kernel of a host has by its mesh interface.
fn routes(mesh: &Mesh, i: usize) -> usize {
    mesh.ip(i, "-4 route show dev eth1").lines().filter(|l| l.starts_with("10.0.0.")).count()
}

#[test]
fn a_relay_that_is_ordered_down_is_off_the_air_and_comes_back() {
    skip_without_root!();
    for (protocol, tables) in [("aodv", "kept"), ("aodv", "lost"), ("dsr", "kept"), ("dsr", "lost")] {
        let case = format!("{protocol} {tables}");
        let mut mesh = Mesh::line(3);
        let name = format!("wht-order-{protocol}-{tables}-{}", std::process::id());
        let log = mesh.folder().join("files/relay.jsonl").display().to_string();
        // The wait of 50 s after a reboot is another test's.
        let sets = [format!("control={name}"), format!("inputs.file={log}")];
        let mut sets: Vec<&str> = sets.iter().map(String::as_str).collect();
        if protocol == "aodv" {
            sets.push("protocol.wait_after_reboot=false");
        }
        mesh.start(0, protocol, &[]);
        mesh.start(1, protocol, &sets);
        mesh.start(2, protocol, &[]);
        mesh.until("they reach each other", PATIENCE, |m| m.try_ping(0, 2));
        assert!(is_up(&mesh, &name) && (protocol == "dsr" || routes(&mesh, 1) == 2), "{case}");

        let (ok, said) = ctl(&mesh, &name, &["links"]);
        assert!(
            !ok && said.contains("`wayhop ctl neighbours` shows this node's neighbours"),
            "{case}: {said}"
        );
        assert!(ctl(&mesh, &name, &["neighbours"]).1.contains("10.0.0.3"), "{case}");
        let order: &[&str] = if tables == "lost" { &["down", "--lose-tables"] } else { &["down"] };
        assert_eq!(ctl(&mesh, &name, order), (true, String::new()), "{case}");
        assert!(!is_up(&mesh, &name), "{case}");
        assert_eq!(routes(&mesh, 1), 0, "{case}: the kernel forwards nothing");
        assert!(!mesh.ip(1, "-4 address show").contains("inet 10.0.0.2/32"), "{case}");
        let (ok, said) = mesh.run(1, "ping -c 1 -W 1 10.0.0.1");
        assert!(!ok, "{case}: its programs find no network: {said}");
        assert!(!mesh.try_ping(0, 2), "{case}");
        let (ok, said) = ctl(&mesh, &name, &["down"]);
        assert!(!ok && said.contains("already down"), "{case}: {said}");

        assert_eq!(ctl(&mesh, &name, &["up"]), (true, String::new()), "{case}");
        assert!(is_up(&mesh, &name), "{case}");
        mesh.until("they reach each other again", PATIENCE, |m| m.try_ping(0, 2));
        mesh.ping(1, 0, 2);
        assert_eq!(ctl(&mesh, &name, &["down", "--for", "300ms"]), (true, String::new()), "{case}");
        mesh.until("it comes back by itself", PATIENCE, |m| is_up(m, &name));
        mesh.stop_all();

        let done = Command::new(WAYHOP).args(["replay", "--json", &log]).output().unwrap();
        let replayed: Value = serde_json::from_slice(&done.stdout).unwrap();
        assert_eq!(
            (&replayed["verdict"], &replayed["end"]),
            (&"same".into(), &"whole".into()),
            "{case}: {replayed}"
        );
    }
}

#[test]
fn a_node_that_is_down_sends_no_frame_and_leaves_its_host_as_it_was() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    let before = mesh.host_state(0);
    let name = format!("wht-silent-{}", std::process::id());
    mesh.start(0, "aodv", &[&format!("control={name}"), "protocol.hello=always"]);
    mesh.start(1, "aodv", &["protocol.hello=always"]);
    mesh.until("they reach each other", PATIENCE, |m| m.try_ping(0, 1));
    assert!(ctl(&mesh, &name, &["down"]).0);
    let down_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    // Its neighbour says Hello every second meanwhile.
    let times = |m: &Mesh, mac: &str| -> Vec<f64> {
        let times = m.capture_fields(1, &format!("eth.src == {mac}"), "frame.time_epoch");
        times.iter().map(|t| t.parse().unwrap()).collect()
    };
    let heard = mesh.frames_so_far(1);
    mesh.until("the neighbour goes on", PATIENCE, |m| m.frames_so_far(1) >= heard + 12);
    mesh.stop(0);
    assert_eq!(mesh.host_state(0), before);
    mesh.stop(1);
    let (own, other) = (times(&mesh, "02:00:0a:00:00:01"), times(&mesh, "02:00:0a:00:00:02"));
    assert!(!own.is_empty() && own.iter().all(|t| *t <= down_s), "down at {down_s}: {own:?}");
    assert!(other.iter().filter(|t| **t > down_s).count() >= 3, "down at {down_s}: {other:?}");
}

#[test]
fn a_host_carries_out_the_outages_of_its_node_in_the_scenario() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    mesh.open_folder();
    let scenario = mesh.folder().join("pair.toml").display().to_string();
    let text = "duration_s = 60\nnodes.count = 2\nmovement = { kind = \"chain\", spacing_m = 200 }\n\
        protocol = { name = \"dsr\" }\n[[outages]]\nnode = 1\nstart_s = 3\nlength_s = 2\ntables = \"lost\"\n";
    std::fs::write(&scenario, text).unwrap();
    let out = |i: usize| mesh.folder().join(format!("files/run{i}")).display().to_string();
    let outs = [out(0), out(1)];
    for (i, out) in outs.iter().enumerate() {
        let node = format!("mesh-{i}");
        mesh.start_with(i, &["node", &scenario, "--as", &node, "--interface", "eth1", "--out", out]);
    }
    mesh.until("it is back", PATIENCE, |m| m.said(1).contains("the node is back"));
    mesh.until("they reach each other", PATIENCE, |m| m.try_ping(0, 1));
    mesh.stop_all();
    let summary = |out: &str| -> Value {
        serde_json::from_slice(&std::fs::read(format!("{out}/summary.json")).unwrap()).unwrap()
    };
    assert_eq!(summary(&outs[0])["outages"].as_array().map_or(0, Vec::len), 0);
    let outages = &summary(&outs[1])["outages"];
    assert_eq!(outages[0]["outages"], 1, "{outages}");
    assert!((outages[0]["down_s"].as_f64().unwrap() - 2.0).abs() < 1.0, "{outages}");
}

/// A relay's outage from 12 s to 13 s.
const OUTAGE: &str = "duration_s = 24\nnodes.count = 3\nmovement = { kind = \"chain\", spacing_m = 200 }\n\
                        outages = [{ node = 1, start_s = 12, length_s = 1, tables = \"kept\" }]\n";

#[test]
fn an_outage_of_a_node_that_is_down_by_order_is_left_out_in_emulation_and_lab() {
    skip_without_root!();
    let in_world = |world: &str| {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("s.toml"), OUTAGE).unwrap();
        let of = |arguments: &[&str]| {
            let mut command = Command::new(WAYHOP);
            command.args(arguments).current_dir(dir.path()).env("WAYHOP_RUNTIME_DIR", dir.path().join("run"));
            command
        };
        let mut run = of(&[world, "s.toml", "--json", "--quiet", "--no-out"]);
        let run = run.stdout(std::process::Stdio::piped()).spawn().unwrap();
        let ctl = |arguments: &[&str]| {
            let done = of(&[&["ctl", "--wait", "--run", "s"], arguments].concat()).output().unwrap();
            assert!(
                done.status.success(),
                "{world} {arguments:?}: {}",
                String::from_utf8_lossy(&done.stderr)
            );
            done.stdout
        };
        let is_up = || {
            let hello: Value = serde_json::from_slice(&ctl(&["--json", "hello"])).unwrap();
            hello["nodes"][1]["up"].as_bool().unwrap()
        };
        // The run's clock may start seconds after its control socket answers.
        let time_s = || {
            let counters: Value =
                serde_json::from_slice(&ctl(&["--json", "--node", "0", "counters"])).unwrap();
            counters["time_s"].as_f64().unwrap()
        };
        let order = |what: &str| {
            let before = time_s();
            ctl(&["--node", "1", what]);
            (before, time_s())
        };
        assert!(is_up(), "{world}");
        let down = order("down");
        assert!(down.1 < 12.0, "{world}: the order is in time, at {down:?} s");
        while time_s() < 14.0 {
            std::thread::sleep(Duration::from_millis(200));
        }
        assert!(!is_up(), "{world}: the scenario's outage is over, the order is not");
        let up = order("up");
        assert!(is_up(), "{world}");
        let summary: Value = serde_json::from_slice(&run.wait_with_output().unwrap().stdout).unwrap();
        let outages = &summary["outages"];
        assert_eq!(
            (&outages[0]["node"], &outages[0]["outages"]),
            (&1.into(), &1.into()),
            "{world}: {outages}"
        );
        let down_s = outages[0]["down_s"].as_f64().unwrap();
        // A busy machine carries an order out late.
        let likely = up.0 - down.1 - 2.0..up.1 - down.0 + 2.0;
        assert!(likely.contains(&down_s), "{world}: {down_s} s, {likely:?}");
    };
    std::thread::scope(|s| {
        let both = ["emulate", "lab"].map(|world| s.spawn(move || in_world(world)));
        for thread in both {
            thread.join().unwrap();
        }
    });
}
