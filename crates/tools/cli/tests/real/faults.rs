//! `wayhop node` when something goes wrong around it: processes killed, interfaces taken away, disks full, clocks stepped.
//!
//! Needs root, network namespaces, and ip, nft, ping, python3, curl, tshark and libfaketime (`.ci/install test`). Without
//! root the tests are skipped with a message; in CI they fail.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::mesh::{Background, Mesh, skip_without_root};

/// What makes routes come back soon in a network of this size, with each protocol. RFC 3561's times are for a diameter of 35
/// nodes; a search of it may wait for 11 s.
fn quick(protocol: &str) -> &'static [&'static str] {
    match protocol {
        "aodv" => &["protocol.net_diameter=6"],
        _ => &[],
    }
}

/// An HTTP server that gives a file as slowly as a radio would: 200 kB/s.
const SERVER: &str = r"
import http.server, sys, time
class Slow(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = open(sys.argv[1], 'rb').read()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        for at in range(0, len(body), 10_000):
            self.wfile.write(body[at : at + 10_000])
            time.sleep(0.05)
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(('', 80), Slow).serve_forever()
";

/// A file on the way from one end of the mesh to the other.
struct Download {
    _server: Background,
    curl: Background,
    got: PathBuf,
    body: Vec<u8>,
}

impl Download {
    /// Host 2 serves a file, which host 0 takes, at a rate that leaves time for trouble.
    fn begin(mesh: &Mesh) -> Self {
        let body: Vec<u8> = (0..2_000_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
        let served = mesh.folder().join("served");
        fs::write(&served, &body).unwrap();
        let server = mesh.spawn(2, &["python3", "-c", SERVER, served.to_str().unwrap()]);
        let got = mesh.folder().join("got");
        let _ = fs::remove_file(&got);
        let ready = |m: &Mesh| m.run(2, "ss -Hltn sport = :80").1.contains("LISTEN");
        mesh.until("the server listens", Duration::from_secs(20), ready);
        let to = got.to_str().unwrap();
        // No retries: it is one connection from beginning to end.
        let url = "http://10.0.0.3/file";
        let curl = mesh.spawn(0, &["curl", "-sSN", "--max-time", "280", "-o", to, url]);
        Self { _server: server, curl, got, body }
    }

    fn size(&self) -> usize {
        fs::metadata(&self.got).map_or(0, |m| m.len() as usize)
    }

    /// Waits until more has come than now.
    fn goes_on(&self, mesh: &Mesh, after: &str) {
        let before = self.size();
        mesh.until(after, Duration::from_secs(120), |_| self.size() >= before + 100_000);
        assert!(self.size() < self.body.len(), "the file is long enough for what comes next");
    }

    /// Waits for the end; the file is then complete.
    fn ends(self) {
        assert!(self.curl.wait(), "curl got {} octets", fs::metadata(&self.got).map_or(0, |m| m.len()));
        assert!(fs::read(&self.got).unwrap() == self.body, "the file came whole");
    }
}

#[test]
fn a_download_goes_on_after_each_node_on_its_way_was_killed_and_started_again() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let mut mesh = Mesh::line(3);
        let before: Vec<String> = (0..3).map(|i| mesh.host_state(i)).collect();
        mesh.start_all(protocol, quick(protocol));
        let download = Download::begin(&mesh);
        download.goes_on(&mesh, "it begins");
        for i in [1, 0, 2] {
            mesh.kill(i);
            sleep(Duration::from_millis(500));
            mesh.start(i, protocol, quick(protocol));
            download.goes_on(&mesh, &format!("{protocol}: the download goes on after node {i} was killed"));
        }
        download.ends();
        mesh.stop_all();
        for (i, before) in before.iter().enumerate() {
            assert_eq!(&mesh.host_state(i), before, "{protocol}: host {i} is as it was");
        }
    }
}

#[test]
fn a_download_goes_on_after_interfaces_on_its_way_went_down_and_up() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let mut mesh = Mesh::line(3);
        mesh.start_all(protocol, quick(protocol));
        let download = Download::begin(&mesh);
        download.goes_on(&mesh, "it begins");
        for i in [1, 0] {
            mesh.ip(i, "link set eth1 down");
            sleep(Duration::from_secs(1));
            mesh.ip(i, "link set eth1 up");
            download.goes_on(&mesh, &format!("{protocol}: it goes on after interface {i} was down"));
        }
        download.ends();
    }
}

#[test]
fn a_step_of_the_clock_neither_stops_nor_delays_a_node() {
    skip_without_root!();
    let found = Command::new("dpkg").args(["-L", "libfaketime"]).output().unwrap().stdout;
    let found = String::from_utf8(found).unwrap();
    let library = found.lines().find(|l| l.ends_with("/libfaketime.so.1")).expect("Debian's faketime");
    for protocol in ["dsr", "aodv"] {
        let mut mesh = Mesh::line(2);
        // The wall clock of these processes alone, by what is in a file; the monotonic clock is the machine's.
        let clock = mesh.folder().join("clock");
        let set = |step: &str| {
            fs::write(clock.with_extension("new"), step).unwrap();
            fs::rename(clock.with_extension("new"), &clock).unwrap();
        };
        set("+0\n");
        mesh.open_folder();
        for (name, value) in [
            ("LD_PRELOAD", library),
            ("FAKETIME_TIMESTAMP_FILE", clock.to_str().unwrap()),
            ("FAKETIME_NO_CACHE", "1"),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
            ("DONT_FAKE_MONOTONIC", "1"),
        ] {
            mesh.set_env(name, value);
        }
        mesh.start_all(
            protocol,
            &["protocol.active_route_timeout_ms=2500"][..usize::from(protocol == "aodv")],
        );
        mesh.ping(0, 1, 5);
        for step in ["+3600\n", "-86400\n"] {
            set(step);
            mesh.ping(0, 1, 20);
        }
        mesh.stop_all();
        // The capture is stamped with the wall clock, and shows the steps.
        let times: Vec<f64> = mesh.capture_times(0);
        let steps: Vec<f64> =
            times.windows(2).map(|w| (w[1] - w[0]).round()).filter(|s| s.abs() > 60.0).collect();
        let near = |step: f64, to: f64| (step - to).abs() < 10.0;
        assert!(
            steps.len() == 2 && near(steps[0], 3600.0) && near(steps[1], -90000.0),
            "{protocol}: {steps:?}"
        );
    }
}

/// A small disk, until it is dropped.
struct Disk(PathBuf);

impl Disk {
    fn new(mesh: &Mesh) -> Self {
        let at = mesh.folder().join("disk");
        fs::create_dir(&at).unwrap();
        let mount = ["-t", "tmpfs", "-o", "size=1m,mode=755", "tmpfs", at.to_str().unwrap()];
        assert!(Command::new("mount").args(mount).status().unwrap().success());
        Self(at)
    }
    fn fill(&self) {
        fs::write(self.0.join("filling"), vec![0; 2 << 20]).expect_err("it is full now");
    }
    fn make_room(&self) {
        fs::remove_file(self.0.join("filling")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["-l", self.0.to_str().unwrap()]).status();
    }
}

#[test]
fn a_node_on_a_full_disk_goes_on_and_counts_what_its_capture_lost() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    mesh.start(1, "dsr", &[]);
    let before = mesh.host_state(0);
    let disk = Disk::new(&mesh);
    mesh.keep_files_in(&disk.0);
    let summary = format!("summary={}", disk.0.join("summary.json").display());
    mesh.start(0, "dsr", &["control=disk", "capture.snap_length_bytes=256", &summary]);
    disk.fill();
    // More than may wait for the disk.
    let lost = |m: &Mesh| m.counters("disk")["capture_drops"].as_u64().unwrap();
    mesh.until("the capture loses frames", Duration::from_secs(120), |m| {
        let (_, said) = m.run(0, "ping -q -f -c 2500 -s 300 10.0.0.2");
        assert!(!said.contains("100% packet loss"), "{said}");
        lost(m) > 1000
    });
    // What the node has to say has no room, either.
    mesh.ip(0, "link set eth1 down");
    mesh.ip(0, "link set eth1 up");
    mesh.until("it goes on", Duration::from_secs(20), |m| m.try_ping(0, 1));
    // With room again, it writes on.
    disk.make_room();
    let written = mesh.frames_so_far(0);
    mesh.until("it writes on", Duration::from_secs(30), |m| m.try_ping(0, 1) && m.frames_so_far(0) > written);
    // What is on its way to the file is neither, for a moment.
    mesh.until("each frame is in the capture or counted", Duration::from_secs(30), |m| {
        let c = m.counters("disk");
        let count = |name: &str| c[name].as_u64().unwrap();
        let frames = ["sent_frames", "received_frames", "overheard_frames", "strange_frames"].map(count);
        m.frames_so_far(0) as u64 + count("capture_drops") == frames.iter().sum::<u64>()
    });
    // Its summary has no place to go: it says so, and leaves nothing else behind.
    disk.fill();
    assert_eq!(mesh.end(0), Some(1));
    assert_eq!(mesh.host_state(0), before);
}

#[test]
fn a_node_whose_tun_is_taken_away_says_so_ends_and_leaves_nothing() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    let before = mesh.host_state(0);
    mesh.start(0, "dsr", &[]);
    mesh.ip(0, "link del mesh0");
    assert_eq!(mesh.end_by_itself(0), Some(1));
    let log = fs::read_to_string(mesh.log(0)).unwrap();
    assert!(log.contains("the TUN interface of this node was removed"), "{log}");
    assert_eq!(mesh.host_state(0), before);
}

#[test]
fn routes_of_a_node_that_was_killed_with_its_helper_are_removed_at_the_next_start() {
    skip_without_root!();
    let mut mesh = Mesh::line(3);
    mesh.start_all("aodv", &[]);
    mesh.ping(0, 2, 2);
    let pid = mesh.pid(1);
    let helper = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    assert!(Command::new("kill").args(["-9", helper.trim()]).status().unwrap().success());
    mesh.kill(1);
    let left = mesh.ip(1, "-4 route show proto 119");
    assert!(left.contains("10.0.0.1 via"), "nobody set the host back: {left}");
    // No Hello of theirs makes a route meanwhile.
    for i in [0, 2] {
        mesh.signal(i, "-STOP");
    }
    mesh.start(1, "aodv", &[]);
    assert_eq!(mesh.ip(1, "-4 route show proto 119"), "", "before the node knows any route");
    for i in [0, 2] {
        mesh.signal(i, "-CONT");
    }
    mesh.until("the ends reach each other again", Duration::from_secs(30), |m| m.try_ping(0, 2));
    assert!(mesh.stop(1).contains("undid the changes of a killed node"));
}
