//! Undoing the changes to a host, even after `kill -9`.
//!
//! Before each change, the node writes down how to undo it: in a list for each interface, in
//! `/run`, where it cannot write after it has dropped its privileges. A second process waits at a
//! pipe from the node; when the node exits or is killed, it carries the lists out and removes them.
//! An orderly exit undoes its changes in the same way.
//!
//! If the second process is killed, the node exits and undoes its changes itself, as far as its
//! privileges allow. If both are killed, the lists remain, and the next start carries them out
//! before it changes anything.
//!
//! * `list`: the lists. `carry_out`: undoing what they contain.
//! * `claim`: an interface belongs to one node, until all is undone. `left`: the changes of killed
//!   nodes.

mod carry_out;
mod claim;
mod left;
mod list;
mod lists;

use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _, stdin};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::unistd::{dup, getppid};
use wayhop_control::paths;
use wayhop_linux::interface::InterfaceFacts;
use wayhop_linux::{Error, interface};

use self::carry_out::carry_out;
use self::claim::{Claim, Key, lock_of, open_own};
pub use self::left::{left, restore};
pub(crate) use self::list::UndoChange;
use self::list::{Family, Setting};
pub use self::list::{ListError, UndoList};
use crate::interfaces::settings::write;
use crate::log::Log;

/// The command, hidden from users, that runs [`undo`].
pub const UNDO_COMMAND: &str = "node-undo";

/// The setting that turns the kernel's own IPv6 off.
pub(crate) const DISABLE_IPV6: &str = "disable_ipv6";
/// How long a node that was killed may take to be gone.
const DYING: Duration = Duration::from_secs(5);

/// The node's interfaces, free of what earlier nodes left.
pub(crate) struct Claims(Vec<(Claim, UndoList)>);

impl Claims {
    /// Takes these interfaces, and undoes changes of killed nodes.
    pub(crate) fn take(interfaces: &[(String, InterfaceFacts)], log: &Log) -> Result<Self, Error> {
        let folder = paths::folder();
        paths::prepare_folder(&folder, 0o700).map_err(Error::system(format!(
            "write to {} what to undo at the end (set WAYHOP_RUNTIME_DIR for another folder)",
            folder.display()
        )))?;
        let (namespace, boot) = (lists::namespace()?, lists::boot()?);
        let mut claims = Vec::new();
        for (name, facts) in interfaces {
            let own = Key { namespace, index: facts.index, interface: name.clone() };
            // It may have had another name, or another one had its name.
            let earlier = Key::all(&folder, namespace).map_err(Error::system("list the undo files"))?;
            let earlier =
                earlier.into_iter().filter(|k| (k.index == own.index) != (k.interface == own.interface));
            for key in earlier {
                free(&mut Claim::take(&folder, &key)?, &key.interface, log)?;
            }
            let mut claim = Claim::take(&folder, &own)?;
            free(&mut claim, name, log)?;
            let (boot, interface) = (boot.clone(), name.clone());
            claims.push((claim, UndoList { boot, index: facts.index, interface, changes: Vec::new() }));
        }
        Ok(Self(claims))
    }
}

fn free(claim: &mut Claim, interface: &str, log: &Log) -> Result<(), Error> {
    if left::set_back(claim)? {
        log.warning(format_args!("{interface}: undid the changes of a killed node"));
    }
    Ok(())
}

/// The list of an interface.
struct ClaimedList {
    claim: Claim,
    list: UndoList,
    /// Open until the list is sealed.
    file: Option<File>,
}

/// The lists, and the node's end of the pipe.
pub(crate) struct Undo {
    child: Child,
    /// Open until the end.
    pipe: Option<ChildStdin>,
    lists: Vec<ClaimedList>,
    log: Log,
}

impl Undo {
    /// Begins the lists, and starts the other process. What it is to hold stays open until its work is done.
    pub(crate) fn start<'a>(
        claims: Claims,
        hold: impl Iterator<Item = BorrowedFd<'a>>,
        log: &Log,
    ) -> Result<Self, Error> {
        let mut lists = Vec::new();
        for (claim, list) in claims.0 {
            let path = claim.list.clone();
            let begin = || {
                let mut file = open_own(OpenOptions::new().write(true).create_new(true), &path)?;
                file.write_all(list.head().as_bytes()).map(|()| file)
            };
            let file = begin().map_err(Error::system(format!("write {}", path.display())))?;
            lists.push(ClaimedList { claim, list, file: Some(file) });
        }
        let start = || {
            // Duplicates that are inherited: they have no flag to be closed when another program is executed.
            let _places = hold.map(dup).collect::<Result<Vec<_>, _>>()?;
            let _locks = lists.iter().map(|own| dup(own.claim.fd())).collect::<Result<Vec<_>, _>>()?;
            Command::new("/proc/self/exe")
                .args([UNDO_COMMAND, &std::process::id().to_string()])
                .args(lists.iter().map(|own| &own.claim.list))
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                // Signals to the node's group, as from a terminal, are not for it.
                .process_group(0)
                .spawn()
        };
        let mut child = start().map_err(Error::system("start the undo process"))?;
        for own in &mut lists {
            own.claim.name_helper(child.id()).map_err(Error::system("write a lock file"))?;
        }
        Ok(Self { pipe: child.stdin.take(), child, lists, log: log.clone() })
    }

    /// Says how to undo a change that is about to be made, in the list of an interface; what is of none has an empty name.
    pub(crate) fn note(&mut self, interface: &str, change: UndoChange) -> Result<(), Error> {
        // What is of no interface is in the first one's.
        let i = self.lists.iter().position(|own| own.list.interface == interface).unwrap_or(0);
        let Some(ClaimedList { claim, list, file: Some(file) }) = self.lists.get_mut(i) else {
            return Ok(());
        };
        change.check().map_err(|e| Error::System(format!("cannot say how to undo a change: {e}")))?;
        let failed = Error::system(format!("write {}", claim.list.display()));
        file.write_all(format!("{change}\n").as_bytes()).map_err(failed)?;
        list.changes.push(change);
        Ok(())
    }

    /// The node may give this setting of an interface a value later.
    pub(crate) fn remember(&mut self, interface: &str, name: &str, new: &str) -> Result<(), Error> {
        let path = interface::ipv4_setting(interface, name);
        self.note(interface, UndoChange::Setting(Setting::before(&path, Family::V4, (interface, name, new))?))
    }

    /// Changes a setting of an interface, or of `all`, if it is not so already.
    pub(crate) fn set(&mut self, interface: &str, name: &str, value: &str) -> Result<(), Error> {
        self.change(&interface::ipv4_setting(interface, name), Family::V4, (interface, name, value))
    }

    /// Turns the kernel's own IPv6 off at an interface.
    pub(crate) fn disable_ipv6(&mut self, interface: &str) -> Result<(), Error> {
        let path = interface::ipv6_setting(interface, DISABLE_IPV6);
        self.change(&path, Family::V6, (interface, DISABLE_IPV6, "1"))
    }

    fn change(
        &mut self,
        path: &Path,
        family: Family,
        (interface, name, value): (&str, &str, &str),
    ) -> Result<(), Error> {
        let setting = Setting::before(path, family, (interface, name, value))?;
        if setting.old == value {
            // Another node of this host may have changed it, and may end before this one.
            let own = self.lists.first().filter(|_| setting.of_all);
            let other = own.and_then(|own| lists::of_others(name, &own.list));
            return other.map_or(Ok(()), |setting| self.note(interface, UndoChange::Setting(setting)));
        }
        self.note(interface, UndoChange::Setting(setting))?;
        write(path, value)
    }

    /// Changes a setting of an interface that is not in the mesh, if it is not so already.
    pub(crate) fn set_elsewhere(&mut self, interface: &str, name: &str, value: &str) -> Result<(), Error> {
        let path = interface::ipv4_setting(interface, name);
        let setting = Setting::before(&path, Family::V4, (interface, name, value))?;
        if setting.old == value {
            return Ok(());
        }
        self.note("", UndoChange::Elsewhere(interface.to_owned(), setting))?;
        write(&path, value)
    }

    /// The node makes a socket here, in a folder that it will not be able to write to.
    pub(crate) fn unlink(&mut self, socket: &Path) -> Result<(), Error> {
        let refused = || Error::System(format!("{}: the path is not UTF-8", socket.display()));
        let path =
            std::path::absolute(socket).map_err(Error::system("find the folder of the control socket"))?;
        let path = path.to_str().ok_or_else(refused)?.to_owned();
        self.note("", UndoChange::Socket(path))
    }

    /// No more changes will come.
    pub(crate) fn seal(&mut self) {
        self.lists.iter_mut().for_each(|own| own.file = None);
    }

    /// Becomes ready, with an error of the pipe, when the other process is no more.
    pub(crate) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.pipe.as_ref().map(ChildStdin::as_fd)
    }

    /// That it is no more: why the node ends.
    pub(crate) fn is_gone(&self) -> Error {
        Error::System(format!(
            "the node's undo process ({}) was killed, so the node exited; restart it",
            self.child.id()
        ))
    }

    /// Has the other process set the host back, or does it if that cannot.
    ///
    /// # Errors
    /// If the host is not as before.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        let Some(mut pipe) = self.pipe.take() else { return Ok(()) };
        // It need not wait for the end of this process. (If it is no more, it hears nothing.)
        let _ = pipe.write_all(b"end\n");
        drop(pipe);
        let status = self.child.wait().map_err(Error::system("wait for the undo process"))?;
        match status.code() {
            Some(0) => Ok(()),
            Some(_) => self.set_back("could not do it"),
            None => self.set_back("was killed"),
        }
    }

    /// Restores the host with the remaining privileges, for the other process, whose claim is
    /// known. The files in folders of root stay.
    fn set_back(&mut self, why: &str) -> Result<(), Error> {
        let mut failures = Vec::new();
        for own in self.lists.iter_mut().rev() {
            let mut list = own.list.clone();
            list.changes.retain(|c| !matches!(c, UndoChange::Socket(_)));
            let failed = carry_out(&list);
            if failed.is_empty() {
                // Before it gave up its privileges, it can remove the list, and the lock with it.
                let noted = own.claim.note_set_back(true);
                failures.extend(noted.err().map(|e| format!("{}: {e}", own.list.interface)));
                let _ = fs::remove_file(&own.claim.list);
            }
            failures.extend(failed);
        }
        if failures.is_empty() {
            let what = "the node undid its changes itself, except for its files in /run";
            self.log.warning(format_args!("the undo process {why}: {what}"));
            return Ok(());
        }
        Err(Error::System(format!(
            "the undo process {why}, and these changes to the host remain: {}; the next start, or `wayhop \
             node --restore`, tries again",
            failures.join("; ")
        )))
    }
}

impl Setting {
    /// A setting of an interface, or of `all`, that has its old value yet.
    fn before(
        path: &Path,
        family: Family,
        (interface, name, new): (&str, &str, &str),
    ) -> Result<Self, Error> {
        let old = interface::read(path).map_err(Error::system(format!("read {}", path.display())))?;
        let (name, new) = (name.to_owned(), new.to_owned());
        Ok(Self { family, of_all: interface == "all", name, old, new })
    }
}

impl Drop for Undo {
    fn drop(&mut self) {
        if let Err(e) = self.finish() {
            self.log.error(e);
        }
    }
}

/// Carries out these lists when a node of this process number says so on standard input, or is no more.
///
/// # Errors
/// If the host is not as before.
pub fn undo(node: u32, lists: &[PathBuf]) -> Result<(), Error> {
    // A signal that ends the node may be sent to this process, too, and must not end it before its
    // work is done.
    let _ = nix::sys::signal::SigSet::all().thread_block();
    // The folder may be gone at the end.
    let files = lists.iter().map(|l| Ok((l, lists::open(l)?))).collect::<Result<Vec<_>, Error>>()?;
    crate::kernel::privileges::keep_network_admin()?;
    let mut told = [0];
    let is_told = stdin().read_exact(&mut told).is_ok();
    let _ = std::io::copy(&mut stdin().lock(), &mut std::io::sink());
    if !is_told {
        wait_for_end(node);
    }
    let mut failures = Vec::new();
    for (path, file) in files.into_iter().rev() {
        let list = file.map(|f| lists::read(path, f)).transpose();
        let failed = match list.map(Option::flatten) {
            Ok(list) => list.map(|l| carry_out(&l)).unwrap_or_default(),
            Err(e) => vec![e.to_string()],
        };
        if failed.is_empty() {
            let _ = fs::remove_file(path);
            let _ = fs::remove_file(lock_of(path));
        }
        failures.extend(failed);
    }
    if failures.is_empty() {
        return Ok(());
    }
    Err(Error::System(format!("cannot undo the node's changes: {}", failures.join("; "))))
}

/// Its TUN goes with it, and until then nobody can take its place.
fn wait_for_end(node: u32) {
    let begun = Instant::now();
    while getppid().as_raw() as u32 == node && begun.elapsed() < DYING {
        sleep(Duration::from_millis(2));
    }
}
