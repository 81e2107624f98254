//! Binding the socket: the file gets its permissions in the same step, and replaces one that nobody
//! listens on.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::paths;

/// Who may connect.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Access {
    /// The user that the server runs as, and root (0600).
    Owner,
    /// Members of its group, too (0660).
    Group,
}

/// The file of a bound socket.
#[derive(Debug)]
pub(super) struct SocketFile {
    pub(super) path: PathBuf,
    inode: u64,
}

impl SocketFile {
    /// Removes it, unless another server has taken its place.
    pub(super) fn remove(&self) {
        if fs::symlink_metadata(&self.path).is_ok_and(|m| m.ino() == self.inode) {
            // If it stays, the next server finds that nobody answers.
            let _ = fs::remove_file(&self.path);
        }
    }
}

pub(super) fn bind(path: &Path, access: Access) -> io::Result<(UnixListener, SocketFile)> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is not that of a file"));
    };
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (mode, folder_mode) = match access {
        Access::Owner => (0o600, 0o700),
        Access::Group => (0o660, 0o750),
    };
    paths::prepare_folder(folder, folder_mode).map_err(|e| within(folder, &e))?;
    // Two servers that start at once: the second waits, and then finds the first one answering.
    let lock = File::open(folder)?;
    flock(&lock, FlockOperation::LockExclusive)?;
    if UnixStream::connect(path).is_ok() {
        return Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            format!("{} is in use by a running run of this name", path.display()),
        ));
    }
    if fs::symlink_metadata(path).is_ok_and(|m| !std::os::unix::fs::FileTypeExt::is_socket(&m.file_type())) {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("{} exists and is not a socket; remove it or choose another name", path.display()),
        ));
    }
    // Bound under another name first, so that nobody can connect before the permissions are right.
    let mut fresh = std::ffi::OsString::from(".");
    fresh.push(name);
    fresh.push(format!(".{}", std::process::id()));
    let fresh = folder.join(fresh);
    let _ = fs::remove_file(&fresh);
    let listener = UnixListener::bind(&fresh).map_err(|e| within(&fresh, &e))?;
    let placed = fs::set_permissions(&fresh, Permissions::from_mode(mode))
        .and_then(|()| fs::metadata(&fresh))
        .and_then(|m| fs::rename(&fresh, path).map(|()| m.ino()))
        .and_then(|inode| listener.set_nonblocking(true).map(|()| inode));
    match placed {
        Ok(inode) => Ok((listener, SocketFile { path: path.to_owned(), inode })),
        Err(e) => {
            let _ = fs::remove_file(&fresh);
            Err(within(path, &e))
        }
    }
}

/// Removes the sockets of this user in a folder that nobody answers at: those of runs that were killed.
pub(super) fn forget_the_dead(folder: &Path) {
    // A server that is about to bind in its place holds this lock, too.
    let Ok(lock) = File::open(folder) else { return };
    if flock(&lock, FlockOperation::LockExclusive).is_err() {
        return;
    }
    let me = rustix::process::geteuid().as_raw();
    for path in paths::sockets_in(folder) {
        let is_own = fs::symlink_metadata(&path).is_ok_and(|m| m.uid() == me);
        let refused = |e: io::Error| e.kind() == io::ErrorKind::ConnectionRefused;
        if is_own && UnixStream::connect(&path).is_err_and(refused) {
            let _ = fs::remove_file(&path);
        }
    }
}

fn within(path: &Path, e: &io::Error) -> io::Error {
    io::Error::new(e.kind(), format!("{}: {e}", path.display()))
}
