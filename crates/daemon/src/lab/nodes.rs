//! The daemons of a lab, and the programs in its nodes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use wayhop_core::Addr;
use wayhop_trace::Summary;

use super::Plan;
use super::wire::{INTERFACE, Wire};
use crate::error::Error;

/// How long a daemon may take to be ready, or to end.
const PATIENCE: Duration = Duration::from_secs(20);
/// What a daemon says when it is ready.
pub(crate) const READY: &str = "programs use";

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
    mounts: Mounts,
    command: Option<Child>,
}

impl Nodes {
    /// Starts a daemon in every node, and waits until all are ready.
    pub(super) fn start(plan: &Plan, prefix_len: u8, wire: &Wire) -> Result<Self, Error> {
        let mounts = Mounts::new(&hosts(plan)).map_err(Error::system("give the nodes their /etc/hosts"))?;
        let (tell, said) = channel();
        let mut daemons = Vec::with_capacity(plan.addresses.len());
        for (i, addr) in plan.addresses.iter().enumerate() {
            let mut command = Command::new("/proc/self/exe");
            command.args(["node", "--tied", "--json", "--interface", INTERFACE]);
            command.args(["--address", &format!("{addr}/{prefix_len}"), "--protocol", &plan.protocol]);
            for set in &plan.sets {
                command.args(["--set", set]);
            }
            if let Some(Some(path)) = plan.captures.get(i) {
                let path = toml::Value::String(path.display().to_string());
                command.arg("--set").arg(format!("capture.file={path}"));
            }
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = mounts
                .spawn(&mut command, i, wire)
                .map_err(Error::system(format!("start the daemon of node {}", plan.names[i])))?;
            if let Some(stderr) = child.stderr.take() {
                let tell = tell.clone();
                thread::spawn(move || pass_on(i, stderr, &tell));
            }
            daemons.push(Daemon { pipe: child.stdin.take(), child, gone: false });
        }
        let nodes = Self { names: plan.names.clone(), daemons, said, mounts, command: None };
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

    /// Runs a command in a node.
    pub(super) fn run(&mut self, node: usize, command: &[OsString], wire: &Wire) -> Result<(), Error> {
        let Some((program, arguments)) = command.split_first() else { return Ok(()) };
        let mut child = Command::new(program);
        child.args(arguments);
        let name = program.to_string_lossy().into_owned();
        self.command =
            Some(self.mounts.spawn(&mut child, node, wire).map_err(Error::system(format!("run {name}")))?);
        Ok(())
    }

    /// How the command ended, if it has.
    pub(super) fn command_ended(&mut self) -> Option<ExitStatus> {
        self.command.as_mut()?.try_wait().ok()?
    }

    /// Notices daemons that ended by themselves, and passes on what they warn of.
    pub(super) fn check(&mut self, complaints: &mut Vec<String>) {
        for (i, line) in self.said.try_iter() {
            if line.starts_with("warning: ") || line.starts_with("wayhop: ") {
                complaints.push(format!("node {}: {line}", self.names[i]));
            }
        }
        for (i, d) in self.daemons.iter_mut().enumerate().filter(|(_, d)| !d.gone) {
            if let Ok(Some(status)) = d.child.try_wait() {
                d.gone = true;
                complaints.push(format!("node {}: its daemon ended: {status}", self.names[i]));
            }
        }
    }

    /// Ends all, and adds up what they counted.
    pub(super) fn end(mut self, complaints: &mut Vec<String>) -> Summary {
        self.check(complaints);
        self.stop_command();
        for d in &mut self.daemons {
            d.pipe = None;
        }
        let mut all = Summary::default();
        let mut drops = BTreeMap::new();
        for (i, mut d) in std::mem::take(&mut self.daemons).into_iter().enumerate() {
            let mut text = String::new();
            if let Some(mut from) = d.child.stdout.take() {
                let _ = from.read_to_string(&mut text);
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

    /// Ends a command that still runs when the time is over.
    fn stop_command(&mut self) {
        let Some(child) = &mut self.command else { return };
        if matches!(child.try_wait(), Ok(None)) {
            let _ = kill(Pid::from_raw(child.id() as i32), Signal::SIGTERM);
            let begun = Instant::now();
            while matches!(child.try_wait(), Ok(None)) && begun.elapsed() < Duration::from_secs(2) {
                thread::sleep(Duration::from_millis(10));
            }
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// The exit status as shells have it.
pub(super) fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1)
}

fn pass_on(node: usize, from: impl io::Read, to: &Sender<(usize, String)>) {
    for line in BufReader::new(from).lines().map_while(Result::ok) {
        // Nobody listens any more when the lab is over.
        let _ = to.send((node, line));
    }
}

/// The text of the nodes' /etc/hosts: `mesh-0`, `mesh-1`, ...
fn hosts(plan: &Plan) -> String {
    let mut text = "127.0.0.1 localhost\n".to_owned();
    for (i, addr) in plan.addresses.iter().enumerate() {
        let addr: &Addr = addr;
        let _ = writeln!(text, "{addr} mesh-{i}");
    }
    text
}

/// A mount namespace in which /etc/hosts is another file.
struct Mounts(OwnedFd);

impl Mounts {
    fn new(hosts: &str) -> io::Result<Self> {
        let file = std::env::temp_dir().join(format!("wh-lab-{}-hosts", std::process::id()));
        fs::write(&file, hosts)?;
        let made = thread::scope(|s| {
            let made = s.spawn(|| -> io::Result<Self> {
                unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_FS)?;
                let none = None::<&str>;
                mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
                mount(Some(&file), "/etc/hosts", none, MsFlags::MS_BIND, none)?;
                Ok(Self(File::open("/proc/thread-self/ns/mnt")?.into()))
            });
            made.join().unwrap_or_else(|_| Err(io::Error::other("a thread panicked")))
        });
        // The mount keeps the file; its name has served.
        let _ = fs::remove_file(&file);
        made
    }

    /// Starts a program in a node.
    fn spawn(&self, command: &mut Command, node: usize, wire: &Wire) -> io::Result<Child> {
        // Entering the namespace leads to its root.
        command.current_dir(std::env::current_dir()?);
        wire.node(node).within(|| {
            unshare(CloneFlags::CLONE_FS)?;
            setns(&self.0, CloneFlags::CLONE_NEWNS)?;
            command.spawn()
        })
    }
}
