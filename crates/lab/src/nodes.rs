//! The daemons of a lab.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use wayhop_linux::Error;
use wayhop_netns::{Namespace, exit_code};
use wayhop_scenario::Attachment;
use wayhop_trace::Summary;

use super::receivers::GPSD;
use super::wire::interface_name;
use super::{Plan, prefix};

/// How long a daemon may take to be ready, or to end.
const PATIENCE: Duration = Duration::from_secs(20);
/// What a daemon says when it is ready.
const READY: &str = "programs use";

/// A daemon that runs. It ends when its pipe does.
struct Daemon {
    child: Child,
    pipe: Option<ChildStdin>,
    gone: bool,
}

/// All of them.
pub(super) struct Nodes {
    names: Vec<String>,
    daemons: Vec<Daemon>,
    /// What the daemons say on standard error, by node.
    said: Receiver<(usize, String)>,
    sockets: Sockets,
}

impl Nodes {
    /// Starts a daemon in every node, and waits until all are ready.
    pub(super) fn start(plan: &Plan, namespaces: &[Namespace]) -> Result<Self, Error> {
        let s = &plan.scenario;
        // Checked before; all addresses lie in one network.
        let prefix_len = prefix(&s.addresses).unwrap_or(8);
        let sockets =
            Sockets::new().map_err(Error::system("make a folder for the nodes' control sockets"))?;
        let attached = s.interfaces.by_node(s.addresses.len());
        let (tell, said) = channel();
        let mut daemons = Vec::with_capacity(s.addresses.len());
        for (i, addr) in s.addresses.iter().enumerate() {
            let mut command = Command::new("/proc/self/exe");
            command.env("WAYHOP_RUNTIME_DIR", &sockets.0);
            command.args(["node", "--tied", "--json"]);
            for &place in &attached[i] {
                command.args(["--interface", interface_name(s, place)]);
            }
            // Where a neighbour is reached by several, a wire is better than a radio, though both are veths here.
            let metric = |a: &Attachment| if matches!(a, Attachment::Wire(_)) { "0" } else { "1" };
            let metrics: Vec<&str> = attached[i].iter().map(metric).collect();
            command.args(["--set", &format!("interface_metrics=[{}]", metrics.join(", "))]);
            command.args(["--address", &format!("{addr}/{prefix_len}"), "--protocol", s.protocol.name()]);
            command.args(["--set", &format!("control=node-{i}")]);
            command.args(["--set", &format!("gpsd={}", toml::Value::from(GPSD))]);
            for set in &plan.sets {
                command.args(["--set", set]);
            }
            if let Some(Some(path)) = plan.captures.get(i) {
                let path = toml::Value::String(path.display().to_string());
                command.arg("--set").arg(format!("capture.file={path}"));
                let snap = s.captures.snap_length;
                command.arg("--set").arg(format!("capture.snap_length_bytes={snap}"));
            }
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            // Ctrl-C at a terminal is for the lab, which then ends them.
            command.process_group(0);
            let mut child = namespaces[i]
                .within(|| command.spawn())
                .map_err(Error::system(format!("start the daemon of node {}", s.names[i])))?;
            if let Some(stderr) = child.stderr.take() {
                let tell = tell.clone();
                thread::spawn(move || pass_on(i, stderr, &tell));
            }
            daemons.push(Daemon { pipe: child.stdin.take(), child, gone: false });
        }
        let nodes = Self { names: s.names.clone(), daemons, said, sockets };
        nodes.wait_ready()?;
        Ok(nodes)
    }

    fn wait_ready(&self) -> Result<(), Error> {
        let begun = Instant::now();
        let mut ready = vec![false; self.daemons.len()];
        let mut last = String::new();
        while ready.contains(&false) {
            match self.said.recv_timeout(PATIENCE.saturating_sub(begun.elapsed())) {
                Ok((i, line)) if line.contains(READY) => ready[i] = true,
                Ok((i, line)) if line.starts_with("wayhop: ") => {
                    return Err(Error::System(format!("node {}: {}", self.names[i], &line[8..])));
                }
                Ok((_, line)) => last = line,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let late = ready.iter().filter(|r| !**r).count();
                    return Err(Error::System(format!(
                        "{late} daemons are not ready; the last word was: {last}"
                    )));
                }
            }
        }
        Ok(())
    }

    /// The control socket of each node's daemon.
    pub(super) fn sockets(&self) -> Vec<PathBuf> {
        (0..self.names.len()).map(|i| self.sockets.0.join(format!("node-{i}.sock"))).collect()
    }

    /// Notices daemons that ended by themselves, and passes on what they warn of. Returns who ended: the node, the process
    /// and its exit status.
    pub(super) fn check(&mut self, complaints: &mut Vec<String>) -> Vec<(u32, u32, i32)> {
        for (i, line) in self.said.try_iter() {
            if line.starts_with("warning: ") || line.starts_with("wayhop: ") {
                complaints.push(format!("node {}: {line}", self.names[i]));
            }
        }
        let mut ended = Vec::new();
        for (i, d) in self.daemons.iter_mut().enumerate().filter(|(_, d)| !d.gone) {
            if let Ok(Some(status)) = d.child.try_wait() {
                d.gone = true;
                ended.push((i as u32, d.child.id(), exit_code(status)));
                complaints.push(format!("node {}: its daemon ended: {status}", self.names[i]));
            }
        }
        ended
    }

    /// Ends all, and adds up what they counted.
    pub(super) fn end(mut self, complaints: &mut Vec<String>) -> Summary {
        self.check(complaints);
        for d in &mut self.daemons {
            d.pipe = None;
        }
        let mut all = Summary::default();
        let mut drops = BTreeMap::new();
        for (i, mut d) in std::mem::take(&mut self.daemons).into_iter().enumerate() {
            let text = d.child.stdout.take().map(|from| last_words(from, PATIENCE)).unwrap_or_default();
            if text.is_empty() {
                // It does not end by itself, or did not end well.
                let _ = d.child.kill();
            }
            let _ = d.child.wait();
            let Ok(one) = serde_json::from_str::<Summary>(&text) else {
                complaints.push(format!("node {}: it left no summary", self.names[i]));
                continue;
            };
            all.totals.routing_packets += one.totals.routing_packets;
            all.totals.routing_bytes += one.totals.routing_bytes;
            for (kind, n) in one.totals.by_type {
                *all.totals.by_type.entry(kind).or_default() += n;
            }
            for (reason, n) in one.totals.drops {
                *drops.entry(reason).or_default() += n;
            }
        }
        all.totals.drops = drops;
        all
    }
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
}

impl Drop for Sockets {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
