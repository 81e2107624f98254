//! RTK corrections from a reference station to receivers over two hops: Debian's str2str, gpsd at both ends, and between them a mesh.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::mesh::{Mesh, WAYHOP, skip_without_root};

/// The example of RTCM 10403.1, section 4.2: message 1005 of station 2003.
const EXAMPLE: &str = "d300133ed7d30202980edeef34b4bd62ac0941986f33360b98";

/// The station's receiver: a position and a frame of corrections, five times a second, to str2str.
const STATION: &str = r"
import socket, sys, time
s = socket.create_connection(('127.0.0.1', 3001))
while True:
    s.sendall(b'$GNTXT,01,01,02,station*5A\r\n' + bytes.fromhex(sys.argv[1]))
    time.sleep(0.2)
";

/// A node's receiver: NMEA out; what is written to it is kept.
const RECEIVER: &str = r"
import os, pty, select, sys, time, tty
host, line = pty.openpty()
tty.setraw(line)
os.chmod(os.ttyname(line), 0o666)
with open(sys.argv[1] + '.part', 'w') as f:
    f.write(os.ttyname(line))
os.rename(sys.argv[1] + '.part', sys.argv[1])
kept = open(sys.argv[2], 'wb', buffering=0)
body = 'GNGGA,120000.00,4026.4000,N,07956.5500,W,4,09,0.9,300.0,M,-33.0,M,1.0,2003'
check = 0
for c in body.encode():
    check ^= c
sentence = ('$%s*%02X\r\n' % (body, check)).encode()
while True:
    try:
        os.write(host, sentence)
    except BlockingIOError:
        pass
    while select.select([host], [], [], 0.2)[0]:
        kept.write(os.read(host, 4096))
";

struct Program(Child);

impl Program {
    /// Starts one at a host, in a process group of its own.
    fn start(mesh: &Mesh, i: usize, arguments: &[&str]) -> Self {
        use std::os::unix::process::CommandExt as _;
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &mesh.host(i)]).args(arguments);
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let name = arguments[0];
        Self(quiet.process_group(0).spawn().unwrap_or_else(|e| panic!("{name} (.ci/install test): {e}")))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", self.0.id())]).status();
        let _ = self.0.wait();
    }
}

fn octets(hex: &str) -> Vec<u8> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

#[test]
fn a_stations_corrections_reach_the_receiver_two_hops_away_on_route_requests() {
    skip_without_root!();
    let mut mesh = Mesh::line(3);
    fs::set_permissions(mesh.folder(), fs::Permissions::from_mode(0o755)).unwrap();
    mesh.start_all("dsr", &[]);
    let listens = |i: usize, port: u16| {
        move |m: &Mesh| m.run(i, &format!("ss -Hltn sport = :{port}")).1.contains(&format!(":{port}"))
    };

    // The station: its receiver's stream by str2str to gpsd, which Wayhop asks.
    let _str2str = Program::start(&mesh, 0, &["str2str", "-in", "tcpsvr://:3001", "-out", "tcpsvr://:3000"]);
    mesh.until("str2str listens", Duration::from_secs(60), listens(0, 3000));
    let _station = Program::start(&mesh, 0, &["python3", "-c", STATION, EXAMPLE]);
    let _base = Program::start(&mesh, 0, &["gpsd", "-N", "-n", "tcp://127.0.0.1:3000"]);
    let _send = Program::start(&mesh, 0, &[WAYHOP, "corrections", "send", "gpsd://127.0.0.1:2947"]);

    // The node two hops away: its gpsd has a receiver, and corrections.
    let (line, kept) = (mesh.folder().join("line"), mesh.folder().join("kept"));
    let (line_name, kept_name) = (line.display().to_string(), kept.display().to_string());
    let _receiver = Program::start(&mesh, 2, &["python3", "-c", RECEIVER, &line_name, &kept_name]);
    let _receive = Program::start(&mesh, 2, &[WAYHOP, "corrections", "receive", "--station", "2003"]);
    mesh.until("the feed listens", Duration::from_secs(60), listens(2, 2101));
    mesh.until("the receiver is there", Duration::from_secs(60), |_| line.exists());
    let device = fs::read_to_string(&line).unwrap();
    let _rover = Program::start(&mesh, 2, &["gpsd", "-N", "-n", &device, "tcp://127.0.0.1:2101"]);

    let frame = octets(EXAMPLE);
    let got = |kept: &[u8]| kept.windows(frame.len()).filter(|w| *w == frame).count();
    mesh.until("gpsd gives corrections to the receiver", Duration::from_secs(120), |_| {
        got(&fs::read(&kept).unwrap_or_default()) >= 3
    });

    a_recording_goes_the_other_way(&mesh);

    // The way is that of paper 000, section 6.5.1: on Route Requests for the group, passed on by the node between.
    mesh.stop_all();
    let filter = "dsr.option.rreq.targetaddress == 239.192.21.1 && udp.dstport == 2101";
    let mut tshark = Command::new("tshark");
    tshark.args(["-r"]).arg(mesh.capture_file(2)).args(["-Y", filter, "-T", "fields", "-e", "eth.src"]);
    let heard = String::from_utf8(tshark.output().unwrap().stdout).unwrap();
    assert!(heard.lines().any(|l| l == "02:00:0a:00:00:02"), "{heard}");
}

/// Stores what the first client of a feed sends.
const LISTENER: &str = r"
import socket, sys
s = socket.create_connection(('127.0.0.1', 2102))
kept = open(sys.argv[1], 'wb', buffering=0)
while True:
    kept.write(s.recv(4096))
";

/// GPS observations (1077) of station 7 at this second of the week.
fn observations(second: u64) -> Vec<u8> {
    let mut frame = vec![0xd3, 0, 8];
    frame.extend(((1077_u64 << 52) | (7 << 40) | (second * 1000) << 10).to_be_bytes());
    let crc = wayhop_wire::rtcm3::crc24q(&frame).to_be_bytes();
    frame.extend(&crc[1..]);
    frame
}

/// From host 2 to host 0, for another group; as slowly as it was made.
fn a_recording_goes_the_other_way(mesh: &Mesh) {
    const GROUP: &str = "239.192.21.2:2101";
    let (recording, kept) = (mesh.folder().join("station.rtcm3"), mesh.folder().join("listened"));
    fs::write(&recording, (0..4).flat_map(observations).collect::<Vec<u8>>()).unwrap();
    let receive = [
        WAYHOP,
        "corrections",
        "receive",
        "--feed",
        "127.0.0.1:2102",
        "--group",
        GROUP,
        "--from",
        "10.0.0.3",
    ];
    let _receive = Program::start(mesh, 0, &receive);
    mesh.until("the feed listens", Duration::from_secs(60), |m| {
        m.run(0, "ss -Hltn sport = :2102").1.contains(":2102")
    });
    let _listener = Program::start(mesh, 0, &["python3", "-c", LISTENER, &kept.display().to_string()]);
    mesh.until("the group is joined", Duration::from_secs(60), |m| {
        kept.exists() && m.run(0, "ip maddress show dev mesh0").1.contains("239.192.21.2")
    });
    let begun = Instant::now();
    let (ok, said) = mesh
        .run_args(2, &[WAYHOP, "corrections", "send", &recording.display().to_string(), "--group", GROUP]);
    assert!(ok, "{said}");
    assert!(begun.elapsed() >= Duration::from_secs(3), "observations of four seconds");
    mesh.until("the recording comes", Duration::from_secs(30), |_| {
        let kept = fs::read(&kept).unwrap_or_default();
        (0..4).any(|i| kept.windows(14).any(|w| w == observations(i)))
    });
}
