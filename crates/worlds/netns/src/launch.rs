//! How a program gets into its node: a Wayhop process enters the node's namespaces, and then
//! executes the program.
//!
//! It does so alone, with one thread: the privileges that it drops, the rest of the run keeps, and
//! vice versa.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, PipeReader, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Mutex, PoisonError};

use nix::sched::{CloneFlags, setns};
use nix::sys::resource::{Resource, setrlimit};
use nix::unistd::{Gid, Uid, close, dup, setsid};
use serde::{Deserialize, Serialize};
use wayhop_confine::{privileges, syscalls, view};

use crate::error::Error;
use crate::namespace::Namespace;

/// The command, hidden from users, that runs [`become_program`].
pub const PROGRAM_COMMAND: &str = "node-program";

/// The users of programs that nobody vouches for: this and the node's number. No system gives such numbers to anybody
/// (systemd's table of user numbers leaves them free).
const USERS: u32 = 1_900_000_000;
/// Where those do not exist, as in a container that knows a few users only.
const NOBODY: u32 = 65534;
/// Its processes and threads; together with those of the same node in other runs.
const MOST_TASKS: u64 = 4096;
/// What it knows of the environment of who started the run.
const ENVIRONMENT: [&str; 3] = ["LANG", "TZ", "TERM"];

/// What to do about a program that its user cannot reach.
const REMEDY: &str = "programs of a scenario cannot see /tmp, /run, or folders that other users cannot \
                      read; copy the file elsewhere, or use --trust if you trust the scenario";

/// How a program that nobody vouches for is confined.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Confinement {
    /// Its user.
    user: u32,
    /// Where it may write; without one, into a folder that goes with it.
    folder: Option<PathBuf>,
    /// Where relative names of programs begin.
    from: PathBuf,
}

impl Confinement {
    /// Its working directory, as it sees it.
    pub const HOME: &str = view::HOME;

    /// In a node, with this folder to write to.
    pub fn new(node: u32, folder: Option<&Path>) -> io::Result<Self> {
        let folder = folder.map(std::path::absolute).transpose()?;
        let user = if has_user(USERS) { USERS.saturating_add(node) } else { NOBODY };
        Ok(Self { user, folder, from: std::env::current_dir()? })
    }

    /// Gives its user what it writes to.
    pub(crate) fn own(&self, output: Option<&File>) -> io::Result<()> {
        if !Uid::effective().is_root() {
            return Ok(());
        }
        if let Some(folder) = &self.folder {
            fs::create_dir_all(folder)?;
            std::os::unix::fs::lchown(folder, Some(self.user), Some(self.user))?;
        }
        output.map_or(Ok(()), |file| std::os::unix::fs::fchown(file, Some(self.user), Some(self.user)))
    }
}

/// Whether this user exists here (`user_namespaces(7)`): first, outer first, count.
fn has_user(user: u32) -> bool {
    let map = fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    map.lines().any(|line| {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|n| n.parse().ok()).collect();
        matches!(numbers[..], [first, _, count] if (first..first + count).contains(&u64::from(user)))
    })
}

/// What the process is to do before it becomes the program.
#[derive(Debug, Serialize, Deserialize)]
struct Orders {
    /// The descriptor to which it writes why it did not. It is closed when it did.
    status: RawFd,
    /// The file mounted over `/etc/hosts`.
    hosts: PathBuf,
    /// Without this it runs with all rights of who started it.
    confined: Option<Confinement>,
}

/// A program that was started, or will say why it was not.
pub(crate) struct LaunchedProgram {
    pub(crate) child: Child,
    status: PipeReader,
}

impl LaunchedProgram {
    /// Waits until it runs.
    pub(crate) fn began(&mut self) -> io::Result<()> {
        let mut why = String::new();
        self.status.read_to_string(&mut why)?;
        if why.is_empty() {
            return Ok(());
        }
        let _ = self.child.wait();
        let (number, text) = why.split_once(' ').unwrap_or(("0", &why));
        match number.parse() {
            Ok(0) | Err(_) => Err(io::Error::other(text.to_owned())),
            Ok(number) => Err(io::Error::from_raw_os_error(number)),
        }
    }
}

/// Where a program is to run.
pub(crate) struct LaunchSite<'a> {
    pub(crate) namespace: &'a Namespace,
    pub(crate) pids: &'a File,
    pub(crate) hosts: &'a Path,
}

/// Starts a program there. `prepare` says what becomes of its input and output, and of its process group.
pub(crate) fn launch(
    place: &LaunchSite<'_>,
    confined: Option<&Confinement>,
    program: &[OsString],
    prepare: impl FnOnce(&mut Command),
) -> io::Result<LaunchedProgram> {
    // What one process is to inherit, another one that is started meanwhile would inherit, too.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _one = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (status, told) = io::pipe()?;
    let inherited = dup(&told)?;
    let orders =
        Orders { status: inherited.as_raw_fd(), hosts: place.hosts.to_owned(), confined: confined.cloned() };
    let mut command = Command::new("/proc/self/exe");
    command.arg(PROGRAM_COMMAND).arg(serde_json::to_string(&orders)?).arg("--").args(program);
    prepare(&mut command);
    let child = place.namespace.within(|| {
        setns(place.pids, CloneFlags::CLONE_NEWPID)?;
        command.spawn()
    })?;
    Ok(LaunchedProgram { child, status })
}

/// Enters the namespaces of the orders and executes the program. Returns only on failure: with an
/// error if it cannot be reported to the parent.
pub fn become_program(orders: &str, program: &[OsString]) -> Result<(), Error> {
    let parsed: io::Result<Orders> = serde_json::from_str(orders).map_err(io::Error::from);
    let told = parsed.and_then(|o| {
        // Another descriptor of the same pipe, which is closed when the program begins.
        Ok((fs::OpenOptions::new().write(true).open(format!("/proc/self/fd/{}", o.status))?, o))
    });
    let (mut status, orders) = told.map_err(|e| Error::system("this command is for internal use", e))?;
    let why = obey(&orders, &status, program);
    write!(status, "{} {why}", why.raw_os_error().unwrap_or(0))
        .map_err(|e| Error::system("cannot start a program", e))
}

fn obey(orders: &Orders, status: &File, program: &[OsString]) -> io::Error {
    let Some((name, arguments)) = program.split_first() else {
        return io::Error::new(io::ErrorKind::InvalidInput, "an empty command");
    };
    let mut command = match enter(orders, status, Path::new(name)) {
        Ok(command) => command,
        Err(e) => return e,
    };
    let why = command.args(arguments).exec();
    let is_hidden = matches!(why.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied);
    if orders.confined.is_some() && is_file(Path::new(name)) && is_hidden {
        let told = format!("{why}; {REMEDY}");
        return io::Error::new(why.kind(), told);
    }
    why
}

/// Whether it names a file; the system looks for the others.
fn is_file(name: &Path) -> bool {
    name.components().count() > 1 || name.is_absolute()
}

/// Gives what is to be executed.
fn enter(orders: &Orders, status: &File, name: &Path) -> io::Result<Command> {
    view::own()?;
    let what = |what: &'static str| move |e: io::Error| io::Error::new(e.kind(), format!("{what}: {e}"));
    view::replace(Path::new("/etc/hosts"), &orders.hosts)
        .map_err(what("cannot mount the nodes' names over /etc/hosts"))?;
    let Some(confined) = &orders.confined else {
        view::processes(true)?;
        close(orders.status)?;
        return Ok(Command::new(name));
    };
    close_all_but(status)?;
    // Without a terminal, whose input it could forge.
    setsid()?;
    let (user, group) = (Uid::from_raw(confined.user), Gid::from_raw(confined.user));
    view::processes(false).map_err(what("cannot mount its own /proc"))?;
    let owner = if Uid::effective().is_root() { (user, group) } else { (Uid::effective(), Gid::effective()) };
    view::confine(confined.folder.as_deref(), owner.0, owner.1)
        .map_err(what("cannot set up its own file system"))?;
    setrlimit(Resource::RLIMIT_NPROC, MOST_TASKS, MOST_TASKS)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    privileges::bound(&[])?;
    if Uid::effective().is_root() {
        privileges::become_user(user, group).map_err(what("cannot set up its own user"))?;
    }
    privileges::give_up_all()?;
    syscalls::confine_program().map_err(what("cannot filter its system calls"))?;
    // Here the name of a file is relative to where the run was started.
    let mut command = Command::new(if is_file(name) { confined.from.join(name) } else { name.to_owned() });
    let known = ENVIRONMENT.iter().filter_map(|key| Some((key, std::env::var_os(key)?)));
    let known: Vec<_> = known.collect();
    command.env_clear().envs(known).env("HOME", view::HOME).env("TMPDIR", "/tmp");
    command.envs(reachable_path().map(|path| ("PATH", path)));
    Ok(command)
}

/// Where programs are looked for, without folders that this user may not enter: what is nowhere is not there, rather than forbidden.
fn reachable_path() -> Option<OsString> {
    let all = std::env::var_os("PATH")?;
    std::env::join_paths(std::env::split_paths(&all).filter(|folder| folder.join(".").exists())).ok()
}

/// Closes what was inherited besides the standard streams.
fn close_all_but(kept: &File) -> io::Result<()> {
    let open = fs::read_dir("/proc/self/fd")?;
    let numbers: Vec<RawFd> = open.flatten().filter_map(|f| f.file_name().to_str()?.parse().ok()).collect();
    for fd in numbers.into_iter().filter(|fd| *fd > 2 && *fd != kept.as_raw_fd()) {
        // Reading the folder took one that is closed already.
        let _ = close(fd);
    }
    Ok(())
}
