//! Real programs over an emulated mesh: iperf3, curl and an HTTP server, ssh. Needs root and Debian's iperf3, curl, python3
//! and dropbear-bin.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{ConnectionEvent, RunDir, Tables};

use crate::emulate::{CHAIN, ask, background, skip_without_root};
use crate::{folder, run_in};

/// The chain of five nodes without flows, and these programs.
fn chain(head: &str, programs: &str) -> String {
    let nodes =
        CHAIN.split("[[traffic]]").next().unwrap_or_default().replace("duration_s = 30", "duration_s = 600");
    format!("{head}\nprotocol.name = \"aodv\"\n{nodes}{programs}")
}

/// Programs run with the lowest priority: on a busy machine Python alone takes half a minute to start.
fn wait(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(120);
    while !is_so() {
        assert!(Instant::now() < until, "not within 120 s: {what}");
        sleep(Duration::from_millis(20));
    }
}

/// The node is up again before anybody hears that its program has ended: that end is no failure, and the program runs once.
#[test]
fn a_program_that_an_outage_of_a_millisecond_ended_is_started_once() {
    skip_without_root!();
    let program = "[[programs]]\nnode = 0\ncommand = [\"sh\", \"-c\", \"echo started; sleep 60\"]\n\
                   output = \"a.txt\"\nrestart = \"on-failure\"\n\
                   [[outages]]\nnode = 0\nstart_s = 3\nlength_s = 0.001\ntables = \"lost\"\n";
    let text = chain("", program).replace("duration_s = 600", "duration_s = 7");
    let dir = folder(&[("s.toml", &text)]);
    let ran = run_in(dir.path(), &["emulate", "s.toml", "--out", "run", "--quiet", "--trust"]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let read = |file: &str| fs::read_to_string(dir.path().join("run").join(file)).expect(file);
    let summary: Value = serde_json::from_str(&read("summary.json")).expect("JSON");
    assert!(summary["program_exits"].is_null(), "{summary}");
    // A busy machine may not have started it before the outage.
    assert!((1..=2).contains(&read("programs/a.txt").lines().count()));
}

#[test]
fn iperf3_measures_what_four_hops_carry() {
    skip_without_root!();
    let server = "[[programs]]\nnode = 4\ncommand = [\"sh\", \"-c\", \"iperf3 -s -1 >/dev/null\"]\n";
    let dir = folder(&[("s.toml", &chain("", server))]);
    // Until the server listens, the client ends with an error.
    let script = "until said=$(iperf3 -c mesh-4 -t 10 -J); do sleep 0.1; done; echo \"$said\"";
    let run = ["emulate", "s.toml", "--out", "run", "--quiet", "--node", "0", "--", "sh", "-c", script];
    let out = run_in(dir.path(), &run).json();
    let bps = out["end"]["sum_received"]["bits_per_second"].as_f64().expect("a rate");
    connections_are_those_of(&out, dir.path());
    // ns-2 carries 387 kb/s of saturating UDP over these four hops, and 221 of TCP over five minutes (bench/README.md); in ten
    // seconds one search for a route, and the timeout after it, may take the most.
    assert!((50e3..400e3).contains(&bps), "{bps}");
}

/// The table `connections` has the client's transfer as iperf3 counted it, and a figure shows it.
fn connections_are_those_of(iperf3: &Value, dir: &Path) {
    let local_port = iperf3["start"]["connected"][0]["local_port"].as_u64().expect("the transfer's port");
    let run = RunDir::open(dir.join("run"), CLASSIFIER).expect("the run");
    let (mut client, mut server) = (Vec::new(), Vec::new());
    let mut keep = |e: ConnectionEvent| {
        let ends = e.connection.ends;
        match (e.node.0, u64::from(ends.local_port), u64::from(ends.remote_port)) {
            (0, port, 5201) if port == local_port => client.push(e),
            (4, 5201, port) if port == local_port => server.push(e),
            _ => {}
        }
        Ok(())
    };
    Tables::of(&run, "aodv").connections(&mut keep).expect("the table");
    // Ten looks a second while something changes; on a busy machine there are far fewer.
    assert!(client.len() >= 5 && server.len() >= 5, "{} and {} looks", client.len(), server.len());
    let last = client.last().expect("a look").connection;
    let written = iperf3["end"]["sum_sent"]["bytes"].as_u64().expect("octets");
    let taken = iperf3["end"]["sum_received"]["bytes"].as_u64().expect("octets");
    assert!(last.acked <= last.sent - last.sent_again && last.sent - last.sent_again <= written, "{last:?}");
    assert!(last.acked * 2 > taken, "{last:?}, and {taken} arrived");
    assert!(last.srtt.is_some() && last.segment > 1_000, "{last:?}");
    let received = server.last().expect("a look").connection.received;
    assert!(received >= last.acked / 2 && received <= written, "{received}; {last:?}");
    // Time only passes, and octets only become more.
    for pair in client.windows(2) {
        assert!(pair[0].time < pair[1].time && pair[0].connection.acked <= pair[1].connection.acked);
    }
    run_in(dir, &["plot", "sequence", "run", "--out", "sequence.svg"]).ok();
    let picture = fs::read_to_string(dir.join("sequence.svg")).expect("a picture");
    assert!(picture.contains(&format!("{}:{local_port} to ", last.ends.local)), "{picture}");
    let numbers = fs::read_to_string(dir.join("sequence.csv")).expect("its numbers");
    assert!(numbers.contains("acknowledged"), "{numbers}");
}

#[test]
fn curl_gets_a_file_whole_although_the_mesh_parts_in_the_middle() {
    skip_without_root!();
    let name = format!("p{}", std::process::id());
    let dir = folder(&[]);
    let body: Vec<u8> = (0..400_000_u32).map(|i| (i * 31 % 251) as u8).collect();
    // A program of a scenario does not see /tmp, where folders of tests are: it makes the same file.
    let serve = r#"
[[programs]]
node = 4
command = ["sh", "-c", """python3 -c 'open("file.bin", "wb").write(bytes(i * 31 % 251 for i in range(400000)))'
exec python3 -m http.server 80"""]
"#;
    // A network of this size is asked in half a second, so that discoveries go on soon after the cut; with the default
    // NET_DIAMETER of 35 they may wait for 11 s (RFC 3561 section 6.3), and TCP for longer.
    let head = format!("name = \"{name}\"\nprotocol.net_diameter = 6");
    fs::write(dir.path().join("s.toml"), chain(&head, serve)).expect("a file");
    let run = background(dir.path());
    let pid = run.id().to_string();
    let socket = Path::new("/run/wayhop").join(format!("{name}.sock"));
    let got = dir.path().join("got.bin");
    wait("the server listens", || {
        run_in(dir.path(), &["exec", "--run", &pid, "4", "--", "ss", "-Hltn"]).out.contains(":80 ")
    });
    let mut curl = crate::wayhop()
        .args(["exec", "--run", &pid, "0", "--", "curl", "-sS", "--max-time", "300", "-o"])
        .arg(&got)
        .arg("http://mesh-4/file.bin")
        .spawn()
        .expect("curl runs");
    let size = || fs::metadata(&got).map_or(0, |m| m.len());
    wait("the file begins to come", || size() >= 20_000);
    let link =
        |state: &str| ask(&socket, &format!(r#""do": "set-link", "a": 1, "b": 2, "state": "{state}""#));
    link("down");
    // What had got through by then is written down whenever curl has its turn.
    wait("nothing gets through", || {
        let before = size();
        sleep(Duration::from_secs(2));
        size() == before
    });
    assert!(size() < body.len() as u64, "the cut comes in the middle");
    link("model");
    assert!(curl.wait().expect("curl ended").success());
    assert_eq!(fs::read(&got).expect("the file"), body);
    ask(&socket, r#""do": "quit""#);
    run.wait_with_output().expect("it ended");
}

#[test]
fn ssh_logs_in_over_the_mesh() {
    skip_without_root!();
    let dir = folder(&[]);
    let path = |name: &str| dir.path().join(name).to_str().expect("UTF-8").to_owned();
    let key = |name: &str| {
        let made = Command::new("dropbearkey").args(["-t", "ed25519", "-f", &path(name)]).output();
        let text = String::from_utf8(made.expect("dropbearkey runs").stdout).expect("UTF-8");
        text.lines().find(|l| l.starts_with("ssh-ed25519")).expect("a public key").to_owned()
    };
    key("host");
    fs::create_dir_all(dir.path().join("home/.ssh")).expect("a folder");
    fs::write(dir.path().join("home/.ssh/authorized_keys"), key("id") + "\n").expect("a file");
    let chmod = Command::new("chmod").args(["-R", "go=", &path("")]).status().expect("chmod runs");
    assert!(chmod.success());
    // The server sees another home, with our key; nobody else does.
    let server = format!(
        "[[programs]]\nnode = 4\ncommand = [\"sh\", \"-c\", \"mount --bind {} $HOME && exec dropbear -F -r {} -p 22\"]\n",
        path("home"),
        path("host")
    );
    fs::write(dir.path().join("s.toml"), chain("", &server)).expect("a file");
    let login = format!("dbclient -y -y -i {} root@mesh-4 'hostname -I' 2>/dev/null", path("id"));
    let script = format!("until {login}; do sleep 0.1; done");
    let trusted =
        ["emulate", "s.toml", "--no-out", "--quiet", "--trust", "--node", "0", "--", "sh", "-c", &script];
    assert_eq!(run_in(dir.path(), &trusted).ok().trim(), "10.0.0.5");
}
