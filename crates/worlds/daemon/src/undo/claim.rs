//! An interface belongs to one node, until its changes are undone: a file that is locked (`flock`).
//!
//! The node and the undo process hold the lock together; it is released with the last of them,
//! however they end. The file says who they are. The node can write to it after it has dropped its
//! privileges, so its content is not trusted.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::libc::{O_NOFOLLOW, O_NONBLOCK};
use nix::sys::signal::kill;
use nix::unistd::Pid;
use wayhop_linux::Error;
use wayhop_trace::lock_file;

/// A process that was killed takes its time to be gone: so long one that holds the interface is looked at.
const DYING: Duration = Duration::from_millis(500);
/// How long the process that sets the host back is waited for.
const AT_WORK: Duration = Duration::from_secs(10);
const AGAIN: Duration = Duration::from_millis(10);
/// More is nothing that a node has written, octets.
const MAX_LOCK: usize = 256;

/// An interface, by network namespace, number and name. Namespaces may share the folder, and have
/// interfaces of the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) namespace: u64,
    pub(crate) index: u32,
    pub(crate) interface: String,
}

impl Key {
    /// The file of the list.
    pub(crate) fn list(&self, folder: &Path) -> PathBuf {
        folder.join(format!("node-{}-{}-{}.undo", self.namespace, self.index, self.interface))
    }

    /// The keys of all lists and locks in a folder that are of one network namespace.
    pub(crate) fn all(folder: &Path, namespace: u64) -> io::Result<Vec<Self>> {
        let entries = match fs::read_dir(folder) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries?,
        };
        let names = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
        let mut all: Vec<Self> =
            names.filter_map(|n| Self::of_file(&n)).filter(|k| k.namespace == namespace).collect();
        all.sort_by(|a, b| (a.index, &a.interface).cmp(&(b.index, &b.interface)));
        all.dedup();
        Ok(all)
    }

    fn of_file(name: &str) -> Option<Self> {
        let name = name.strip_prefix("node-")?;
        let name = name.strip_suffix(".undo").or_else(|| name.strip_suffix(".lock"))?;
        let (namespace, rest) = name.split_once('-')?;
        let (index, interface) = rest.split_once('-')?;
        let key = Self {
            namespace: namespace.parse().ok()?,
            index: index.parse().ok()?,
            interface: interface.to_owned(),
        };
        crate::config::interface_name::is_interface_name(interface).then_some(key)
    }
}

/// The lock of a list.
pub(crate) fn lock_of(list: &Path) -> PathBuf {
    list.with_extension("lock")
}

/// Opens a file that only this user and root can have made and written.
pub(crate) fn open_own(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    let file = options.mode(0o600).custom_flags(O_NOFOLLOW | O_NONBLOCK).open(path)?;
    let m = file.metadata()?;
    let me = nix::unistd::geteuid().as_raw();
    let of_others = m.mode() & 0o077;
    // Removed by its owner meanwhile, it has no name any more.
    if m.is_file() && (m.uid() == me || m.uid() == 0) && of_others == 0 && m.nlink() <= 1 {
        return Ok(file);
    }
    Err(io::Error::new(
        ErrorKind::PermissionDenied,
        "not a file that only its owner (root or you) can read and write; check its origin and remove it",
    ))
}

/// Why an interface cannot be had.
pub(crate) enum Refusal {
    /// A node runs on it.
    Runs(Error),
    /// Something else.
    Other(Error),
}

impl From<Refusal> for Error {
    fn from(r: Refusal) -> Self {
        match r {
            Refusal::Runs(e) | Refusal::Other(e) => e,
        }
    }
}

/// An interface that is this node's.
pub(crate) struct Claim {
    /// The file of the undo list.
    pub(crate) list: PathBuf,
    lock: File,
    /// What the lock's file says.
    said: Holders,
}

impl Claim {
    /// Takes an interface. If another node runs on it, this fails at once; an undo process is waited for.
    pub(crate) fn take(folder: &Path, key: &Key) -> Result<Self, Refusal> {
        let list = key.list(folder);
        let path = lock_of(&list);
        let failed = |e| Refusal::Other(Error::system(format!("lock {}", path.display()))(e));
        let begun = Instant::now();
        loop {
            let mut options = OpenOptions::new();
            let lock = open_own(options.read(true).write(true).create(true).truncate(false), &path)
                .map_err(failed)?;
            let locked = lock_file(&lock);
            let said = Holders::read(&lock);
            match locked {
                Ok(()) if is_at(&lock, &path) => {
                    // What was its interface for programs goes with it.
                    while said.node_runs() && begun.elapsed() < DYING {
                        sleep(AGAIN);
                    }
                    let mut own = Self { list, lock, said };
                    own.said.node = Process::this();
                    own.write().map_err(failed)?;
                    return Ok(own);
                }
                // Its holder removed it, and is done.
                Ok(()) => continue,
                Err(e) if e.kind() != ErrorKind::WouldBlock => return Err(failed(e)),
                Err(_) => {}
            }
            if said.node_runs() && begun.elapsed() > DYING {
                return Err(Refusal::Runs(said.runs(&key.interface)));
            }
            if begun.elapsed() > AT_WORK {
                return Err(Refusal::Other(said.at_work(&key.interface)));
            }
            sleep(AGAIN);
        }
    }

    /// Whether nobody has the interface of this list, and what it says holds.
    pub(crate) fn is_abandoned(list: &Path) -> io::Result<bool> {
        match open_own(OpenOptions::new().read(true), &lock_of(list)) {
            Ok(lock) => Ok(lock_file(&lock).is_ok() && !Holders::read(&lock).is_set_back),
            Err(e) if e.kind() == ErrorKind::NotFound => Ok(true),
            Err(e) => Err(e),
        }
    }

    /// For a process that is to hold the interface, too.
    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.lock.as_fd()
    }

    /// Whether an earlier node undid the changes in its list itself, and could not remove the list.
    pub(crate) fn was_set_back(&self) -> bool {
        self.said.is_set_back
    }

    /// This process will set the host back.
    pub(crate) fn name_helper(&mut self, id: u32) -> io::Result<()> {
        self.said.helper = Some(id);
        self.write()
    }

    /// Whether what the list says holds no more.
    pub(crate) fn note_set_back(&mut self, is_set_back: bool) -> io::Result<()> {
        self.said.is_set_back = is_set_back;
        self.write()
    }

    fn write(&self) -> io::Result<()> {
        let text = self.said.text();
        self.lock.write_all_at(text.as_bytes(), 0)?;
        self.lock.set_len(text.len() as u64)
    }
}

impl Drop for Claim {
    /// The lock's file is removed if nothing is left to undo. A node that has dropped its
    /// privileges leaves that to others.
    fn drop(&mut self) {
        let path = lock_of(&self.list);
        if fs::symlink_metadata(&self.list).is_err() && is_at(&self.lock, &path) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Whether an open file is the one of this name.
fn is_at(file: &File, path: &Path) -> bool {
    let id = |m: fs::Metadata| (m.dev(), m.ino());
    file.metadata().map(id).ok() == fs::symlink_metadata(path).map(id).ok()
}

/// A process; its number may be another's later, the time when it began, in ticks since the boot, not.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Process {
    id: u32,
    began: u64,
}

impl Process {
    fn this() -> Option<Self> {
        let id = std::process::id();
        Some(Self { id, began: state_of(id)?.1 })
    }

    fn runs(self) -> bool {
        let Ok(id) = i32::try_from(self.id) else { return false };
        if id < 1 || kill(Pid::from_raw(id), None) == Err(Errno::ESRCH) {
            return false;
        }
        // Some systems hide others' processes: then all that is known is that there is one.
        state_of(self.id).is_none_or(|(state, began)| !matches!(state, 'Z' | 'X') && began == self.began)
    }
}

/// The state of a process and when it began (proc(5), stat).
fn state_of(id: u32) -> Option<(char, u64)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // Its name is in parentheses, and may have some in it.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_ascii_whitespace();
    let state = words.next()?.chars().next()?;
    Some((state, words.nth(18)?.parse().ok()?))
}

/// What a lock's file says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Holders {
    node: Option<Process>,
    /// The process that sets the host back.
    helper: Option<u32>,
    is_set_back: bool,
}

impl Holders {
    fn read(lock: &File) -> Self {
        let mut octets = [0; MAX_LOCK];
        let n = lock.read_at(&mut octets, 0).unwrap_or(0);
        Self::parse(&octets[..n])
    }

    /// What cannot be understood is not there.
    fn parse(octets: &[u8]) -> Self {
        let mut found = Self::default();
        for line in String::from_utf8_lossy(octets).lines() {
            match line.split(' ').collect::<Vec<_>>()[..] {
                ["node", id, began] => {
                    found.node =
                        id.parse().ok().zip(began.parse().ok()).map(|(id, began)| Process { id, began });
                }
                ["helper", id] => found.helper = id.parse().ok(),
                ["set-back"] => found.is_set_back = true,
                _ => {}
            }
        }
        found
    }

    fn text(&self) -> String {
        let mut text = String::new();
        if let Some(Process { id, began }) = self.node {
            let _ = writeln!(text, "node {id} {began}");
        }
        if let Some(id) = self.helper {
            let _ = writeln!(text, "helper {id}");
        }
        if self.is_set_back {
            text += "set-back\n";
        }
        text
    }

    fn node_runs(&self) -> bool {
        self.node.is_some_and(Process::runs)
    }

    fn runs(&self, interface: &str) -> Error {
        let id = self.node.map_or(0, |p| p.id);
        Error::System(format!(
            "a node is already running on {interface}, as process {id}; stop it first (kill {id}), or set \
             another `interface`"
        ))
    }

    fn at_work(&self, interface: &str) -> Error {
        let (who, end) = match self.helper {
            Some(id) => (format!(" (process {id})"), format!(": kill -9 {id}")),
            None => Default::default(),
        };
        Error::System(format!(
            "an earlier node's changes to {interface} are still being undone{who}, after {} s; if that process \
             hangs, start the node again after killing it{end}",
            AT_WORK.as_secs()
        ))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key() -> Key {
        Key { namespace: 77, index: 3, interface: "eth-1.5".to_owned() }
    }

    #[test]
    fn files_of_other_namespaces_and_other_files_are_no_keys_of_this_one() {
        let dir = tempfile::tempdir().unwrap();
        let other = Key { namespace: 78, ..key() };
        for k in [&key(), &other] {
            fs::write(k.list(dir.path()), "").unwrap();
            fs::write(lock_of(&k.list(dir.path())), "").unwrap();
        }
        fs::write(dir.path().join("node-77-x.undo"), "").unwrap();
        fs::write(dir.path().join("mesh0.sock"), "").unwrap();
        assert_eq!(Key::all(dir.path(), 77).unwrap(), [key()]);
        assert_eq!(Key::all(&dir.path().join("none"), 77).unwrap(), []);
    }

    #[test]
    fn an_interface_is_one_nodes_and_the_refusal_names_its_process() {
        let dir = tempfile::tempdir().unwrap();
        let first = Claim::take(dir.path(), &key()).map_err(Error::from).unwrap();
        assert!(!Claim::is_abandoned(&first.list).unwrap());
        let Err(Refusal::Runs(e)) = Claim::take(dir.path(), &key()) else { panic!("it is taken") };
        assert!(e.to_string().contains(&format!("process {}", std::process::id())), "{e}");
        drop(first);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is left");
        assert!(Claim::take(dir.path(), &key()).is_ok());
    }

    #[test]
    fn a_lock_that_others_could_write_or_that_is_a_link_is_refused() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let dir = tempfile::tempdir().unwrap();
        let path = lock_of(&key().list(dir.path()));
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(matches!(Claim::take(dir.path(), &key()), Err(Refusal::Other(_))));
        fs::remove_file(&path).unwrap();
        let target = dir.path().join("target");
        fs::write(&target, "untouched").unwrap();
        symlink(&target, &path).unwrap();
        assert!(matches!(Claim::take(dir.path(), &key()), Err(Refusal::Other(_))));
        assert_eq!(fs::read_to_string(target).unwrap(), "untouched");
    }

    #[test]
    fn a_process_of_the_same_number_that_began_at_another_time_is_another() {
        let this = Process::this().unwrap();
        assert!(this.runs());
        assert!(!Process { began: this.began + 1, ..this }.runs());
        for id in [0, u32::MAX] {
            assert!(!Process { id, began: 0 }.runs());
        }
    }

    proptest! {
        #[test]
        fn a_lock_may_say_anything(octets: Vec<u8>, id: u32, began: u64, is_set_back: bool) {
            Holders::parse(&octets);
            let said = Holders { node: Some(Process { id, began }), helper: Some(id), is_set_back };
            prop_assert!(said.text().len() <= MAX_LOCK);
            prop_assert_eq!(Holders::parse(said.text().as_bytes()), said);
        }
    }
}
