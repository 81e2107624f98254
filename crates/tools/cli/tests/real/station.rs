//! What a running node reports: metrics, position, events, reports over the mesh, frames that it missed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::mesh::{Mesh, WAYHOP, skip_without_root};

/// A name for a control socket that no other test has.
fn socket_name(test: &str) -> String {
    format!("{test}-{}", std::process::id())
}

/// What `wayhop ctl --json` answers.
fn ctl(mesh: &Mesh, socket: &str, what: &[&str]) -> Value {
    let (ok, said) = mesh.run_args(
        0,
        &[&[WAYHOP, "ctl", "--socket", mesh.socket(socket).to_str().unwrap(), "--json"], what].concat(),
    );
    assert!(ok, "{said}");
    serde_json::from_str(&said).unwrap()
}

fn counter(mesh: &Mesh, socket: &str, name: &str) -> u64 {
    ctl(mesh, socket, &["counters"])["nodes"][0]["counters"][name].as_u64().unwrap()
}

/// A gpsd with one receiver that stands still: what gpsd_json(5) says that a client is told after ?WATCH.
const GPSD: &str = r#"
import socket, time
s = socket.create_server(('127.0.0.1', 2947))
while True:
    c, _ = s.accept()
    c.sendall(b'{"class":"VERSION","release":"3.25","proto_major":3,"proto_minor":15}\n')
    c.recv(1000)
    try:
        while True:
            c.sendall(b'{"class":"TPV","mode":3,"lat":40.5,"lon":-79.75,"track":90.0,"speed":2.5}\n')
            time.sleep(0.2)
    except OSError:
        pass
"#;

#[test]
fn gpsds_place_is_shown_until_another_is_told_and_again_after_that() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    let socket = socket_name("place");
    let _gpsd = mesh.start_program(0, &["python3", "-c", GPSD]);
    let sets = [&format!("control={socket}"), "gpsd=127.0.0.1:2947", "metrics=127.0.0.1:9464"];
    mesh.start(0, "dsr", &sets);
    let shown = |m: &Mesh| {
        let here = &ctl(m, &socket, &["position"])["nodes"][0];
        (here["earth"]["latitude_deg"].as_f64(), here["overridden"] == true)
    };
    mesh.until("the place is known", Duration::from_secs(90), |m| shown(m) == (Some(40.5), false));
    ctl(&mesh, &socket, &["position", "10.25,20.5"]);
    assert_eq!(shown(&mesh), (Some(10.25), true));
    ctl(&mesh, &socket, &["position", "--release"]);
    assert_eq!(shown(&mesh), (Some(40.5), false));
    let get = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:9464/metrics').read().decode())";
    let line = format!("wayhop_longitude_degrees{{node=\"{socket}\"}} -79.75");
    mesh.until("metrics show it", Duration::from_secs(30), |m| {
        m.run_args(0, &["python3", "-c", get]).1.lines().any(|l| l == line)
    });
}

#[test]
fn subscribers_hear_of_searches_neighbours_drops_and_routes() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    let socket = socket_name("events");
    let control = format!("control={socket}");
    mesh.start(0, "aodv", &[&control, "protocol.rreq_retries=0", "protocol.net_diameter=3"]);
    let heard = mesh.folder().join("events");
    let file = heard.display();
    let at = mesh.socket(&socket);
    let watch = format!("exec {WAYHOP} ctl --socket {} --json watch > {file}", at.display());
    let _watch = mesh.start_program(0, &["sh", "-c", &watch]);
    // Until the subscription is there, packets to nobody are dropped unheard.
    mesh.until("a search is heard, and its end", Duration::from_secs(20), |m| {
        m.try_ping(0, 8);
        let text = fs::read_to_string(&heard).unwrap_or_default();
        ["discovery_start", "\"drop\""].iter().all(|w| text.contains(w))
    });
    mesh.start(1, "aodv", &[]);
    mesh.ping(0, 1, 1);
    let has = |wanted: &[(&str, &str)]| {
        let text = fs::read_to_string(&heard).unwrap();
        let mut events = text.lines().filter_map(|l| serde_json::from_str::<Value>(l).ok());
        events.any(|e| wanted.iter().all(|(k, v)| e[*k].as_str() == Some(*v)))
    };
    for wanted in [
        &[("kind", "note"), ("what", "discovery_start"), ("about", "10.0.0.9")][..],
        &[("kind", "note"), ("what", "discovery_failed"), ("about", "10.0.0.9")],
        &[("kind", "drop"), ("source", "10.0.0.1"), ("destination", "10.0.0.9")],
        &[("kind", "route"), ("destination", "10.0.0.2"), ("next_hop", "10.0.0.2")],
        &[("kind", "neighbour"), ("address", "10.0.0.2"), ("mac", "02:00:0a:00:00:02")],
    ] {
        mesh.until(&format!("{wanted:?} is heard"), Duration::from_secs(30), |_| has(wanted));
    }
}

/// The reports in a file, by their numbers.
fn reports(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().filter_map(|l| serde_json::from_str(l).ok()).collect()
}

fn numbers(reports: &[Value]) -> Vec<u64> {
    reports.iter().map(|r| r["number"].as_u64().unwrap()).collect()
}

#[test]
fn a_nodes_own_log_has_every_report_although_the_mesh_lost_some() {
    skip_without_root!();
    let mut mesh = Mesh::line(3);
    let log = mesh.folder().join("log/node.jsonl");
    let sets = [
        format!("control={}", socket_name("reporter")),
        "monitor.collector=10.0.0.3".to_owned(),
        "monitor.interval_s=0.1".to_owned(),
        format!("monitor.log={}", log.display()),
    ];
    mesh.start(0, "dsr", &sets.each_ref().map(String::as_str));
    mesh.start(1, "dsr", &[]);
    mesh.start(2, "dsr", &[]);
    let out = mesh.folder().join("collected");
    let _collect = mesh.start_program(2, &[WAYHOP, "collect", "--quiet", "--out", out.to_str().unwrap()]);
    let collected = || -> Vec<Value> {
        let files: Vec<PathBuf> =
            fs::read_dir(&out).into_iter().flatten().map(|f| f.unwrap().path()).collect();
        files.iter().flat_map(|f| reports(f)).collect()
    };
    mesh.until("reports arrive", Duration::from_secs(20), |_| collected().len() >= 5);
    // The middle of the mesh is gone for longer than packets wait for a route.
    mesh.kill(1);
    let before = numbers(&reports(&log)).len();
    mesh.until("the node goes on by itself", Duration::from_secs(90), |_| {
        numbers(&reports(&log)).len() > before + 350
    });
    mesh.start(1, "dsr", &[]);
    let arrived = collected().len();
    mesh.until("reports arrive again", Duration::from_secs(40), |_| collected().len() > arrived + 5);
    mesh.stop(0);
    let own = reports(&log);
    assert_eq!(numbers(&own), (0..own.len() as u64).collect::<Vec<_>>(), "the log has no gap");
    let collected = collected();
    assert!(collected.len() < own.len(), "{} of {} arrived", collected.len(), own.len());
    for c in &collected {
        let number = c["number"].as_u64().unwrap() as usize;
        assert_eq!(c["counters"], own[number]["counters"], "report {number}");
    }
}

/// Frames of DSR from nowhere to this host, as many as argument 1 says.
const FLOOD: &str = r"
import socket, struct, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW); s.bind(('eth1', 0))
body = bytes([59, 0, 0, 0]) + bytes(200)
h = struct.pack('!BBHHHBBH4s4s', 0x45, 0, 20 + len(body), 0, 0, 64, 48, 0, bytes([10, 0, 0, 9]), bytes([10, 0, 0, 1]))
t = sum(struct.unpack('!10H', h)); t = (t & 65535) + (t >> 16); t = (t & 65535) + (t >> 16)
h = h[:10] + struct.pack('!H', ~t & 65535) + h[12:]
f = bytes.fromhex('02000a000001' '02000a000002' '0800') + h + body
for i in range(int(sys.argv[1])): s.send(f)
";

/// More than a packet socket has room for.
const SENT: u64 = 20_000;

#[test]
fn frames_that_the_kernel_had_no_room_for_are_counted() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    let socket = socket_name("missed");
    mesh.start(0, "dsr", &[&format!("control={socket}")]);
    // A process that sleeps takes nothing out of its socket.
    mesh.signal(0, "-STOP");
    let (ok, said) = mesh.run_args(1, &["python3", "-c", FLOOD, &SENT.to_string()]);
    assert!(ok, "{said}");
    mesh.signal(0, "-CONT");
    mesh.until("the rest is taken", Duration::from_secs(60), |m| {
        let taken = counter(m, &socket, "received_frames") + counter(m, &socket, "strange_frames");
        let missed = counter(m, &socket, "missed_frames");
        assert!(taken + missed <= SENT, "{taken} + {missed}");
        missed > 0 && taken + missed == SENT
    });
}

/// The lines of a table of a run, by `wayhop export csv`.
fn table(run: &Path, table: &str) -> Vec<String> {
    let mut text = Vec::new();
    wayhop_trace::export_csv(
        &wayhop_trace::RunDir::open(run, wayhop_protocols::CLASSIFIER).unwrap(),
        table,
        &mut text,
    )
    .unwrap();
    String::from_utf8(text).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn a_node_records_the_packets_that_it_forwarded_and_what_its_protocol_remarked() {
    use std::os::unix::fs::PermissionsExt as _;
    skip_without_root!();
    let mut mesh = Mesh::line(3);
    // The node's user writes in it.
    fs::set_permissions(mesh.folder(), fs::Permissions::from_mode(0o755)).unwrap();
    let run = mesh.folder().join("saved");
    mesh.start(0, "dsr", &[]);
    let arguments = ["node", "--interface", "eth1", "--address", "10.0.0.2/16", "--protocol", "dsr"];
    let sets = [
        format!("run={}", run.display()),
        "control=middle".to_owned(),
        "capture.snap_length_bytes=500".to_owned(),
    ];
    let sets: Vec<&str> = sets.iter().flat_map(|s| ["--set", s]).collect();
    mesh.start_with(1, &[&arguments[..], &sets].concat());
    mesh.until("the node is ready", Duration::from_secs(20), |m| m.said(1).contains("programs use mesh0"));
    mesh.start(2, "dsr", &[]);
    mesh.ping(0, 2, 5);
    mesh.stop_all();
    let manifest: Value =
        serde_json::from_str(&fs::read_to_string(run.join("manifest.json")).unwrap()).unwrap();
    assert_eq!(manifest["status"], "complete");
    let summary: Value =
        serde_json::from_str(&fs::read_to_string(run.join("summary.json")).unwrap()).unwrap();
    assert_eq!((&summary["world"], &summary["capture_drops"]), (&"field".into(), &0.into()));
    let packets = table(&run, "packets");
    for (source, destination) in [("10.0.0.1", "10.0.0.3"), ("10.0.0.3", "10.0.0.1")] {
        for event in ["receive", "forward"] {
            let of = |l: &&String| {
                let cells: Vec<&str> = l.split(',').collect();
                cells[2] == event && cells[6] == "data" && cells[10..12] == [source, destination]
            };
            let count = packets.iter().filter(of).count();
            // Each may be sent three times (RFC 4728, section 8.3: MaxMaintRexmt) where acknowledgements are late.
            assert!(
                (5..=18).contains(&count),
                "{count} times {event} from {source}:\n{}",
                packets.join("\n")
            );
        }
    }
    assert!(table(&run, "sends").iter().any(|l| l.contains(",forwarded,")), "{:?}", table(&run, "sends"));
    // On a wire DSR asks for acknowledgements of its own (RFC 4728, section 8.3.3).
    assert!(
        table(&run, "events").iter().any(|l| l.contains("ack_received,10.0.0.3")),
        "{:?}",
        table(&run, "events")
    );
    assert!(table(&run, "counters").iter().any(|l| l.contains("forwarded")), "{:?}", table(&run, "counters"));
    let shown =
        Command::new("tshark").args(["-r", "captures/middle.pcapng", "-Y", "dsr"]).current_dir(&run).output();
    assert!(String::from_utf8_lossy(&shown.unwrap().stdout).lines().count() >= 20);
}
