//! Bundle agents on real hosts: files, kills, neighbours of the mesh's links, and dtn7 and pyD3TN at the other end.
//!
//! Needs root, network namespaces, and the programs that `.ci/install test` (ip, nft, tshark) and `.ci/install fixtures`
//! (dtn7 in target/dtn7, and pyD3TN in target/python) install.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use wayhop_bundle_agent::messages::{Ask, SentBundle};
use wayhop_bundle_agent::{Client, ClientError, Delivery};
use wayhop_control::SocketName;

use crate::mesh::{Background, Mesh, WAYHOP, may_run, skip_without_root};

/// How long a test waits for what has to come.
const PATIENCE: Duration = Duration::from_secs(60);

/// Hosts with an address each, on one Ethernet on which host I hears I - 1 and I + 1 only.
fn hosts(n: usize) -> Mesh {
    let mesh = Mesh::line(n);
    for i in 0..n {
        mesh.ip(i, &format!("addr add 10.7.0.{}/24 dev eth1", i + 1));
    }
    mesh
}

fn socket(mesh: &Mesh, i: usize) -> PathBuf {
    mesh.folder().join(format!("{i}.sock"))
}

/// Starts the agent of a host, and waits until programs find it.
fn agent(mesh: &Mesh, i: usize, sets: &[&str]) -> Background {
    // One that was killed leaves it.
    let _ = fs::remove_file(socket(mesh, i));
    let node = format!("dtn://n{i}/");
    let store = mesh.folder().join(format!("{i}.redb")).display().to_string();
    let at = format!("socket={}", socket(mesh, i).display());
    let runtime = format!("WAYHOP_RUNTIME_DIR={}", mesh.folder().join("run").display());
    let mut command = vec!["env", &runtime, WAYHOP, "bundle", "agent", "--quiet", "--node", &node];
    command.extend(["--store", &store, "--set", &at]);
    command.extend(sets.iter().flat_map(|s| ["--set", s]));
    let agent = mesh.start_program(i, &command);
    mesh.until("the agent is up", PATIENCE, |m| client(m, i).is_ok());
    agent
}

fn client(mesh: &Mesh, i: usize) -> Result<Client, ClientError> {
    Client::connect(&SocketName::parse(&socket(mesh, i).display().to_string()))
}

/// Runs `wayhop bundle` with the agent of a host: whether it succeeded, and what it said.
fn bundle(mesh: &Mesh, i: usize, arguments: &[&str]) -> (bool, String) {
    let at = socket(mesh, i);
    let done = Command::new(WAYHOP).arg("bundle").args(arguments).arg("--socket").arg(at).output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
    (done.status.success(), said.into_owned())
}

fn listed(mesh: &Mesh, i: usize) -> serde_json::Value {
    let (ok, said) = bundle(mesh, i, &["list", "--json"]);
    assert!(ok, "{said}");
    serde_json::from_str(&said).unwrap()
}

fn held(mesh: &Mesh, i: usize) -> usize {
    listed(mesh, i)["bundles"].as_array().unwrap().len()
}

#[test]
fn a_file_waits_at_a_node_that_is_killed_and_arrives_once_when_the_next_one_comes() {
    skip_without_root!();
    let mesh = hosts(3);
    let sets = ["routing=epidemic"];
    let (first, second) = (agent(&mesh, 0, &sets), agent(&mesh, 1, &sets));
    let file = mesh.folder().join("data.bin");
    let octets: Vec<u8> = (0..600_000_u32).map(|i| (i * 31 + i / 7) as u8).collect();
    fs::write(&file, &octets).unwrap();
    let to = "dtn://n2/inbox";
    let (ok, said) = bundle(&mesh, 0, &["send", to, "--file", file.to_str().unwrap(), "--custody"]);
    assert!(ok && said.contains("dtn://n0/"), "{said}");
    let (ok, said) = bundle(&mesh, 0, &["send", to, "--text", "all is well", "--custody", "--json"]);
    let sent: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert!(ok && sent["bytes"] == 11 && sent["wayhop"].is_string(), "{said}");
    mesh.until("the node between has custody of both", PATIENCE, |m| {
        let all = listed(m, 1);
        all["bundles"].as_array().unwrap().iter().filter(|b| b["custody"] == true).count() == 2
    });
    // kill -9, and power off at the source.
    drop(second);
    drop(first);
    let (_second, _third) = (agent(&mesh, 1, &sets), agent(&mesh, 2, &sets));
    let folder = mesh.folder().join("got");
    let into = ["receive", "inbox", "--count", "2", "--timeout", "60", "--folder", folder.to_str().unwrap()];
    let (ok, said) = bundle(&mesh, 2, &into);
    assert!(ok && said.contains("dtn://n0/: all is well"), "{said}");
    assert_eq!(fs::read(folder.join("data.bin")).unwrap(), octets);
    let (ok, said) = bundle(&mesh, 2, &["receive", "inbox", "--count", "1", "--timeout", "2"]);
    assert!(!ok && said.contains("0 of 1 bundles arrived"), "{said}");
}

/// A program that remembers what it has got, whatever happens to its agent.
#[derive(Default)]
struct Application {
    client: Option<Client>,
    got: u64,
    inbox: Vec<Delivery>,
}

impl Application {
    /// Takes what comes; whether the agent is there.
    fn take(&mut self, mesh: &Mesh, i: usize) -> Result<(), ClientError> {
        if self.client.is_none() {
            let mut client = client(mesh, i)?;
            let ask = Ask::Register { endpoint: "inbox".to_owned(), got: self.got };
            client.ask::<String>(&ask, Vec::new())?;
            self.client = Some(client);
        }
        let Some(client) = &mut self.client else { return Ok(()) };
        while let Some(delivery) = client.delivery(Some(Duration::from_millis(20)))? {
            let number = delivery.about.number;
            assert!(number > self.got, "{number} came again");
            self.got = number;
            self.inbox.push(delivery);
            client.ask::<()>(&Ask::Confirm { endpoint: "inbox".to_owned(), number }, Vec::new())?;
        }
        Ok(())
    }
}

fn send(client: &mut Client, text: &str) -> Result<SentBundle, ClientError> {
    let ask = Ask::Send {
        source: None,
        destination: "dtn://n1/inbox".to_owned(),
        lifetime_s: None,
        custody: true,
        report_to: None,
    };
    client.ask(&ask, text.as_bytes().to_vec())
}

#[test]
fn nothing_is_lost_and_nothing_comes_twice_whichever_agent_is_killed_when() {
    skip_without_root!();
    let mesh = hosts(2);
    let sets = ["custody_s=1"];
    let mut agents = [Some(agent(&mesh, 0, &sets)), Some(agent(&mesh, 1, &sets))];
    let mut application = Application::default();
    let mut sender = client(&mesh, 0).unwrap();
    let mut safe: Vec<String> = Vec::new();
    for round in 0..8 {
        // The victim dies in the middle of the round: its store is in use then.
        let victim = round % 2;
        for k in 0..40 {
            if k == 10 + 3 * round {
                agents[victim] = None;
                application.client = None;
                agents[victim] = Some(agent(&mesh, victim, &sets));
                sender = client(&mesh, 0).unwrap();
            }
            // Only what was answered is safe.
            if let Ok(sent) = send(&mut sender, &format!("{round}-{k}")) {
                safe.push(sent.bundle);
            }
        }
        if application.take(&mesh, 1).is_err() {
            application.client = None;
        }
    }
    assert!(safe.len() > 300, "{}", safe.len());
    let begun = Instant::now();
    let arrived = |a: &Application| safe.iter().all(|s| a.inbox.iter().any(|d| d.about.bundle == *s));
    while !arrived(&application) {
        assert!(begun.elapsed() < PATIENCE, "{} of {} came", application.inbox.len(), safe.len());
        if application.take(&mesh, 1).is_err() {
            application.client = None;
        }
    }
    let mut names: Vec<&str> = application.inbox.iter().map(|d| d.about.bundle.as_str()).collect();
    names.sort_unstable();
    let all = names.len();
    names.dedup();
    assert_eq!(names.len(), all, "a bundle came twice");
    mesh.until("no custodian waits", PATIENCE, |m| held(m, 0) == 0);
}

#[test]
fn agents_meet_where_the_mesh_has_a_link_and_need_no_beacons() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    let names = [0, 1].map(|i| format!("whb-{}-{i}", std::process::id()));
    for (i, name) in names.iter().enumerate() {
        mesh.start(i, "dsdv", &[&format!("control={name}")]);
    }
    let of = |i: usize| format!("mesh={}", names[i]);
    let _agents = [0, 1].map(|i| agent(&mesh, i, &["beacon_s=0", &of(i)]));
    mesh.until("they meet", PATIENCE, |m| {
        listed(m, 0)["contacts"].as_array().unwrap().iter().any(|c| c["node"] == "dtn://n1/")
    });
    let (ok, said) = bundle(&mesh, 0, &["send", "dtn://n1/inbox", "--text", "over the mesh"]);
    assert!(ok, "{said}");
    let (ok, said) = bundle(&mesh, 1, &["receive", "inbox", "--count", "1", "--timeout", "60"]);
    assert!(ok && said.contains("over the mesh"), "{said}");
    mesh.stop_all();
}

/// A program of dtn7, as `.ci/install fixtures` installs it.
fn dtn7(program: &str) -> String {
    let at = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../target/dtn7/bin").join(program);
    assert!(at.is_file(), "{} is missing; `.ci/install fixtures` installs dtn7", at.display());
    at.display().to_string()
}

/// Runs a program of dtn7 at host 1 until it succeeds.
fn until_dtn7(mesh: &Mesh, command: &[&str], is_so: impl Fn(&str) -> bool) {
    let begun = Instant::now();
    loop {
        let (ok, said) = mesh.run_args(1, command);
        if ok && is_so(&said) {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{command:?}: {said}");
        sleep(Duration::from_millis(100));
    }
}

/// dtn7 (crates.io, Rust, on the crate bp7) at the other end of a convergence layer: bundles both ways, and what tshark says of all
/// that went.
fn with_dtn7(layer: &str, theirs: &str, filter: &str) {
    let mesh = hosts(2);
    let file = mesh.folder().join("wire.pcapng");
    let wire = file.to_str().unwrap();
    let _tshark = mesh.start_program(0, &["tshark", "-q", "-Q", "-i", "eth1", "-w", wire]);
    mesh.until("the capture has begun", PATIENCE, |_| file.metadata().is_ok_and(|m| m.len() > 0));
    let peer =
        format!("peers=[{{ node = \"dtn://n1/\", address = \"10.7.0.2:4556\", layer = \"{layer}\" }}]");
    let _agent = agent(&mesh, 0, &[&format!("layer={layer}"), &peer, "beacon_s=0"]);
    let folder = mesh.folder().join("dtn7");
    fs::create_dir(&folder).unwrap();
    let (cla, back) = (format!("{theirs}:port=4556"), format!("{theirs}://10.7.0.1:4556/n0"));
    let daemon = dtn7("dtnd");
    let daemon = [&daemon, "-n", "n1", "-W", folder.to_str().unwrap(), "-e", "inbox", "-i", "0", "-j", "1s"];
    let _dtnd = mesh.start_program(1, &[&daemon[..], &["-r", "epidemic", "-C", &cla, "-s", &back]].concat());
    let (send, receive) = (dtn7("dtnsend"), dtn7("dtnrecv"));

    // A datagram to nobody is lost: dtn7 has to be there.
    until_dtn7(&mesh, &[&dtn7("dtnquery"), "peers"], |said| said.contains("n0"));
    if layer == "tcpcl" {
        let is_met = |m: &Mesh| !listed(m, 0)["contacts"].as_array().unwrap().is_empty();
        mesh.until("the agents meet", PATIENCE, is_met);
    }
    let (ok, said) = bundle(&mesh, 0, &["send", "dtn://n1/inbox", "--text", "to dtn7"]);
    assert!(ok, "{said}");
    until_dtn7(&mesh, &[&receive, "-e", "inbox"], |said| said.contains("to dtn7"));
    // It has acknowledged the bundle, or the datagram went: no copy is kept.
    mesh.until("nothing is held", PATIENCE, |m| held(m, 0) == 0);

    let text = mesh.folder().join("text");
    fs::write(&text, "from dtn7").unwrap();
    let send = [&send, "-s", "dtn://n1/", "-r", "dtn://n0/inbox", text.to_str().unwrap()];
    until_dtn7(&mesh, &send, |_| true);
    let (ok, said) = bundle(&mesh, 0, &["receive", "inbox", "--count", "1", "--timeout", "60"]);
    assert!(ok && said.contains("dtn://n1/") && said.contains("from dtn7"), "{said}");

    // What both ends sent; offloaded checksums are no concern of this test.
    let count = |filter: &str| {
        let shown = Command::new("tshark").args(["-r", wire, "-Y", filter]).output().unwrap();
        String::from_utf8_lossy(&shown.stdout).lines().count()
    };
    mesh.until("the capture has the bundles", PATIENCE, |_| count(&format!("{filter} && bpv7")) >= 2);
    assert_eq!(count(&format!("({filter}) && _ws.malformed")), 0);
}

#[test]
fn dtn7_and_an_agent_exchange_bundles_over_tcpcl_and_tshark_reads_them() {
    if may_run() {
        with_dtn7("tcpcl", "tcp", "tcp.port == 4556");
    }
}

#[test]
fn dtn7_and_an_agent_exchange_bundles_over_udpcl_and_tshark_reads_them() {
    if may_run() {
        with_dtn7("udpcl", "udp", "udp.port == 4556");
    }
}

#[test]
fn pyd3tn_reads_an_agents_bundle_and_its_report_on_a_bundle_of_its_own() {
    skip_without_root!();
    let mesh = hosts(2);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let python = root.join("../../../target/python/bin/python3");
    assert!(python.is_file(), "{} is missing; `.ci/install fixtures` makes it", python.display());
    let (script, file) = (root.join("tests/real/udpcl_peer.py"), mesh.folder().join("pyd3tn"));
    let [python, script, told] = [&python, &script, &file].map(|p| p.to_str().unwrap());
    let _pyd3tn = mesh.start_program(1, &[python, script, "10.7.0.2", "10.7.0.1", told]);
    let steps = || -> Vec<serde_json::Value> {
        let text = fs::read_to_string(&file).unwrap_or_default();
        text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect()
    };
    mesh.until("pyD3TN listens", PATIENCE, |_| steps().len() == 1);
    let peer = "peers=[{ node = \"dtn://n1/\", address = \"10.7.0.2:4556\", layer = \"udpcl\" }]";
    let _agent = agent(&mesh, 0, &["layer=udpcl", peer, "beacon_s=0", "status_reports=true"]);
    let (ok, said) = bundle(&mesh, 0, &["send", "dtn://n1/inbox", "--text", "to pyD3TN"]);
    assert!(ok, "{said}");
    let (ok, said) = bundle(&mesh, 0, &["receive", "inbox", "--count", "1", "--timeout", "60"]);
    assert!(ok && said.contains("dtn://n1/") && said.contains("from pyd3tn"), "{said}");
    mesh.until("pyD3TN has the report", PATIENCE, |_| steps().len() == 3);
    let [_, bundle, report] = &steps()[..] else { unreachable!("three lines") };
    assert_eq!(
        *bundle,
        serde_json::json!({
            "step": "bundle", "source": "dtn://n0/", "destination": "dtn://n1/inbox",
            "payload": "to pyD3TN", "same_blocks": true,
        })
    );
    assert_eq!(
        *report,
        serde_json::json!({
            "step": "report", "administrative": true, "destination": "dtn://n1/reports",
            "subject": "dtn://n1/", "delivered": true,
        })
    );
}
