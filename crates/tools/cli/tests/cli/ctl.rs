//! `wayhop ctl` against a server with a small mesh.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use wayhop_control::{About, Access, ControlError, ErrorCode, Event, EventKind, NodeAbout, Request, Server};

use crate::emulate::skip_without_root;
use crate::schemas::{check, undefined_as_text};
use crate::{Ran, wayhop};

/// A server with two nodes, left and right, that answers from fixed tables and writes orders down.
struct Mesh {
    folder: TempDir,
    socket: PathBuf,
    server: Arc<Server>,
    orders: Arc<Mutex<Vec<Value>>>,
    owner: Option<JoinHandle<()>>,
}

impl Mesh {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let socket = folder.path().join("chain.sock");
        let node = |node, name: &str| NodeAbout::new(node, name, Ipv4Addr::new(10, 0, 0, node as u8 + 1));
        let about = About::new("chain", "emulation", "aodv", vec![node(0, "left"), node(1, "right")]);
        let server = Arc::new(Server::bind(&socket, about, Access::Owner).expect("a socket"));
        let orders = Arc::new(Mutex::new(Vec::new()));
        let owner = std::thread::spawn({
            let (server, orders) = (Arc::clone(&server), Arc::clone(&orders));
            move || own(&server, &orders)
        });
        Self { folder, socket, server, orders, owner: Some(owner) }
    }

    fn ctl(&self, args: &[&str]) -> Ran {
        let run = wayhop().arg("ctl").arg("--socket").arg(&self.socket).args(args).output();
        Ran::of(&run.expect("the program runs"))
    }

    fn ctl_json(&self, args: &[&str]) -> Value {
        let out = self.ctl(&[args, &["--json"]].concat()).ok();
        assert_eq!(out.lines().count(), 1, "one object, one line");
        serde_json::from_str(&out).expect("JSON")
    }

    fn orders(&self) -> Vec<Value> {
        std::mem::take(&mut *self.orders.lock().expect("no panic there"))
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        if let Some(owner) = self.owner.take()
            && !owner.is_finished()
        {
            self.ctl(&["quit"]);
            let _ = owner.join();
        }
    }
}

/// Answers calls until it is told to quit.
fn own(server: &Server, orders: &Mutex<Vec<Value>>) {
    loop {
        let Some(call) = server.next() else {
            std::thread::sleep(std::time::Duration::from_millis(1));
            continue;
        };
        let names = ["left", "right"];
        let nodes = |f: &dyn Fn(u32) -> Value| {
            let all: Vec<Value> = (0..2)
                .filter(|n| call.node.is_none_or(|one| one == *n))
                .map(|n| {
                    let mut v = f(n);
                    v["node"] = n.into();
                    v["name"] = names[n as usize].into();
                    v
                })
                .collect();
            json!({"time_s": 12.5, "nodes": all})
        };
        let answer = match &call.request {
            Request::Tables { tables } => {
                let route =
                    json!({"destination": "10.0.0.2", "hops": 1, "next_hop": "10.0.0.2", "state": "valid"});
                let all = BTreeMap::from([
                    ("routes", json!([route])),
                    ("neighbours", json!([{"address": "10.0.0.2"}])),
                ]);
                let wanted: BTreeMap<_, _> = all
                    .into_iter()
                    .filter(|(name, _)| tables.is_empty() || tables.iter().any(|t| t == name))
                    .collect();
                Ok(nodes(&|_| json!({"tables": wanted, "held": {"buffer": 2}, "rows_left_out": 0})))
            }
            Request::Counters {} => Ok(nodes(&|n| json!({"counters": {"forwarded": n + 5}}))),
            Request::Parameters {} => Ok(nodes(&|_| json!({"parameters": {"hello": "off", "ttl_start": 5}}))),
            Request::SetParameters { values } if values.contains_key("own_number") => {
                Err(ControlError::new(ErrorCode::Refused, "own_number cannot change", "restart"))
            }
            Request::SetParameters { values } => {
                orders.lock().expect("no panic").push(json!(values));
                Ok(nodes(
                    &|_| json!({"parameters": {"hello": values.get("hello"), "ttl_start": values.get("ttl_start")}}),
                ))
            }
            Request::Position {} => {
                Ok(nodes(&|_| json!({"local": {"x": 1.5, "y": 2.0, "z": 0.0}, "overridden": false})))
            }
            Request::Links {} => Ok(json!({"links": [{"from": 0, "to": 1, "state": {"loss": 0.5}}]})),
            Request::Quit {} => {
                call.answer(Ok(Value::Null));
                return;
            }
            other => {
                orders.lock().expect("no panic").push(json!({"request": other, "node": call.node}));
                Ok(Value::Null)
            }
        };
        call.answer(answer);
    }
}

#[test]
fn tables_are_shown_to_people_and_given_to_programs() {
    let mesh = Mesh::new();
    let text = mesh.ctl(&["--node", "left", "routes"]).ok();
    assert_eq!(
        text,
        "node 0 left\n routes\n  destination  state  next_hop  hops\n  10.0.0.2     valid  10.0.0.2  1\n"
    );
    let json = mesh.ctl_json(&["routes"]);
    assert_eq!(json["nodes"][1]["tables"]["routes"][0]["next_hop"], "10.0.0.2");
    assert_eq!(
        json["nodes"][0]["tables"].as_object().expect("an object").len(),
        1,
        "only routes were asked for"
    );
    let queues = mesh.ctl(&["--node", "10.0.0.2", "queues"]).ok();
    assert!(queues.contains("packets held") && queues.contains("buffer  2"), "{queues}");
    assert_eq!(mesh.ctl(&["counters"]).ok(), "  name       left  right\n  forwarded  5     6\n");
}

#[test]
fn answers_keep_to_their_schemas() {
    let mesh = Mesh::new();
    let ctl = |args: &[&str]| mesh.ctl(&[args, &["--json"]].concat()).ok();
    check("ctl-hello", &ctl(&["hello"]));
    for tables in ["tables", "routes", "neighbours", "cache", "queues"] {
        check("ctl-tables", &ctl(&[tables]));
    }
    check("ctl-counters", &ctl(&["counters"]));
    check("ctl-params", &ctl(&["params"]));
    check("ctl-params", &ctl(&["params", "ttl_start=7", "hello=always"]));
    check("ctl-position", &ctl(&["position"]));
    check("ctl-links", &ctl(&["links"]));
    check("ctl-order", &ctl(&["purge"]));
}

#[test]
fn parameters_are_shown_and_changed_and_a_refusal_exits_with_2() {
    let mesh = Mesh::new();
    let one = mesh.ctl(&["--node", "0", "params", "ttl_start"]).ok();
    assert_eq!(one, "node 0 left\n  name       value\n  ttl_start  5\n");
    mesh.ctl(&["params", "ttl_start=7", "hello=always"]).ok();
    assert_eq!(mesh.orders(), [json!({"ttl_start": 7, "hello": "always"})]);
    let unknown = mesh.ctl(&["params", "ttl_stat"]).failure(2);
    assert!(unknown.contains("no parameter ttl_stat"), "{unknown}");
    let refused = mesh.ctl(&["params", "own_number=even"]).failure(2);
    assert_eq!(refused, "wayhop: own_number cannot change; restart\n");
}

#[test]
fn orders_arrive_as_they_were_given() {
    let mesh = Mesh::new();
    for args in [
        &["purge"] as &[&str],
        &["--node", "1", "purge", "left"],
        &["purge", "192.168.7.1"],
        &["--node", "right", "position", "40.44,-79.94", "--heading", "90"],
        &["--node", "right", "position", "10m,20m"],
        &["--node", "right", "position", "--release"],
        &["link", "left", "1", "loss=0.5", "--one-way"],
    ] {
        assert_eq!(mesh.ctl(args).ok(), "", "{args:?}");
    }
    let request = |node: Option<u32>, request: Value| json!({"request": request, "node": node});
    assert_eq!(
        mesh.orders(),
        [
            request(None, json!({"do": "purge-routes"})),
            request(Some(1), json!({"do": "purge-routes", "destination": "10.0.0.1"})),
            request(None, json!({"do": "purge-routes", "destination": "192.168.7.1"})),
            request(
                Some(1),
                json!({"do": "set-position", "place": {"latitude_deg": 40.44, "longitude_deg": -79.94,
                    "heading_deg": 90.0, "speed_m_per_s": 0.0}})
            ),
            request(Some(1), json!({"do": "set-position", "place": {"x": 10.0, "y": 20.0, "z": 0.0}})),
            request(Some(1), json!({"do": "release-position"})),
            request(
                None,
                json!({"do": "set-link", "a": "left", "b": 1, "one_way": true, "state": {"loss": 0.5}})
            ),
        ]
    );
}

#[test]
fn watching_prints_events_until_the_run_ends() {
    let mesh = Mesh::new();
    let mut watch = wayhop()
        .args(["ctl", "watch", "drop", "--json", "--socket"])
        .arg(&mesh.socket)
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    while !mesh.server.wants(EventKind::Drop) {
        std::thread::yield_now();
    }
    let drop = Event::Drop {
        time_s: 1.0,
        node: 1,
        reason: "TTL_EXPIRED".to_owned(),
        source: None,
        destination: None,
        bytes: 84,
    };
    mesh.server.publish(&drop);
    let mut lines = BufReader::new(watch.stdout.take().expect("piped")).lines();
    let line = lines.next().expect("a line").expect("text");
    check("ctl-watch", &line);
    assert_eq!(serde_json::from_str::<Event>(&line).expect("an event"), drop);
    std::mem::drop(lines);
    std::mem::drop(mesh);
    assert!(watch.wait().expect("it ends").success());
}

#[test]
fn a_run_is_found_by_its_name_or_because_it_is_the_only_one() {
    let mesh = Mesh::new();
    let ctl = |args: &[&str]| {
        let run = wayhop().arg("ctl").args(args).env("WAYHOP_RUNTIME_DIR", mesh.folder.path()).output();
        Ran::of(&run.expect("the program runs"))
    };
    assert!(ctl(&["hello"]).ok().starts_with("chain (emulation), aodv, wayhop"));
    assert!(ctl(&["--run", "chain", "hello"]).ok().contains("10.0.0.2"));
    check("ctl-list", &ctl(&["list", "--json"]).ok());
    let list = ctl(&["list"]).ok();
    assert!(list.contains("chain") && list.contains("emulation"), "{list}");
    let other = mesh.folder.path().join("other.sock");
    let nodes = vec![NodeAbout::new(7, "roof", Ipv4Addr::new(10, 0, 0, 8))];
    let about = About::new("other", "field", "dsr", nodes);
    let second = Server::bind(&other, about, Access::Owner).expect("a socket");
    let both = "choose one with --run NAME, or by its node with --node: chain (emulation, aodv, nodes left, right), \
                other (field, dsr, nodes roof)\n";
    assert_eq!(ctl(&["hello"]).failure(2), format!("wayhop: several runs answer: {both}"));
    assert_eq!(
        ctl(&["--node", "attic", "hello"]).failure(2),
        format!("wayhop: no run has this node: {both}")
    );
    assert!(ctl(&["--node", "left", "routes"]).ok().starts_with("node 0 left"), "one run has it");
    drop(second);
    // What a killed process leaves.
    drop(std::os::unix::net::UnixListener::bind(mesh.folder.path().join("dead.sock")).expect("a socket"));
    check("ctl-list", &ctl(&["list", "--json"]).ok());
    let list = ctl(&["list"]).ok();
    let columns = list.lines().next().expect("a line").split_whitespace().collect::<Vec<_>>();
    assert_eq!(columns, ["run", "world", "protocol", "nodes", "down", "pid", "socket", "trouble"], "{list}");
    assert!(list.contains("no answer: left by a killed process"), "{list}");
    let absent = ctl(&["--run", "other", "hello"]).failure(2);
    assert!(absent.contains("no answer at") && absent.contains("wayhop ctl list"), "{absent}");
}

#[test]
fn a_run_of_the_machine_is_not_taken_for_one_of_the_folder_that_the_variable_names() {
    skip_without_root!();
    let name = format!("elsewhere-{}", std::process::id());
    let socket = wayhop_control::paths::socket(&name).expect("a name");
    let about =
        About::new(&name, "field", "dsr", vec![NodeAbout::new(7, "roof", Ipv4Addr::new(10, 0, 0, 8))]);
    let server = Server::bind(&socket, about, Access::Owner).expect("a socket");
    let empty = tempfile::tempdir().expect("a folder");
    let run =
        wayhop().args(["ctl", "--run", &name, "hello"]).env("WAYHOP_RUNTIME_DIR", empty.path()).output();
    let said = Ran::of(&run.expect("the program runs")).failure(2);
    assert!(said.contains(empty.path().to_str().expect("UTF-8")), "{said}");
    drop(server);
}

#[test]
fn nothing_running_is_said_with_what_to_do() {
    let empty = tempfile::tempdir().expect("a folder");
    let ctl = |args: &[&str]| {
        let run = wayhop().arg("ctl").args(args).env("WAYHOP_RUNTIME_DIR", empty.path()).output();
        Ran::of(&run.expect("the program runs"))
    };
    assert!(ctl(&["routes"]).failure(2).contains("start one with `wayhop emulate`"));
    assert!(ctl(&["list"]).ok().contains("no run or node of this user is running"));
    assert!(ctl(&["--run", "../etc", "hello"]).failure(2).contains("is not a valid run name"));
}

#[test]
fn names_that_only_the_running_nodes_know_are_completed() {
    let mesh = Mesh::new();
    let complete = |words: &[&str]| {
        let mut c = wayhop();
        c.env("COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", (words.len() - 1).to_string());
        c.env("WAYHOP_RUNTIME_DIR", mesh.folder.path()).env("_CLAP_COMPLETE_COMP_TYPE", "9");
        c.env("_CLAP_COMPLETE_SPACE", "false").env("_CLAP_IFS", "\n");
        let run = c.arg("--").args(words).output().expect("the program runs");
        String::from_utf8_lossy(&run.stdout).lines().map(|l| l.trim().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(complete(&["wayhop", "ctl", "--node", "ri"]), ["right"]);
    assert_eq!(complete(&["wayhop", "ctl", "--run", "ch"]), ["chain"]);
    assert_eq!(complete(&["wayhop", "ctl", "params", "ttl"]), ["ttl_start"]);
    assert_eq!(complete(&["wayhop", "ctl", "tables", "neigh"]), ["neighbours"]);
}

#[test]
fn what_is_asked_of_no_node_is_a_usage_error_that_names_the_nodes() {
    let mesh = Mesh::new();
    let message = mesh.ctl(&["--node", "middle", "routes"]).failure(2);
    assert_eq!(message, "wayhop: there is no node middle; the nodes are left, right\n");
    assert!(Path::new(&mesh.socket).exists());
}

const CHAIN: &str = r#"
name = "followed"
duration_s = 30
nodes.count = 3
movement = { kind = "static", positions = [{ x = 0, y = 0 }, { x = 200, y = 0 }, { x = 400, y = 0 }] }
protocol = { name = "dsr" }
traffic = [{ kind = "cbr", src = 0, dst = 2 }]
"#;

#[test]
fn a_followed_simulation_tells_how_long_queues_and_tables_are() {
    let dir = crate::folder(&[("chain.toml", CHAIN)]);
    let program = || {
        let mut program = wayhop();
        program.current_dir(dir.path()).env("WAYHOP_RUNTIME_DIR", dir.path().join("sockets"));
        program
    };
    let mut run = program()
        .args(["run", "chain.toml", "--pace", "3", "--out", "run", "--quiet"])
        .spawn()
        .expect("the program runs");
    let ask = |what: &[&str]| -> Option<Value> {
        let out = program().arg("ctl").args(what).arg("--json").output().expect("the program runs");
        serde_json::from_slice(&out.stdout).ok()
    };
    while ask(&["tables"]).is_none_or(|answer| answer["nodes"].as_array().is_none_or(Vec::is_empty)) {
        assert!(run.try_wait().expect("a child").is_none(), "the run is over before it answered");
        std::thread::sleep(Duration::from_millis(50));
    }
    for what in [&["tables"][..], &["neighbours"], &["counters"], &["params"], &["position"], &["list"]] {
        let answer = ask(what).expect("JSON");
        assert_eq!(undefined_as_text(&answer), Vec::<String>::new(), "{what:?}: {answer:#}");
    }
    let watch = || program().args(["ctl", "watch", "sizes", "--json"]).output().expect("the program runs");
    let told = loop {
        assert!(run.try_wait().expect("a child").is_none(), "the run is over before it was watched");
        // Nobody answers until the run has begun.
        let told = watch();
        if !told.stdout.is_empty() {
            break Ran::of(&told).ok();
        }
    };
    assert!(run.wait().expect("it ends").success());
    let events: Vec<Event> = told.lines().map(|l| serde_json::from_str(l).expect("an event")).collect();
    check("ctl-watch", told.lines().next().expect("an event"));
    let nodes: Vec<u32> = events.iter().filter_map(Event::node).collect();
    for node in 0..3 {
        // Once a second of the machine, for ten seconds; fewer on a busy one.
        assert!(nodes.iter().filter(|n| **n == node).count() >= 3, "node {node}: {nodes:?}");
    }
    let length = |node, list: &str| {
        let last = events.iter().rfind(|e| e.node() == Some(node)).expect("looked at");
        let Event::Sizes { sizes, .. } = last else { panic!("of another kind: {last:?}") };
        sizes.iter().find(|s| s.what == list).map(|s| s.count)
    };
    // Nobody moves: the source keeps its route over node 1, and queues are empty but for moments.
    assert!(length(0, "route_cache").is_some_and(|n| n >= 1), "{told}");
    assert!((0..3).all(|node| length(node, "queue").is_some()), "{told}");
    assert_eq!(length(2, "send_buffer"), None, "an empty list is not told: {told}");
}
