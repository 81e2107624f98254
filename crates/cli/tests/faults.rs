//! `wayhop node` when something goes wrong around it: processes killed, interfaces taken away, disks full, clocks stepped.
//!
//! Needs root, network namespaces, and ip, nft, ping, python3, curl, tshark and libfaketime (`.ci/install test`). Without
//! root the tests are skipped with a message; in CI they fail.

mod mesh;

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use mesh::{Background, Mesh, may_run};

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
        let _server = mesh.spawn(2, &["python3", "-c", SERVER, served.to_str().unwrap()]);
        let got = mesh.folder().join("got");
        let _ = fs::remove_file(&got);
        let ready = |m: &Mesh| m.run(2, "ss -Hltn sport = :80").1.contains("LISTEN");
        mesh.until("the server listens", Duration::from_secs(20), ready);
        let to = got.to_str().unwrap();
        // No retries: it is one connection from beginning to end.
        let url = "http://10.0.0.3/file";
        let curl = mesh.spawn(0, &["curl", "-sSN", "--max-time", "280", "-o", to, url]);
        Self { _server, curl, got, body }
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

    /// Waits for the end: the file is whole.
    fn ends(self) {
        assert!(self.curl.wait(), "curl got {} octets", fs::metadata(&self.got).map_or(0, |m| m.len()));
        assert!(fs::read(&self.got).unwrap() == self.body, "the file came whole");
    }
}

#[test]
fn a_download_goes_on_after_each_node_on_its_way_was_killed_and_started_again() {
    if !may_run() {
        return;
    }
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
    if !may_run() {
        return;
    }
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
