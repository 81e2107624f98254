//! Programs in nodes.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use wayhop_trace::{ProgramExit, Status};

use crate::launch::{Confinement, LaunchSite, launch};
use crate::namespace::Namespace;
use crate::registry::Registry;
use crate::terminal::Terminal;

/// How long programs have to end after they were asked to.
const GRACE: Duration = Duration::from_secs(2);
/// How often those who are to end at once are looked for: each pass finds what was started during the one before.
const KILL_PASSES: u32 = 50;

/// A program that is to run in a node.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The node.
    pub node: u32,
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// The file that takes its output and its messages; without one they go where this process's go.
    pub output: Option<PathBuf>,
    /// Whether it has the terminal, if there is one: its input, and the keys that send signals. One at a time.
    pub has_terminal: bool,
    /// How it is confined. Without this it has all rights of who started the run.
    pub confined: Option<Confinement>,
    /// When it is started again.
    pub restart: Restart,
}

/// When a program that ended is started again.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Restart {
    /// Never.
    Never,
    /// When its node is back from an outage that ended it; what it had printed is overwritten.
    AfterOutage,
    /// The same, and when it failed.
    OnFailure,
    /// The same, and when it ended in any other way.
    Always,
}

impl Restart {
    /// Whether a program that ended like this, without an outage, is started again.
    pub(crate) fn follows(self, status: ExitStatus) -> bool {
        match self {
            Self::Never | Self::AfterOutage => false,
            Self::OnFailure => !status.success(),
            Self::Always => true,
        }
    }
}

/// A program's number in the plan, and how often it had been started, this time included.
pub(crate) type StartNumber = (usize, u32);

/// How a program ended, or why it did not begin. The number is the one under which it was started.
pub(crate) type ProgramEnd = (StartNumber, io::Result<ExitStatus>);

/// Starts a program in a node; `again` if it is a restart, whose output follows what is there. When it ends, or turns out not
/// to begin, `ended` gets to know, and then `wake` is called.
pub(crate) fn start(
    (number, again): (StartNumber, bool),
    program: &Launch,
    namespace: &Namespace,
    registry: &Registry,
    ended: Sender<ProgramEnd>,
    wake: impl FnOnce() + Send + 'static,
) -> io::Result<()> {
    let pids = registry.pids(program.node)?;
    let place = LaunchSite { namespace, pids: &pids, hosts: &registry.hosts };
    let open = |path: &Path| if again { File::options().append(true).open(path) } else { File::create(path) };
    let output = program.output.as_deref().map(open).transpose()?;
    if let Some(confined) = &program.confined {
        confined.own(output.as_ref())?;
    }
    let errors = output.as_ref().map(File::try_clone).transpose()?;
    let mut started = launch(&place, program.confined.as_ref(), &program.command, |command| {
        // One that is confined begins a session of its own, which the leader of a group cannot.
        if program.confined.is_none() {
            command.process_group(0);
        }
        if !program.has_terminal {
            command.stdin(Stdio::null());
        }
        if let (Some(output), Some(errors)) = (output, errors) {
            command.stdout(output).stderr(errors);
        }
    })?;
    let terminal = program.has_terminal.then(|| Terminal::lend(started.child.id())).flatten();
    thread::spawn(move || {
        let began = started.began();
        if let Some(terminal) = terminal.as_ref().filter(|_| began.is_ok()) {
            terminal.keep_going();
        }
        let status = began.and_then(|()| started.child.wait());
        drop(terminal);
        // The other end is gone when the run is over.
        let _ = ended.send((number, status));
        wake();
    });
    Ok(())
}

/// How a program of the plan ended, for the summary.
pub(crate) fn program_exit(launch: &Launch, status: &io::Result<ExitStatus>) -> ProgramExit {
    ProgramExit {
        node: launch.node,
        name: None,
        program: launch.command.first().map(|c| c.to_string_lossy().into_owned()).unwrap_or_default(),
        exit: status.as_ref().ok().map(|s| exit_code(*s)),
        error: status.as_ref().err().map(ToString::to_string),
        restarts: None,
    }
}

/// The exit status of the command of the command line, which is the whole run's.
pub(crate) fn command_status(status: &io::Result<ExitStatus>) -> i32 {
    match status {
        Ok(status) => exit_code(*status),
        Err(why) => Status::of_unstarted(why).code().into(),
    }
}

/// Ends all programs in these namespaces: SIGTERM first, then SIGKILL.
pub fn end_inhabitants(namespaces: &[&Namespace]) {
    let nodes: Vec<u64> = namespaces.iter().filter_map(|n| n.inode().ok()).collect();
    let until = Instant::now() + GRACE;
    let mut signal = Signal::SIGTERM;
    loop {
        let left = inhabitants(&nodes);
        if left.is_empty() {
            return;
        }
        for pid in left {
            // It may have ended already.
            let _ = kill(pid, signal);
        }
        // A second signal does no harm.
        thread::sleep(Duration::from_millis(20));
        if signal == Signal::SIGKILL && Instant::now() > until + GRACE {
            return;
        }
        if Instant::now() > until {
            signal = Signal::SIGKILL;
        }
    }
}

/// Ends all that runs in a namespace at once and without a warning, as when the power fails; `spared` and its children live on.
/// Does not wait until they are gone.
///
/// # Errors
/// If the kernel does not say which namespace it is, or if programs start others faster than these can be ended.
pub fn kill_inhabitants(namespace: &Namespace, spared: Option<u32>) -> io::Result<()> {
    let inode = namespace.inode()?;
    let spared = spared.map(|pid| Pid::from_raw(pid.cast_signed()));
    let mut told = BTreeSet::new();
    for _ in 0..KILL_PASSES {
        let mut is_new = false;
        let is_spared = |pid: &Pid| spared.is_some() && (Some(*pid) == spared || parent(*pid) == spared);
        for pid in inhabitants(&[inode]).into_iter().filter(|pid| !is_spared(pid)) {
            is_new |= kill(pid, Signal::SIGKILL).is_ok() && told.insert(pid);
        }
        if !is_new {
            return Ok(());
        }
    }
    Err(io::Error::other("its programs start new ones faster than they can be killed"))
}

/// The exit status as shells have it: 128 and the signal's number if a signal ended the program.
pub fn exit_code(status: ExitStatus) -> i32 {
    status.code().or_else(|| Some(128 + status.signal()?)).unwrap_or(1)
}

/// The parent of a process, the fourth field of /proc/PID/stat behind the command in parentheses (proc_pid_stat(5)).
fn parent(pid: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, behind) = stat.rsplit_once(')')?;
    behind.split_whitespace().nth(1)?.parse().ok().map(Pid::from_raw)
}

/// Every process in one of these namespaces, which are named by their numbers on this machine.
fn inhabitants(nodes: &[u64]) -> Vec<Pid> {
    let lives_here = |pid: &i32| {
        let namespace = std::fs::metadata(format!("/proc/{pid}/ns/net"));
        namespace.is_ok_and(|m| nodes.contains(&m.ino()))
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|p| p.file_name().to_str()?.parse().ok());
    numbers.filter(lives_here).map(Pid::from_raw).collect()
}
