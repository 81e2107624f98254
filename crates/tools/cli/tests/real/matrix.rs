//! The whole chain of a matrix of attenuators: positions, solver, driver, box, emulated radios, real pings.
//!
//! Needs root and network namespaces. Without root the tests are skipped with a message; in CI they fail.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::mesh::{WAYHOP, skip_without_root};

/// Two nodes that the scenario leaves side by side.
const SCENARIO: &str = r#"
name = "cabled"
duration_s = 300
nodes.count = 2
movement = { kind = "chain", spacing_m = 10 }
protocol = { name = "dsr" }
[[programs]]
node = 0
command = ["ping", "-n", "-i", "0.2", "mesh-1"]
output = "ping.txt"
"#;

/// A process that ends with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

fn start(folder: &Path, args: &[&str]) -> Process {
    let mut command = Command::new(WAYHOP);
    command.args(args).current_dir(folder).env("WAYHOP_RUNTIME_DIR", folder.join("sockets"));
    let errors = fs::File::options().create(true).append(true).open(folder.join("errors.txt")).unwrap();
    Process(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(errors).spawn().unwrap())
}

/// Replies to pings so far.
fn replies(folder: &Path) -> usize {
    let text = fs::read_to_string(folder.join("run/programs/ping.txt")).unwrap_or_default();
    text.lines().filter(|l| l.contains("bytes from")).count()
}

fn until(what: &str, holds: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "waited too long until {what}");
        sleep(Duration::from_millis(100));
    }
}

/// The feed of positions, as the paper's programs send them.
fn stand(feed: &mut ChildStdin, apart_m: f64) {
    let line = format!(
        "<positions><node id=\"0\" x=\"0\" y=\"0\"/><node id=\"1\" x=\"{apart_m}\" y=\"0\"/></positions>"
    );
    writeln!(feed, "{line}").unwrap();
}

#[test]
fn attenuators_carry_pings_as_far_as_the_positions_say_though_connections_break() {
    skip_without_root!();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    fs::write(folder.join("cabled.toml"), SCENARIO).unwrap();
    let _emulation = start(folder, &["emulate", "cabled.toml", "--quiet", "--out", "run"]);
    until("pings are answered by radio", || replies(folder) > 3);

    // A box that breaks each connection after five commands; all its attenuators are at their strongest.
    let args = ["matrix", "fake", "--radios", "2", "--buses", "2", "--run", "cabled", "--break-after", "5"];
    let mut fake = start(folder, &args);
    let mut address = String::new();
    BufReader::new(fake.0.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let stops = || {
        until("pings stop", || {
            let before = replies(folder);
            sleep(Duration::from_secs(2));
            replies(folder) == before
        });
    };
    stops();

    let args = ["matrix", "drive", "--feed", "-", "--radios", "2", "--buses", "2", "--out", "run", "--box"];
    let mut drive = start(folder, &[&args[..], &[address.trim()]].concat());
    let mut feed = drive.0.stdin.take().unwrap();
    for _ in 0..2 {
        let before = replies(folder);
        stand(&mut feed, 100.0);
        until("pings are answered over the box", || replies(folder) >= before + 5);
        // In free space, with the radio's sensitivity: far out of range.
        stand(&mut feed, 90_000.0);
        stops();
    }
    let log = fs::read_to_string(folder.join("run/matrix.jsonl")).unwrap();
    let lines: Vec<serde_json::Value> = log.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert!(lines.iter().any(|l| l["places_m"][1][0] == 90_000.0) && lines.len() > 4, "{log}");
    let errors = fs::read_to_string(folder.join("errors.txt")).unwrap();
    assert!(errors.contains("keeping its last settings") && errors.contains("answers again"), "{errors}");
}
