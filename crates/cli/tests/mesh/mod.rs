//! A line of hosts on one Ethernet, each in a network namespace: host I hears I - 1 and I + 1 only.

#![allow(dead_code, reason = "each program of tests uses some of it")]

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// The command under test.
pub(crate) const WAYHOP: &str = env!("CARGO_BIN_EXE_wayhop");

/// Whether this machine lets the test run; in CI it has to.
pub(crate) fn may_run() -> bool {
    let root = Command::new("id").arg("-u").output().is_ok_and(|o| o.stdout == b"0\n");
    assert!(root || std::env::var_os("CI").is_none(), "these tests need root in CI");
    if !root {
        eprintln!("skipped: needs root");
    }
    root
}

/// The hosts, and the nodes on them.
pub(crate) struct Mesh {
    /// Names of the hub's namespace and of the hosts'.
    hub: String,
    hosts: Vec<String>,
    nodes: Vec<Option<Child>>,
    folder: TempDir,
}

impl Mesh {
    /// Hosts with an interface `eth1` each, that is up, and has the link address 02:00:0a:00:00:01 and so on.
    pub(crate) fn line(n: usize) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("wht{}x{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let hub = format!("{name}h");
        let mesh = Self {
            hosts: (0..n).map(|i| format!("{name}n{i}")).collect(),
            nodes: (0..n).map(|_| None).collect(),
            folder: tempfile::tempdir().unwrap(),
            hub,
        };
        let hub = &mesh.hub;
        run_ip(&format!("netns add {hub}"));
        run_ip(&format!("-n {hub} link add br0 type bridge ageing_time 0 mcast_snooping 0"));
        run_ip(&format!("-n {hub} link set br0 up"));
        for (i, host) in mesh.hosts.iter().enumerate() {
            run_ip(&format!("netns add {host}"));
            let mac = format!("02:00:0a:00:00:{:02x}", i + 1);
            run_ip(&format!("-n {host} link add eth1 address {mac} type veth peer name p{i} netns {hub}"));
            run_ip(&format!("-n {host} link set eth1 up"));
            run_ip(&format!("-n {host} link set lo up"));
            run_ip(&format!("-n {hub} link set p{i} master br0 up"));
        }
        mesh.filter();
        mesh
    }

    /// Frames go to the hosts next to the sender's only.
    fn filter(&self) {
        let mut rules =
            "table bridge wayhop {\n chain apart {\n type filter hook forward priority 0;\n".to_owned();
        for to in 0..self.hosts.len() {
            for from in (0..self.hosts.len()).filter(|f| f.abs_diff(to) > 1) {
                let _ =
                    writeln!(rules, " oifname \"p{to}\" ether saddr 02:00:0a:00:00:{:02x} drop", from + 1);
            }
        }
        rules += " }\n}\n";
        let mut nft = Command::new("ip")
            .args(["netns", "exec", &self.hub, "nft", "-f", "-"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        nft.stdin.take().unwrap().write_all(rules.as_bytes()).unwrap();
        assert!(nft.wait().unwrap().success());
    }

    /// Starts a node, and waits until it is ready.
    pub(crate) fn start(&mut self, i: usize, protocol: &str, sets: &[&str]) {
        let log = File::create(self.log(i)).unwrap();
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.hosts[i], WAYHOP, "node", "--interface", "eth1"]);
        command.args(["--address", &format!("10.0.0.{}/16", i + 1), "--protocol", protocol]);
        command.arg("--set").arg(format!("capture.file={}", self.capture_file(i)));
        for set in sets {
            command.args(["--set", set]);
        }
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        self.nodes[i] = Some(child);
        self.until("the node is ready", Duration::from_secs(20), |m| {
            let log = fs::read_to_string(m.log(i)).unwrap();
            assert!(!log.contains("wayhop: "), "{log}");
            log.contains("programs use mesh0")
        });
    }

    /// Starts a node on every host.
    pub(crate) fn start_all(&mut self, protocol: &str, sets: &[&str]) {
        (0..self.hosts.len()).for_each(|i| self.start(i, protocol, sets));
    }

    /// Ends a node in good order; returns what it said.
    pub(crate) fn stop(&mut self, i: usize) -> String {
        if let Some(mut child) = self.nodes[i].take() {
            assert!(child.try_wait().unwrap().is_none(), "{}", fs::read_to_string(self.log(i)).unwrap());
            signal("-TERM", child.id());
            assert!(child.wait().unwrap().success());
        }
        fs::read_to_string(self.log(i)).unwrap_or_default()
    }

    /// Ends all nodes in good order.
    pub(crate) fn stop_all(&mut self) {
        (0..self.hosts.len()).for_each(|i| drop(self.stop(i)));
    }

    /// Kills a node.
    pub(crate) fn kill(&mut self, i: usize) {
        let mut child = self.nodes[i].take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    /// Runs a command at a host: whether it succeeded, and what it said.
    pub(crate) fn run(&self, i: usize, command: &str) -> (bool, String) {
        self.run_args(i, &command.split(' ').collect::<Vec<_>>())
    }
    /// As [`Mesh::run`].
    pub(crate) fn run_args(&self, i: usize, command: &[&str]) -> (bool, String) {
        let done = Command::new("ip").args(["netns", "exec", &self.hosts[i]]).args(command).output().unwrap();
        let said = String::from_utf8_lossy(&done.stdout) + String::from_utf8_lossy(&done.stderr);
        (done.status.success(), said.into_owned())
    }
    /// Runs `ip` at a host.
    pub(crate) fn ip(&self, i: usize, arguments: &str) -> String {
        run_ip(&format!("-n {} {arguments}", self.hosts[i]))
    }

    /// Pings from host to host; nothing may be lost.
    pub(crate) fn ping(&self, from: usize, to: usize, count: usize) {
        let (ok, said) = self.run(from, &format!("ping -c {count} -i 0.2 -W 3 10.0.0.{}", to + 1));
        assert!(ok && said.contains(" 0% packet loss"), "{said}");
    }
    /// Whether one ping comes back.
    pub(crate) fn try_ping(&self, from: usize, to: usize) -> bool {
        self.run(from, &format!("ping -c 1 -W 1 10.0.0.{}", to + 1)).0
    }
    /// Pings until the value is dropped.
    pub(crate) fn start_ping(&self, from: usize, to: usize) -> Background {
        let ping = ["ping", "-i", "0.05", &format!("10.0.0.{}", to + 1)].map(str::to_owned);
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.hosts[from]]).args(ping).stdout(Stdio::null());
        let ping = command.spawn().unwrap();
        sleep(Duration::from_millis(300));
        Background(ping)
    }

    /// All that a node changes of its host: interfaces, addresses, routes, rules, tables of filters, settings.
    pub(crate) fn host_state(&self, i: usize) -> String {
        let mut state = String::new();
        for what in ["-o -br link", "-o -4 -br address", "-4 route show table all", "rule"] {
            state += &self.ip(i, what);
        }
        for what in [
            "nft list ruleset",
            "sysctl net.ipv4.conf.eth1 net.ipv4.conf.all net.ipv4.ip_forward",
            "ls /run/wayhop",
        ] {
            state += &self.run(i, what).1;
        }
        state
    }

    /// Waits until something is so.
    pub(crate) fn until(&self, what: &str, limit: Duration, is_so: impl Fn(&Self) -> bool) {
        let begun = Instant::now();
        while !is_so(self) {
            if begun.elapsed() > limit {
                let logs: Vec<_> = (0..self.hosts.len()).map(|i| fs::read_to_string(self.log(i))).collect();
                panic!("not within {limit:?}: {what}; {logs:?}");
            }
            sleep(Duration::from_millis(20));
        }
    }

    /// What tshark shows of a node's capture through a display filter, one line a frame. The node has ended.
    pub(crate) fn capture(&self, i: usize, filter: &str) -> Vec<String> {
        let shown = Command::new("tshark")
            .args(["-r", &self.capture_file(i), "-Y", filter])
            .stderr(Stdio::null())
            .output()
            .unwrap();
        assert!(shown.status.success());
        String::from_utf8_lossy(&shown.stdout).lines().map(str::to_owned).collect()
    }

    fn capture_file(&self, i: usize) -> String {
        self.folder.path().join(format!("{i}.pcapng")).display().to_string()
    }
    fn log(&self, i: usize) -> std::path::PathBuf {
        self.folder.path().join(format!("{i}.log"))
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        for mut node in self.nodes.iter_mut().filter_map(Option::take) {
            let _ = node.kill();
            let _ = node.wait();
        }
        for name in self.hosts.iter().chain([&self.hub]) {
            let _ = Command::new("ip").args(["netns", "del", name]).output();
        }
    }
}

/// A program that runs until this is dropped.
pub(crate) struct Background(Child);

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn signal(which: &str, process: u32) {
    assert!(Command::new("kill").args([which, &process.to_string()]).status().unwrap().success());
}

fn run_ip(arguments: &str) -> String {
    let done = Command::new("ip").args(arguments.split(' ')).output().unwrap();
    assert!(done.status.success(), "ip {arguments}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8_lossy(&done.stdout).into_owned()
}
