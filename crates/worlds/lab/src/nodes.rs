//! The daemons of a lab.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use wayhop_core::{Purpose, draw};
use wayhop_linux::Error;
use wayhop_netns::{Namespace, exit_code};
use wayhop_scenario::Attachment;
use wayhop_trace::{NodeOutages, Summary};

use super::plan::Plan;
use super::receivers::GPSD;
use super::stop::{StopFlag, go_on};
use super::wire::interface_name;

/// How long a daemon may take to be ready, or to end.
const PATIENCE: Duration = Duration::from_secs(20);
/// How often somebody who waits looks whether the lab is still wanted.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// What a daemon says when it is ready.
const READY: &str = "programs use";

/// A daemon that runs. It ends when its pipe does.
struct Daemon {
    child: Child,
    pipe: Option<ChildStdin>,
    /// It ended, by itself or because its node went down.
    gone: bool,
    /// It is stopped.
    asleep: bool,
}

pub(super) struct Nodes {
    names: Vec<String>,
    daemons: Vec<Daemon>,
    /// How each is started.
    starts: Vec<DaemonStart>,
    /// What the daemons say on standard error, by node.
    said: Receiver<(usize, String)>,
    tell: Sender<(usize, String)>,
    /// What daemons of nodes that went down leave: by node, in order.
    left: Vec<(usize, JoinHandle<String>)>,
    sockets: Sockets,
}

/// How a node's daemon is started.
struct DaemonStart {
    arguments: Vec<String>,
    /// Its capture, the log of what goes into its engine, and its own run directory: the setting, and the path of the first life.
    files: [(&'static str, Option<PathBuf>); 3],
    /// What else holds when it comes back without its tables.
    after_reboot: Vec<String>,
    seed: u64,
    /// How often it was started.
    lives: u64,
}

impl DaemonStart {
    /// Of the node with this number and address.
    fn new(plan: &Plan, i: usize, keys: Option<&Path>) -> Self {
        let s = &plan.scenario;
        let mut arguments: Vec<String> = ["node", "--tied", "--json"].map(Into::into).into();
        let attached = s.interfaces.by_node(s.addresses.len());
        let names: Vec<&str> = attached[i].iter().map(|&place| interface_name(s, place)).collect();
        arguments.extend(names.iter().flat_map(|name| ["--interface".to_owned(), (*name).to_owned()]));
        // Checked before: all addresses lie in one network.
        arguments.extend(["--address".into(), s.interface_address(i).unwrap_or_default()]);
        let mut set = |what: String| arguments.extend(["--set".to_owned(), what]);
        // Where a neighbour is reached by several, a wire is better than a radio, though both are veths here.
        let metric = |a: &Attachment| if matches!(a, Attachment::Wire(_)) { "0" } else { "1" };
        let metrics: Vec<&str> = attached[i].iter().map(metric).collect();
        set(format!("interface_metrics=[{}]", metrics.join(", ")));
        set(format!("name={}", toml::Value::from(s.names[i].as_str())));
        set(format!("control={}", Sockets::name(i)));
        set(format!("gpsd={}", toml::Value::from(GPSD)));
        s.network_settings(i, &names).into_iter().for_each(&mut set);
        plan.sets.iter().cloned().for_each(&mut set);
        if let Some(path) = keys {
            set(format!("security.keys_file={}", toml::Value::from(path.display().to_string())));
        }
        let own = |all: &[Option<PathBuf>]| all.get(i).cloned().flatten();
        let capture = own(&plan.captures);
        if capture.is_some() {
            set(format!("capture.snap_length_bytes={}", s.captures.snap_length));
        }
        let wait = s.protocol.description().host.reboot_wait.and_then(|key| {
            let value = s.protocol_after_reboot.values().remove(key)?;
            Some(format!("protocol.{key}={value}"))
        });
        let (inputs, run) = (own(&plan.inputs), own(&plan.runs));
        Self {
            arguments,
            files: [("capture.file", capture), ("inputs.file", inputs), ("run", run)],
            after_reboot: wait.into_iter().collect(),
            seed: s.seed,
            lives: 0,
        }
    }

    /// The command of the next life.
    fn command(&mut self) -> Command {
        let life = self.lives;
        self.lives += 1;
        let mut command = Command::new("/proc/self/exe");
        command.args(&self.arguments);
        if life > 0 {
            // Another life must not draw what the one before drew. TOML's numbers have a sign.
            let seed = draw(self.seed, Purpose::Outages, [life, 0, 0]) >> 1;
            command.args(["--set", &format!("seed={seed}")]);
            command.args(self.after_reboot.iter().flat_map(|set| ["--set", set]));
        }
        for (key, path) in &self.files {
            let Some(path) = path else { continue };
            let path = toml::Value::String(of_life(path, life).display().to_string());
            command.args(["--set", &format!("{key}={path}")]);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C at a terminal is for the lab, which then ends them.
        command.process_group(0);
        command
    }
}

/// The file of a later life stands beside that of the first: `3.pcapng`, `3-2.pcapng`.
fn of_life(path: &Path, life: u64) -> PathBuf {
    if life == 0 {
        return path.to_owned();
    }
    let part = |p: Option<&OsStr>| p.unwrap_or_default().to_string_lossy().into_owned();
    let (stem, extension) = (part(path.file_stem()), part(path.extension()));
    let dot = if extension.is_empty() { "" } else { "." };
    path.with_file_name(format!("{stem}-{}{dot}{extension}", life + 1))
}

impl Nodes {
    /// Starts a daemon in every node, and waits until all are ready.
    pub(super) fn start(
        plan: &Plan,
        namespaces: &[Namespace],
        is_stopped: StopFlag<'_>,
    ) -> Result<Self, Error> {
        let s = &plan.scenario;
        let sockets =
            Sockets::new().map_err(Error::system("create a folder for the nodes' control sockets"))?;
        let keys = plan.keys.as_deref().map(|text| sockets.write_keys(text)).transpose();
        let keys = keys.map_err(Error::system("write the nodes' file of keys"))?;
        let (tell, said) = channel();
        let starts = (0..s.addresses.len()).map(|i| DaemonStart::new(plan, i, keys.as_deref())).collect();
        let names = s.names.clone();
        let mut nodes = Self { names, daemons: Vec::new(), starts, said, tell, left: Vec::new(), sockets };
        for (i, namespace) in namespaces.iter().enumerate() {
            go_on(is_stopped)?;
            let daemon = nodes.spawn(i, namespace)?;
            nodes.daemons.push(daemon);
        }
        nodes.wait_ready(is_stopped)?;
        Ok(nodes)
    }

    fn spawn(&mut self, i: usize, namespace: &Namespace) -> Result<Daemon, Error> {
        let mut command = self.starts[i].command();
        command.env("WAYHOP_RUNTIME_DIR", &self.sockets.0);
        let mut child = namespace
            .within(|| command.spawn())
            .map_err(Error::system(format!("start the daemon of node {}", self.names[i])))?;
        if let Some(stderr) = child.stderr.take() {
            let tell = self.tell.clone();
            thread::spawn(move || pass_on(i, stderr, &tell));
        }
        Ok(Daemon { pipe: child.stdin.take(), child, gone: false, asleep: false })
    }

    /// Stops a node's daemon where it is, or lets it go on.
    pub(super) fn set_asleep(&mut self, node: u32, asleep: bool) {
        let d = &mut self.daemons[node as usize];
        if d.gone || d.asleep == asleep {
            return;
        }
        d.asleep = asleep;
        let signal = if asleep { Signal::SIGSTOP } else { Signal::SIGCONT };
        // One that has just ended is noticed elsewhere. A daemon with a foreign library is two processes.
        let _ = killpg(Pid::from_raw(d.child.id().cast_signed()), signal);
    }

    /// Lets all daemons go on that sleep.
    pub(super) fn wake_all(&mut self) {
        (0..self.daemons.len() as u32).for_each(|i| self.set_asleep(i, false));
    }

    /// Ends a node's daemon with its node. Returns its process.
    pub(super) fn end_one(&mut self, node: u32) -> Option<u32> {
        let i = node as usize;
        let d = &mut self.daemons[i];
        if std::mem::replace(&mut d.gone, true) {
            return None;
        }
        d.pipe = None;
        if let Some(stdout) = d.child.stdout.take() {
            self.left.push((i, thread::spawn(move || last_words(stdout, PATIENCE))));
        }
        Some(d.child.id())
    }

    /// Starts a node's daemon again. Returns its process.
    pub(super) fn start_again(&mut self, node: u32, namespace: &Namespace) -> Result<u32, Error> {
        let i = node as usize;
        // It lets go of the interface and its socket when it ends.
        let begun = Instant::now();
        while matches!(self.daemons[i].child.try_wait(), Ok(None)) {
            if begun.elapsed() > PATIENCE {
                let _ = self.daemons[i].child.kill();
            }
            thread::sleep(Duration::from_millis(2));
        }
        self.daemons[i] = self.spawn(i, namespace)?;
        Ok(self.daemons[i].child.id())
    }

    fn wait_ready(&self, is_stopped: StopFlag<'_>) -> Result<(), Error> {
        let begun = Instant::now();
        let mut ready = vec![false; self.daemons.len()];
        let mut last = String::new();
        while ready.contains(&false) {
            go_on(is_stopped)?;
            match self.said.recv_timeout(LOOK_EVERY.min(PATIENCE.saturating_sub(begun.elapsed()))) {
                Ok((i, line)) if line.contains(READY) => ready[i] = true,
                Ok((i, line)) if line.starts_with("wayhop: ") => {
                    return Err(Error::System(format!("node {}: {}", self.names[i], &line[8..])));
                }
                Ok((_, line)) => last = line,
                Err(RecvTimeoutError::Timeout) if begun.elapsed() < PATIENCE => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let late = ready.iter().filter(|r| !**r).count();
                    return Err(Error::System(format!("{late} daemons are not ready; last message: {last}")));
                }
            }
        }
        Ok(())
    }

    /// The control socket of each node's daemon.
    pub(super) fn sockets(&self) -> Vec<PathBuf> {
        (0..self.names.len()).map(|i| self.sockets.0.join(format!("{}.sock", Sockets::name(i)))).collect()
    }

    /// Notices daemons that ended by themselves, and passes on what they warn of. Returns who ended: the node, the process
    /// and its exit status.
    pub(super) fn check(&mut self, complaints: &mut Vec<String>) -> Vec<(u32, u32, i32)> {
        for (i, line) in self.said.try_iter() {
            // The lab's own lines have no time, either.
            let line = line
                .split_once(' ')
                .filter(|(_, rest)| rest.starts_with("warning: "))
                .map_or(&*line, |l| l.1);
            if ["warning: ", "wayhop: "].iter().any(|word| line.starts_with(word)) {
                complaints.push(format!("node {}: {line}", self.names[i]));
            }
        }
        let mut ended = Vec::new();
        for (i, d) in self.daemons.iter_mut().enumerate().filter(|(_, d)| !d.gone) {
            if let Ok(Some(status)) = d.child.try_wait() {
                d.gone = true;
                ended.push((i as u32, d.child.id(), exit_code(status)));
                complaints.push(format!("node {}: its daemon exited: {status}", self.names[i]));
            }
        }
        ended
    }

    /// Ends all, and adds up what they counted.
    pub(super) fn end(mut self, complaints: &mut Vec<String>) -> Summary {
        self.check(complaints);
        self.wake_all();
        for d in &mut self.daemons {
            d.pipe = None;
        }
        let mut all = Summary::default();
        let mut texts: Vec<(usize, String)> = std::mem::take(&mut self.left)
            .into_iter()
            .map(|(i, words)| (i, words.join().unwrap_or_default()))
            .collect();
        for (i, mut d) in std::mem::take(&mut self.daemons).into_iter().enumerate() {
            if let Some(from) = d.child.stdout.take() {
                let text = last_words(from, PATIENCE);
                if text.is_empty() {
                    // It does not end by itself, or did not end well.
                    let _ = d.child.kill();
                }
                texts.push((i, text));
            }
            let _ = d.child.wait();
        }
        for (i, text) in texts {
            match serde_json::from_str::<Summary>(&text) {
                Ok(one) => add(&mut all, i, one),
                Err(_) => complaints.push(format!("node {}: no summary", self.names[i])),
            }
        }
        all
    }
}

/// Adds what the daemon of this node counted.
fn add(all: &mut Summary, node: usize, one: Summary) {
    // It knows itself as node 0.
    let of_node = |o| NodeOutages { node: node as u32, ..o };
    all.outages.extend(one.outages.into_iter().map(of_node));
    let sum = |to: &mut BTreeMap<String, u64>, from: BTreeMap<String, u64>| {
        for (name, n) in from {
            *to.entry(name).or_default() += n;
        }
    };
    all.totals.routing_packets += one.totals.routing_packets;
    all.totals.routing_bytes += one.totals.routing_bytes;
    all.totals.add_routing_headers(one.totals.routing_header_bytes);
    sum(&mut all.totals.by_type, one.totals.by_type);
    sum(&mut all.totals.drops, one.totals.drops);
}

/// All that comes, until the other end is closed or it takes too long.
fn last_words(from: impl io::Read + Into<OwnedFd> + Send + 'static, patience: Duration) -> String {
    let fd: OwnedFd = from.into();
    let mut to = std::fs::File::from(fd);
    let until = Instant::now() + patience;
    let mut text = Vec::new();
    let mut room = [0; 4096];
    loop {
        let left = until.saturating_duration_since(Instant::now()).as_millis().min(60_000) as u16;
        let mut fds = [nix::poll::PollFd::new(to.as_fd(), nix::poll::PollFlags::POLLIN)];
        match nix::poll::poll(&mut fds, left) {
            Err(nix::Error::EINTR) => continue,
            Ok(0) | Err(_) => break,
            Ok(_) => {}
        }
        match to.read(&mut room) {
            Ok(0) | Err(_) => break,
            Ok(n) => text.extend_from_slice(&room[..n]),
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

fn pass_on(node: usize, from: impl io::Read, to: &Sender<(usize, String)>) {
    for line in BufReader::new(from).lines().map_while(Result::ok) {
        // Nobody listens any more when the lab is over.
        let _ = to.send((node, line));
    }
}

/// The folder of the daemons' control sockets. It goes with this value.
struct Sockets(PathBuf);

impl Sockets {
    fn new() -> io::Result<Self> {
        let own = wayhop_netns::lab_folder();
        fs::create_dir_all(&own)?;
        Ok(Self(own))
    }

    /// Writes the file from which nodes read their keys while they are root: their command lines are everybody's to read.
    fn write_keys(&self, text: &str) -> io::Result<PathBuf> {
        let path = self.0.join("keys.toml");
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
        file.write_all(text.as_bytes())?;
        Ok(path)
    }

    /// What a node's socket is called.
    fn name(node: usize) -> String {
        format!("node-{node}")
    }
}

impl Drop for Sockets {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
