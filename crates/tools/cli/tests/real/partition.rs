//! What programs see of a mesh that parts and comes together again (docs/concepts/partitions.md), over `wayhop node`; and that
//! Wayhop's own tools wait instead of giving up. The emulation's side is in tests/cli/real_programs.rs.
//!
//! Needs root, network namespaces, and ip, nft, ping, python3, curl, iperf3 and dropbear (`.ci/install test`). Without root the
//! tests are skipped with a message; in CI they fail.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::mesh::{Background, Mesh, skip_without_root};

/// What makes searches end soon in a network of this size.
fn quick(protocol: &str) -> &'static [&'static str] {
    match protocol {
        "aodv" => &["protocol.net_diameter=6"],
        _ => &["protocol.max_request_rexmt=3"],
    }
}

/// Starts a shell command at a host; the file gets what it prints.
fn shell(mesh: &Mesh, host: usize, name: &str, command: &str) -> (Background, PathBuf) {
    let out = mesh.folder().join(name);
    let line = format!("exec >{} 2>&1; {command}", out.display());
    (mesh.spawn(host, &["sh", "-c", &line]), out)
}

fn said(file: &PathBuf) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

/// What the server of iperf3 received in each second so far, kbit/s.
fn rates(iperf_server_said: &PathBuf) -> Vec<f64> {
    let said = said(iperf_server_said);
    let rate = |line: &str| {
        let before_the_unit = line.split(" Kbits/sec").next()?.rsplit(' ').next()?;
        before_the_unit.parse().ok()
    };
    said.lines().filter(|l| l.contains(" Kbits/sec")).filter_map(rate).collect()
}

/// A server of dropbear at host 2 that knows the key that comes back.
fn ssh_server(mesh: &Mesh) -> (Background, String) {
    let path = |name: &str| mesh.folder().join(name).to_str().unwrap().to_owned();
    let key = |name: &str| {
        let made = Command::new("dropbearkey").args(["-t", "ed25519", "-f", &path(name)]).output();
        let text = String::from_utf8(made.unwrap().stdout).unwrap();
        text.lines().find(|l| l.starts_with("ssh-ed25519")).unwrap().to_owned()
    };
    key("host");
    fs::create_dir_all(mesh.folder().join("home/.ssh")).unwrap();
    fs::write(mesh.folder().join("home/.ssh/authorized_keys"), key("id") + "\n").unwrap();
    assert!(Command::new("chmod").args(["-R", "go=", &path("home")]).status().unwrap().success());
    // The server sees another home, with our key; nobody else does.
    let line = format!("mount --bind {} $HOME && exec dropbear -F -r {} -p 22", path("home"), path("host"));
    let (server, _) = shell(mesh, 2, "dropbear.txt", &line);
    (server, path("id"))
}

#[test]
fn connections_outlive_a_partition_that_new_ones_are_told_of() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let mut mesh = Mesh::line(3);
        mesh.start_all(protocol, quick(protocol));
        let (_ssh_server, id) = ssh_server(&mesh);
        let server = "exec iperf3 -s -1 -i 1 -f k --forceflush";
        let (_iperf_server, iperf_said) = shell(&mesh, 2, "iperf-server.txt", server);
        let listens = |m: &Mesh| {
            let ports = m.run(2, "ss -Hltn").1;
            ports.contains(":22 ") && ports.contains(":5201 ")
        };
        mesh.until("the servers listen", Duration::from_secs(60), listens);
        mesh.ping(0, 2, 2);

        let (_ping, ping_said) = shell(&mesh, 0, "ping.txt", "exec ping -i 0.5 10.0.0.3");
        let count = "for i in $(seq 1 60); do echo line $i; sleep 0.2; done";
        let ssh = format!("exec dbclient -y -y -i {id} root@10.0.0.3 '{count}'");
        let (ssh, ssh_said) = shell(&mesh, 0, "ssh.txt", &ssh);
        // Longer than the test: what iperf3's client has handed to its kernel when it ends does not count as received.
        let (mut iperf, _) = shell(&mesh, 0, "iperf.txt", "exec iperf3 -c 10.0.0.3 -t 3600 -b 500K");
        mesh.until("iperf3 is under way", Duration::from_secs(60), |_| {
            rates(&iperf_said).iter().any(|r| *r > 0.0)
        });
        mesh.until("ssh is under way", Duration::from_secs(60), |_| said(&ssh_said).contains("line 3\n"));

        mesh.part(1);
        // Until the search has failed packets wait; then the program hears that there is no way.
        mesh.until("ping is told", Duration::from_secs(60), |_| {
            said(&ping_said).contains("From 10.0.0.1 icmp_seq=")
                && said(&ping_said).contains("Destination Host Unreachable")
        });
        let (curl, curl_said) =
            shell(&mesh, 0, "curl.txt", "exec curl -sS --max-time 60 http://10.0.0.3:5201/");
        let connect = "import socket; socket.create_connection(('10.0.0.3', 5201), 60)";
        let (ok, python) = mesh.run_args(0, &["python3", "-c", connect]);
        assert!(!ok && python.contains("No route to host"), "{python}");
        assert!(!curl.wait() && said(&curl_said).contains("Failed to connect"), "{}", said(&curl_said));
        // Established connections go on trying.
        let before = said(&ssh_said);
        assert!(!before.contains("line 60\n"));
        assert_eq!(rates(&iperf_said).last(), Some(&0.0), "{protocol}: nothing comes through");
        assert!(!iperf.has_ended(), "{protocol}: {}", said(&mesh.folder().join("iperf.txt")));
        mesh.join(1);

        assert!(ssh.wait(), "{protocol}: {}", said(&ssh_said));
        let lines: Vec<String> =
            said(&ssh_said).lines().filter(|l| l.starts_with("line ")).map(str::to_owned).collect();
        assert_eq!(
            lines,
            (1..=60).map(|i| format!("line {i}")).collect::<Vec<_>>(),
            "{protocol}: each once, in order"
        );
        let flows = |_: &Mesh| rates(&iperf_said).last().is_some_and(|r| *r > 0.0);
        mesh.until("iperf3 receives again", Duration::from_secs(120), flows);
        assert!(!iperf.has_ended(), "{protocol}: {}", said(&mesh.folder().join("iperf.txt")));
        let answers = |text: &str| text.matches(" bytes from 10.0.0.3").count();
        let now = answers(&said(&ping_said));
        mesh.until("ping gets answers again", Duration::from_secs(60), |_| answers(&said(&ping_said)) > now);
    }
}

#[test]
fn ctl_waits_for_a_node_and_watches_it_again_when_it_is_back() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    let out = mesh.folder().join("events");
    let socket = mesh.socket("n0");
    let mut ctl = Command::new(crate::mesh::WAYHOP)
        .args(["ctl", "--wait", "--json", "--socket", socket.to_str().unwrap(), "watch"])
        .stdout(fs::File::create(&out).unwrap())
        .stderr(fs::File::create(mesh.folder().join("ctl.txt")).unwrap())
        .spawn()
        .unwrap();
    let events = || said(&out).lines().count();
    for _ in 0..2 {
        mesh.start(0, "aodv", &["control=n0"]);
        let before = events();
        mesh.until("events come", Duration::from_secs(30), |m| {
            m.run(0, "ping -c 1 -W 1 10.0.0.9");
            events() > before
        });
        mesh.kill(0);
    }
    assert!(ctl.try_wait().unwrap().is_none(), "it waits for the next one");
    ctl.kill().unwrap();
    ctl.wait().unwrap();
}

#[test]
fn a_collector_waits_for_its_address_and_goes_on_without_a_network() {
    skip_without_root!();
    let mut mesh = Mesh::line(1);
    let folder = mesh.folder().join("reports");
    let command =
        [crate::mesh::WAYHOP, "collect", "--listen", "10.0.0.1:9465", "--out", folder.to_str().unwrap()];
    let mut collect = mesh.spawn(0, &command);
    sleep(Duration::from_millis(500));
    assert!(!collect.has_ended(), "the address is not there yet");
    mesh.start(0, "dsr", &[]);
    let listens = |m: &Mesh| m.run(0, "ss -Hlun").1.contains("10.0.0.1:9465");
    mesh.until("it listens", Duration::from_secs(60), listens);
    // The node goes, and its address with it; the collector stays.
    mesh.kill(0);
    sleep(Duration::from_millis(500));
    assert!(!collect.has_ended());
    mesh.start(0, "dsr", &[]);
    let report = r#"{"wayhop_report":1,"node":"n1","start_unix_s":1,"number":0,"time_unix_s":1.0}"#;
    let send = format!(
        "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'{report}', ('10.0.0.1', 9465))"
    );
    mesh.until("a report arrives", Duration::from_secs(60), |m| {
        m.run_args(0, &["python3", "-c", &send]);
        fs::read_dir(&folder).is_ok_and(|mut f| f.next().is_some())
    });
}
