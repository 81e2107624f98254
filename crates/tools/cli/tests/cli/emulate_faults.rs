//! `wayhop emulate` with programs that send garbage, clients that request it, and a kill in
//! mid-transfer. Needs root and Debian's iputils-ping, curl and python3.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::emulate::{CHAIN, ask, background, skip_without_root};
use crate::{data, folder, run_in, wayhop};

/// More memory than five nodes need, KiB.
const MOST_MEMORY_KIB: u64 = 128 << 10;

struct Run {
    dir: tempfile::TempDir,
    process: Child,
    socket: PathBuf,
}

impl Run {
    fn begin(protocol: &str, what: &str) -> Self {
        let name = format!("{what}-{protocol}-{}", std::process::id());
        let nodes = CHAIN.split("[[traffic]]").next().unwrap().replace("duration_s = 30", "duration_s = 600");
        let text = format!(
            "name = \"{name}\"\nprotocol.name = \"{protocol}\"\n{}{nodes}",
            if protocol == "aodv" { "protocol.net_diameter = 6\n" } else { "" }
        );
        let dir = folder(&[("s.toml", &text)]);
        let process = background(dir.path());
        Self { dir, process, socket: Path::new("/run/wayhop").join(format!("{name}.sock")) }
    }

    fn pid(&self) -> String {
        self.process.id().to_string()
    }
    fn exec(&self, node: &str, command: &[&str]) -> crate::Ran {
        run_in(self.dir.path(), &[&["exec", "--run", &self.pid(), node, "--"], command].concat())
    }
    fn most_memory_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("it runs");
        let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:")).expect("a line");
        line.trim_end_matches("kB").trim().parse().expect("a number")
    }
    /// Waits until the ends of the chain reach each other.
    fn until_it_carries(&self) {
        let until = Instant::now() + Duration::from_secs(60);
        while self.exec("0", &["ping", "-c", "1", "-W", "2", "mesh-4"]).status != Some(0) {
            assert!(Instant::now() < until, "the mesh does not carry packets any more");
        }
    }
    fn end(self) {
        ask(&self.socket, r#""do": "quit""#);
        assert_eq!(self.process.wait_with_output().expect("it ended").status.code(), Some(0));
    }
}

#[test]
fn half_a_million_junk_packets_neither_stop_an_emulation_nor_fill_its_memory() {
    skip_without_root!();
    for protocol in ["dsr", "aodv"] {
        let run = Run::begin(protocol, "nonsense");
        run.exec("0", &["python3", &data("nonsense.py"), "250000"]).ok();
        run.until_it_carries();
        let most = run.most_memory_kib();
        assert!(most < MOST_MEMORY_KIB, "{protocol}: {most} KiB");
        run.end();
    }
}

#[test]
fn garbage_at_the_control_socket_of_an_emulation_does_no_harm() {
    skip_without_root!();
    let run = Run::begin("aodv", "garbage");
    let garbage = Command::new("python3")
        .args([&data("garbage.py"), run.socket.to_str().expect("UTF-8"), "20000"])
        .output()
        .expect("python3");
    assert!(garbage.status.success(), "{}", String::from_utf8_lossy(&garbage.stderr));
    let most = run.most_memory_kib();
    assert!(most < MOST_MEMORY_KIB, "{most} KiB");
    run.until_it_carries();
    run.end();
}

#[test]
fn an_emulation_killed_in_the_middle_of_a_download_leaves_nothing_behind() {
    skip_without_root!();
    let interfaces = || Command::new("ip").args(["-o", "link"]).output().expect("ip").stdout;
    let before = interfaces();
    let mut run = Run::begin("aodv", "killed");
    let pid = run.pid();
    let exec = |node: &str, command: &[&str]| {
        let args = [&["exec", "--run", &pid, node, "--"], command].concat();
        wayhop().args(args).stderr(std::process::Stdio::null()).spawn().expect("it runs")
    };
    let got = run.dir.path().join("got");
    fs::write(run.dir.path().join("file"), vec![7; 1_000_000]).expect("a file");
    let mut server =
        exec("4", &["python3", "-m", "http.server", "80", "-d", run.dir.path().to_str().unwrap()]);
    let until = Instant::now() + Duration::from_secs(120);
    while !run.exec("4", &["ss", "-Hltn"]).out.contains(":80 ") {
        assert!(Instant::now() < until, "the server does not listen");
        sleep(Duration::from_millis(50));
    }
    // It gives up when nothing has come for a while, as after the kill.
    let patience = ["--connect-timeout", "60", "--speed-limit", "1", "--speed-time", "20"];
    let to = ["-o", got.to_str().unwrap(), "http://mesh-4/file"];
    let mut curl = exec("0", &[&["curl", "-sSN"], &patience[..], &to].concat());
    while fs::metadata(&got).map_or(0, |m| m.len()) < 10_000 {
        assert!(curl.try_wait().expect("curl").is_none(), "curl gave up");
        sleep(Duration::from_millis(20));
    }
    run.process.kill().expect("it ran");
    run.process.wait().expect("it ended");
    assert_eq!(interfaces(), before);
    // The program's network is disconnected now; it gives up by itself.
    assert!(!curl.wait().expect("curl").success());
    server.kill().expect("it ran");
    server.wait().expect("it ended");
    // The next run of the same name takes the place of the dead one's socket.
    let next = background(run.dir.path());
    let next = Run { dir: run.dir, process: next, socket: run.socket };
    next.until_it_carries();
    next.end();
    assert_eq!(interfaces(), before);
}

#[test]
fn what_killed_runs_left_is_removed_by_the_next() {
    skip_without_root!();
    let dir = folder(&[("s.toml", CHAIN)]);
    let runtime = dir.path().join("run");
    std::fs::create_dir_all(runtime.join("lab-4294967295")).expect("a folder");
    for name in ["s", "chain-77"] {
        drop(std::os::unix::net::UnixListener::bind(runtime.join(format!("{name}.sock"))).expect("a socket"));
    }
    let living = std::os::unix::net::UnixListener::bind(runtime.join("living.sock")).expect("a socket");
    let run = wayhop()
        .args(["emulate", "s.toml", "--no-out", "--quiet", "--duration", "0.1"])
        .env("WAYHOP_RUNTIME_DIR", &runtime)
        .current_dir(dir.path())
        .output();
    crate::Ran::of(&run.expect("the program runs")).ok();
    let left: Vec<_> =
        std::fs::read_dir(&runtime).expect("a folder").map(|f| f.expect("a file").file_name()).collect();
    assert_eq!(left, ["living.sock"]);
    drop(living);
}

#[test]
fn a_run_that_cannot_begin_leaves_the_older_one_in_its_directory_alone() {
    skip_without_root!();
    let dir = folder(&[("s.toml", CHAIN)]);
    run_in(dir.path(), &["run", "s.toml", "--out", "r", "--quiet"]).ok();
    let before = run_in(dir.path(), &["export", "csv", "r", "packets"]).ok();
    // A documentation address (RFC 5737) is nobody's.
    let metrics = ["emulate", "s.toml", "--out", "r", "--metrics", "192.0.2.77:9464"];
    let message = run_in(dir.path(), &metrics).failure(1);
    assert!(message.contains("cannot listen on 192.0.2.77:9464"), "{message}");
    for world in ["emulate", "lab"] {
        // Root, but without the right to make namespaces.
        let run = std::process::Command::new("setpriv")
            .args([
                "--bounding-set",
                "-sys_admin",
                env!("CARGO_BIN_EXE_wayhop"),
                world,
                "s.toml",
                "--out",
                "r",
            ])
            .current_dir(dir.path())
            .output();
        let message = crate::Ran::of(&run.expect("setpriv runs")).failure(1);
        assert!(message.contains("Operation not permitted"), "{message}");
    }
    assert_eq!(run_in(dir.path(), &["export", "csv", "r", "packets"]).ok(), before);
}
