//! A line of hosts on one Ethernet, each in a network namespace: host I hears I - 1 and I + 1 only.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
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

/// Ends a test here, as passed, if this machine does not let it run.
macro_rules! skip_without_root {
    () => {
        if !crate::mesh::may_run() {
            return;
        }
    };
}
pub(crate) use skip_without_root;

/// What `wayhop` does with a scenario, `s.toml`, in a folder of its own.
pub(crate) fn run_scenario(text: &str, arguments: &[&str]) -> (Output, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.toml"), text).unwrap();
    let done = Command::new(WAYHOP).args(arguments).current_dir(folder.path()).output().unwrap();
    (done, folder)
}

/// The hosts, and the nodes on them.
pub(crate) struct Mesh {
    /// Names of the hub's namespace and of the hosts'.
    hub: String,
    hosts: Vec<String>,
    nodes: Vec<Option<Child>>,
    folder: TempDir,
    /// Where logs and captures are written.
    files: PathBuf,
    /// What the nodes' environment has besides.
    environment: Vec<(String, String)>,
}

impl Mesh {
    /// Hosts with an interface `eth1` each, that is up, and has the link address 02:00:0a:00:00:01 and so on.
    pub(crate) fn line(n: usize) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let name = format!("wht{}x{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let hub = format!("{name}h");
        let folder = tempfile::tempdir().unwrap();
        // Nodes that are not root any more write into it, and their sockets are beside it.
        let files = folder.path().join("files");
        fs::create_dir(&files).unwrap();
        let sockets = folder.path().join("run").display().to_string();
        let mesh = Self {
            hosts: (0..n).map(|i| format!("{name}n{i}")).collect(),
            nodes: (0..n).map(|_| None).collect(),
            folder,
            files,
            environment: vec![("WAYHOP_RUNTIME_DIR".to_owned(), sockets)],
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

    /// Takes a host off the Ethernet, or puts it back; it sees no difference but silence.
    pub(crate) fn part(&self, i: usize) {
        run_ip(&format!("-n {} link set p{i} nomaster", self.hub));
    }
    /// Ends what [`Mesh::part`] began.
    pub(crate) fn join(&self, i: usize) {
        run_ip(&format!("-n {} link set p{i} master br0", self.hub));
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

    /// A cable between two hosts, whose interfaces have these names and addresses.
    pub(crate) fn cable(
        &self,
        (a, name_a, addr_a): (usize, &str, &str),
        (b, name_b, addr_b): (usize, &str, &str),
    ) {
        let (host_a, host_b) = (&self.hosts[a], &self.hosts[b]);
        run_ip(&format!("-n {host_a} link add {name_a} type veth peer name {name_b} netns {host_b}"));
        for (host, name, addr) in [(host_a, name_a, addr_a), (host_b, name_b, addr_b)] {
            run_ip(&format!("-n {host} address add {addr} dev {name}"));
            run_ip(&format!("-n {host} link set {name} up"));
        }
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
        command.envs(self.environment.clone());
        let child = command.stdout(Stdio::null()).stderr(log).spawn().unwrap();
        self.nodes[i] = Some(child);
        self.until("the node is ready", Duration::from_secs(20), |m| {
            let log = fs::read_to_string(m.log(i)).unwrap();
            assert!(!log.contains("wayhop: "), "{log}");
            log.contains("programs use mesh0")
        });
    }

    /// Starts a node with these arguments.
    pub(crate) fn start_with(&mut self, i: usize, arguments: &[&str]) {
        self.start_as(i, &[WAYHOP], arguments);
    }

    /// Starts a node by a command, which gets these arguments.
    pub(crate) fn start_as(&mut self, i: usize, by: &[&str], arguments: &[&str]) {
        let log = File::create(self.log(i)).unwrap();
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.hosts[i]]).args(by).args(arguments);
        command.envs(self.environment.clone());
        self.nodes[i] = Some(command.stdout(Stdio::null()).stderr(log).spawn().unwrap());
    }

    /// What a node has said.
    pub(crate) fn said(&self, i: usize) -> String {
        fs::read_to_string(self.log(i)).unwrap_or_default()
    }

    /// Takes a host's interface away.
    pub(crate) fn unplug(&self, i: usize) {
        self.ip(i, "link del eth1");
    }
    /// Gives it one of the same name.
    pub(crate) fn plug(&self, i: usize, mac: &str) {
        let (host, hub) = (&self.hosts[i], &self.hub);
        run_ip(&format!("-n {host} link add eth1 address {mac} type veth peer name p{i} netns {hub}"));
        run_ip(&format!("-n {hub} link set p{i} master br0 up"));
        run_ip(&format!("-n {host} link set eth1 up"));
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

    /// Asks a node to end; its exit status.
    pub(crate) fn end(&mut self, i: usize) -> Option<i32> {
        signal("-TERM", self.pid(i));
        self.end_by_itself(i)
    }
    /// Waits until a node ends; its exit status.
    pub(crate) fn end_by_itself(&mut self, i: usize) -> Option<i32> {
        self.nodes[i].take().unwrap().wait().unwrap().code()
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

    /// The namespace of a host.
    pub(crate) fn host(&self, i: usize) -> String {
        self.hosts[i].clone()
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
        self.ping_address(from, &format!("10.0.0.{}", to + 1), count);
    }
    /// Pings an address; nothing may be lost. What ping said.
    pub(crate) fn ping_address(&self, from: usize, to: &str, count: usize) -> String {
        // With a deadline ping goes on until that many are answered. Without one it would wait for the last answer as long as two
        // others took, which is too short where the machine is busy.
        let (_, said) = self.run(from, &format!("ping -n -c {count} -i 0.2 -w 30 {to}"));
        let is_answered = |number| said.contains(&format!("icmp_seq={number} ttl="));
        assert!((1..=count).all(is_answered), "{said}");
        said
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

    /// Runs a program at a host until the value is dropped.
    pub(crate) fn start_program(&self, i: usize, command: &[&str]) -> Background {
        let mut ip = Command::new("ip");
        Background(ip.args(["netns", "exec", &self.hosts[i]]).args(command).spawn().unwrap())
    }
    /// Sends a signal to a node.
    pub(crate) fn signal(&self, i: usize, which: &str) {
        signal(which, self.nodes[i].as_ref().unwrap().id());
    }

    /// All that a node changes of its host: interfaces, addresses, routes, rules, tables of filters, settings.
    pub(crate) fn host_state(&self, i: usize) -> String {
        let mut state = String::new();
        for link in self.ip(i, "-o -br link").lines() {
            // Without the carrier: that of a new interface comes a moment later. The columns keep their widths.
            let facts = link.replace("NO-CARRIER,", "").replace(",LOWER_UP", "").replace(" DOWN ", " UP   ");
            let _ = writeln!(state, "{facts}");
        }
        for what in ["-o -4 -br address", "-4 route show table all", "rule"] {
            state += &self.ip(i, what);
        }
        for what in ["nft list ruleset", "sysctl net.ipv4.conf.eth1 net.ipv4.conf.all net.ipv4.ip_forward"] {
            state += &self.run(i, what).1;
        }
        // The hosts share one folder of control sockets. What is left there is this host's if no other node runs.
        let others = self.nodes.iter().enumerate().any(|(j, node)| j != i && node.is_some());
        if others {
            return state;
        }
        for socket in fs::read_dir(self.folder.path().join("run")).into_iter().flatten() {
            let _ = writeln!(state, "{}", socket.unwrap().path().display());
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

    /// A field of the frames of a node's capture that pass a display filter. The node has ended.
    pub(crate) fn capture_fields(&self, i: usize, filter: &str, field: &str) -> Vec<String> {
        let shown = Command::new("tshark")
            .args(["-r", &self.capture_file(i), "-Y", filter, "-T", "fields", "-e", field])
            .stderr(Stdio::null())
            .output()
            .unwrap();
        assert!(shown.status.success());
        String::from_utf8_lossy(&shown.stdout).lines().map(str::to_owned).collect()
    }

    pub(crate) fn capture_file(&self, i: usize) -> String {
        self.files.join(format!("{i}.pcapng")).display().to_string()
    }
    /// The times of the frames of a node's capture, as tshark reads them, seconds.
    pub(crate) fn capture_times(&self, i: usize) -> Vec<f64> {
        let file = self.capture_file(i);
        let shown =
            Command::new("tshark").args(["-r", &file, "-T", "fields", "-e", "frame.time_epoch"]).output();
        let shown = shown.unwrap();
        let complaints = String::from_utf8_lossy(&shown.stderr);
        assert!(shown.status.success(), "{complaints}");
        String::from_utf8_lossy(&shown.stdout).lines().map(|l| l.parse().unwrap()).collect()
    }

    /// How many whole frames a node's capture has so far; the node may be in the middle of writing another.
    pub(crate) fn frames_so_far(&self, i: usize) -> usize {
        let file = self.capture_file(i);
        let shown = Command::new("tshark")
            .args(["-r", &file, "-T", "fields", "-e", "frame.number"])
            .output()
            .unwrap();
        let complaints = String::from_utf8_lossy(&shown.stderr);
        assert!(shown.status.success() || complaints.contains("cut short"), "{complaints}");
        String::from_utf8_lossy(&shown.stdout).lines().count()
    }

    /// Where a node's messages go.
    pub(crate) fn log(&self, i: usize) -> PathBuf {
        self.files.join(format!("{i}.log"))
    }

    /// A folder for what a test needs.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }
    /// Lets users that are not root look into the folder, as nodes that gave up their privileges.
    pub(crate) fn open_folder(&self) {
        assert!(Command::new("chmod").args(["-R", "a+rX"]).arg(self.folder()).status().unwrap().success());
    }
    /// Has nodes that are started from now on write their logs and captures elsewhere.
    pub(crate) fn keep_files_in(&mut self, folder: &Path) {
        folder.clone_into(&mut self.files);
    }
    /// Gives nodes that are started from now on a variable of the environment.
    pub(crate) fn set_env(&mut self, name: &str, value: &str) {
        self.environment.push((name.to_owned(), value.to_owned()));
    }
    /// The control socket of a node that was started with `control` set to this name.
    pub(crate) fn socket(&self, name: &str) -> PathBuf {
        self.folder.path().join("run").join(format!("{name}.sock"))
    }
    /// What a node whose `control` is this name has counted.
    pub(crate) fn counters(&self, name: &str) -> serde_json::Value {
        self.ask(name, "counters")["counters"].clone()
    }
    /// What a node answers to an order of `wayhop ctl`.
    pub(crate) fn ask(&self, name: &str, order: &str) -> serde_json::Value {
        let socket = self.socket(name);
        let ask = ["ctl", "--socket", socket.to_str().unwrap(), "--json", order];
        let done = Command::new(WAYHOP).args(ask).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{said}");
        let answer: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        answer["nodes"][0].clone()
    }
    /// The process of a node.
    pub(crate) fn pid(&self, i: usize) -> u32 {
        self.nodes[i].as_ref().unwrap().id()
    }
    /// Whether a node runs; what became of it otherwise.
    pub(crate) fn is_alive(&mut self, i: usize) -> bool {
        self.nodes[i].as_mut().is_some_and(|n| n.try_wait().unwrap().is_none())
    }
    /// A node's memory, KiB, now and at most so far.
    pub(crate) fn memory_kib(&self, i: usize) -> (u64, u64) {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid(i))).unwrap();
        let value = |key: &str| {
            let line = status.lines().find_map(|l| l.strip_prefix(key)).unwrap();
            line.trim_end_matches("kB").trim().parse().unwrap()
        };
        (value("VmRSS:"), value("VmHWM:"))
    }

    /// Starts a program at a host.
    pub(crate) fn spawn(&self, i: usize, command: &[&str]) -> Background {
        let mut all = Command::new("ip");
        all.args(["netns", "exec", &self.hosts[i]]).args(command).stdin(Stdio::null()).stdout(Stdio::null());
        Background(all.spawn().unwrap())
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

impl Background {
    /// Waits until it ends; whether it succeeded.
    pub(crate) fn wait(mut self) -> bool {
        self.0.wait().unwrap().success()
    }
    /// Whether it has ended.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

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
