//! The PID namespace of a node's programs. Its first process ends when the run does, however the
//! run's own process ends, and then the kernel kills everything in the namespace, including
//! processes that left their parents, session or process group.

use std::fs::{self, File};
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use nix::fcntl::{Flock, FlockArg};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use wayhop_confine::privileges;

use crate::namespace::in_thread;

/// The command, hidden from users, that runs [`keep_pids`].
pub const INIT_COMMAND: &str = "node-init";

/// The PID namespaces of a run's nodes: each is made when it is needed, by this process or by `wayhop exec`. They go with this value.
#[derive(Debug)]
pub(crate) struct Pids {
    folder: PathBuf,
    /// Nothing comes out of it but the end, when nobody has its other end any more.
    life: PipeReader,
    alive: Option<PipeWriter>,
    inits: Mutex<Vec<Child>>,
}

impl Pids {
    /// With a folder that says where they are.
    pub(crate) fn new(folder: &Path) -> io::Result<Self> {
        let (life, alive) = io::pipe()?;
        fs::create_dir_all(folder)?;
        Ok(Self { folder: folder.to_owned(), life, alive: Some(alive), inits: Mutex::default() })
    }

    /// The descriptor of the pipe's end, by which other processes of the same user find it under `/proc/PID/fd`.
    pub(crate) fn life_fd(&self) -> i32 {
        self.life.as_raw_fd()
    }

    /// A node's.
    pub(crate) fn of(&self, node: usize) -> io::Result<File> {
        let life = || self.life.try_clone().map(Stdio::from);
        let (namespace, init) = find_or_make(&self.folder, node, life)?;
        self.inits.lock().unwrap_or_else(PoisonError::into_inner).extend(init);
        Ok(namespace)
    }
}

impl Drop for Pids {
    fn drop(&mut self) {
        self.alive = None;
        for init in self.inits.get_mut().unwrap_or_else(PoisonError::into_inner) {
            let _ = init.wait();
        }
        // The next run forgets the dead.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A node's PID namespace by the files in the run's folder, and its first process, if that is new.
pub(crate) fn find_or_make(
    folder: &Path,
    node: usize,
    life: impl FnOnce() -> io::Result<Stdio>,
) -> io::Result<(File, Option<Child>)> {
    let lock = File::open(folder)?;
    let _lock = Flock::lock(lock, FlockArg::LockExclusive).map_err(|(_, e)| io::Error::from(e))?;
    let file = folder.join(node.to_string());
    if let Some(namespace) = find(&file) {
        return Ok((namespace, None));
    }
    let life = life()?;
    let mut init = in_thread(|| {
        unshare(CloneFlags::CLONE_NEWPID)?;
        let mut command = Command::new("/proc/self/exe");
        command.arg(INIT_COMMAND).stdin(life).stdout(Stdio::null()).stderr(Stdio::null());
        command.env_clear().current_dir("/").process_group(0).spawn()
    })?;
    let made = || {
        let namespace = open(init.id())?;
        fs::write(&file, format!("{} {}", init.id(), namespace.metadata()?.ino()))?;
        Ok(namespace)
    };
    match made() {
        Ok(namespace) => Ok((namespace, Some(init))),
        Err(e) => {
            let _ = init.kill();
            let _ = init.wait();
            Err(e)
        }
    }
}

fn open(pid: u32) -> io::Result<File> {
    File::open(format!("/proc/{pid}/ns/pid"))
}

/// That of which the file tells, if it is still there.
fn find(file: &Path) -> Option<File> {
    let text = fs::read_to_string(file).ok()?;
    let (pid, inode) = text.split_once(' ')?;
    let namespace = open(pid.parse().ok()?).ok()?;
    // The process's number may be another's now.
    let is_same = namespace.metadata().is_ok_and(|m| m.ino().to_string() == inode);
    is_same.then_some(namespace)
}

/// What the first process of a namespace does: it waits for children that others left behind, until its standard input ends.
pub fn keep_pids() -> io::Result<()> {
    let mut children = SigSet::empty();
    children.add(Signal::SIGCHLD);
    children.thread_block()?;
    let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
    let changed = SignalFd::with_flags(&children, flags)?;
    privileges::give_up_all()?;
    let life = io::stdin();
    loop {
        let mut fds =
            [PollFd::new(life.as_fd(), PollFlags::POLLIN), PollFd::new(changed.as_fd(), PollFlags::POLLIN)];
        match poll(&mut fds, PollTimeout::NONE) {
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(e) => return Err(e.into()),
        }
        if fds[0].any().unwrap_or(true) {
            return Ok(());
        }
        while changed.read_signal().is_ok_and(|s| s.is_some()) {}
        while waitpid(None, Some(WaitPidFlag::WNOHANG)).is_ok_and(|s| s != WaitStatus::StillAlive) {}
    }
}
