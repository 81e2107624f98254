//! A node that runs for months: its configuration is reloaded, its interface disappears and
//! returns, its log is renamed; and the reports of a wireless interface.

use std::fs;
use std::time::Duration;

use crate::mesh::{Mesh, WAYHOP, skip_without_root};

const SECONDS_20: Duration = Duration::from_secs(20);

#[test]
fn a_node_goes_on_when_its_interface_was_taken_away_and_made_again_under_its_name() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let mut mesh = Mesh::line(3);
        for i in 0..3 {
            let control = format!("control=n{i}");
            let sets = [&control, "protocol.active_route_timeout_ms=2500"];
            mesh.start(i, protocol, &sets[..if protocol == "aodv" { 2 } else { 1 }]);
        }
        mesh.ping(0, 2, 2);
        mesh.unplug(1);
        mesh.until("it is missed", SECONDS_20, |m| m.said(1).contains("the interface is gone"));
        assert!(!mesh.try_ping(0, 2), "{protocol}: nothing goes over an interface that is not there");
        // With another link address, as another stick has.
        mesh.plug(1, "02:00:0a:00:00:77");
        mesh.until("it is found", SECONDS_20, |m| m.said(1).contains("the interface is back"));
        mesh.until("the ends reach each other again", Duration::from_secs(30), |m| m.try_ping(0, 2));
        // Longer than a route lives unused: its use is noticed at the new interface, too, and nobody searches again. (Where the
        // processor is busy for the time of two Hellos, links break, and there is another try.)
        let searches = |m: &Mesh| m.counters("n0")["type.rreq"].as_u64().unwrap_or(0);
        mesh.until("routes live while they are used", Duration::from_secs(90), |m| {
            let before = searches(m);
            let (_, said) = m.run(0, "ping -c 25 -i 0.2 -W 3 10.0.0.3");
            said.contains(" 0% packet loss") && searches(m) == before
        });
        let log = mesh.stop(1);
        assert!(!log.contains("cannot attach eBPF"), "{log}");
        let left = mesh.ip(1, "-4 route") + &mesh.ip(1, "-4 address show dev eth1");
        assert!(!left.contains("proto 119") && !left.contains("10.0.0.2"), "{protocol}: {left}");
    }
}

#[test]
fn a_node_killed_after_its_interface_was_remade_leaves_nothing_at_the_new_one() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    mesh.start_all("aodv", &[]);
    mesh.unplug(1);
    mesh.until("it is missed", SECONDS_20, |m| m.said(1).contains("the interface is gone"));
    mesh.plug(1, "02:00:0a:00:00:02");
    mesh.until("it is found", SECONDS_20, |m| m.said(1).contains("the interface is back"));
    mesh.until("the ends reach each other again", Duration::from_secs(30), |m| m.try_ping(0, 1));
    assert!(mesh.ip(1, "-4 route").contains("proto 119"));
    mesh.kill(1);
    mesh.until("nothing is left", SECONDS_20, |m| {
        let left = m.ip(1, "-4 route") + &m.ip(1, "-4 address show dev eth1");
        !left.contains("proto 119") && !left.contains("10.0.0.2")
    });
}

#[test]
fn sighup_has_the_node_take_over_what_may_change_and_say_what_may_not() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    let (file, log) = (mesh.folder().join("node.toml"), mesh.folder().join("node.log"));
    let write = |tun: &str, level: &str, ttl: u32, diameter: u32| {
        let text = format!(
            "interface = \"eth1\"\naddress = \"10.0.0.1/16\"\ntun = \"{tun}\"\nlog = \"{level}\"\nlog_file = \"{}\"\n\
             control = \"hup-{}\"\n[protocol]\nname = \"aodv\"\nactive_route_timeout_ms = {ttl}\nnet_diameter = {diameter}\n",
            log.display(),
            std::process::id()
        );
        fs::write(&file, text).unwrap();
    };
    write("mesh0", "info", 3000, 10);
    // The node's user reads the file and writes the log.
    open_to_all(mesh.folder());
    mesh.start_with(0, &["node", file.to_str().unwrap()]);
    let text = || fs::read_to_string(&log).unwrap_or_default();
    mesh.until("the node is ready", SECONDS_20, |_| text().contains("programs use mesh0"));
    let socket = format!("hup-{}", std::process::id());
    let parameter = |m: &Mesh| {
        let (_, said) = m.run_args(
            0,
            &[
                WAYHOP,
                "ctl",
                "--socket",
                m.socket(&socket).to_str().unwrap(),
                "params",
                "active_route_timeout_ms",
            ],
        );
        said
    };
    assert!(parameter(&mesh).contains("3000"), "{}", parameter(&mesh));

    let renamed = mesh.folder().join("node.log.1");
    fs::rename(&log, &renamed).unwrap();
    write("mesh7", "debug", 4000, 10);
    mesh.signal(0, "-HUP");
    mesh.until("it is read", SECONDS_20, |_| text().contains("protocol.active_route_timeout_ms = 4000"));
    assert!(text().contains("tun cannot change at run time"), "{}", text());
    assert!(!text().contains("net_diameter"), "{}", text());
    assert!(parameter(&mesh).contains("4000"), "{}", parameter(&mesh));
    assert!(!fs::read_to_string(&renamed).unwrap().contains("4000"), "the old file is closed");

    fs::write(&file, "interface = 7\n").unwrap();
    mesh.signal(0, "-HUP");
    mesh.until("the fault is told", SECONDS_20, |_| text().contains("configuration not reloaded"));
    mesh.stop(0);
    assert!(text().contains("info: ends"), "{}", text());
}

fn open_to_all(folder: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777)).unwrap();
}

/// A TAP with the link type of a monitor interface, on which a neighbour's frames are heard with -57 dBm: radiotap (channel
/// and signal) and an IBSS data frame of 02:00:0a:00:00:02.
const MONITOR: &str = r"
import fcntl, os, struct, subprocess, time
tap = os.open('/dev/net/tun', os.O_RDWR)
fcntl.ioctl(tap, 0x400454ca, struct.pack('16sH22x', b'mon0', 0x0002 | 0x1000))  # TUNSETIFF: TAP, no header
fcntl.ioctl(tap, 0x400454cd, 803)  # TUNSETLINK: ARPHRD_IEEE80211_RADIOTAP
subprocess.run(['ip', 'link', 'set', 'mon0', 'up'], check=True)
radiotap = struct.pack('<BBHIHHb', 0, 0, 13, 0x28, 2412, 0x00a0, -57)
frame = struct.pack('<HH', 0x0008, 0) + b'\xff' * 6 + bytes.fromhex('02000a000002') + b'\x02' * 6 + bytes(2) + bytes(40)
while True:
    os.write(tap, radiotap + frame)
    time.sleep(0.05)
";

#[test]
fn signals_of_a_monitor_interface_are_shown_with_neighbours_and_kept_in_captures() {
    skip_without_root!();
    let mut mesh = Mesh::line(2);
    let _monitor = mesh.start_program(0, &["python3", "-c", MONITOR]);
    let socket = format!("signal-{}", std::process::id());
    mesh.start(0, "dsr", &[&format!("control={socket}"), "signal=monitor:mon0"]);
    mesh.start(1, "dsr", &[]);
    mesh.ping(0, 1, 3);
    mesh.until("the signal is shown", SECONDS_20, |m| {
        let (_, said) =
            m.run_args(0, &[WAYHOP, "ctl", "--socket", m.socket(&socket).to_str().unwrap(), "neighbours"]);
        said.lines().any(|l| l.contains("02:00:0a:00:00:02") && l.contains("-57"))
    });
    mesh.ping(0, 1, 3);
    mesh.stop_all();
    let comments = mesh.capture_fields(0, "eth.src == 02:00:0a:00:00:02 && dsr", "frame.comment");
    assert!(comments.iter().filter(|c| *c == "signal -57 dBm").count() >= 3, "{comments:?}");
    let own = mesh.capture_fields(0, "eth.src == 02:00:0a:00:00:01 && dsr", "frame.comment");
    assert!(own.len() >= 6 && own.iter().all(String::is_empty), "{own:?}");
}
