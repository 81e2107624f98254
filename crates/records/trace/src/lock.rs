//! Files and folders that one process at a time may write into.

use std::fs::File;
use std::io;
use std::path::Path;

/// Locks a folder until the returned file is closed, or the process ends, however it does.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] if another process or value has the lock; other kinds if the folder cannot be opened. Where
/// there are no such locks (some file systems, systems other than Unix), locking always succeeds.
pub fn lock_folder(path: &Path) -> io::Result<Option<File>> {
    // Elsewhere folders are no files that could be opened.
    if cfg!(not(unix)) {
        return Ok(None);
    }
    let folder = File::open(path)?;
    lock_file(&folder)?;
    Ok(Some(folder))
}

/// Locks an open file, as [`lock_folder`] does a folder.
///
/// # Errors
/// [`io::ErrorKind::WouldBlock`] if another process or value has the lock.
#[cfg(unix)]
pub fn lock_file(file: &File) -> io::Result<()> {
    use rustix::fs::{FlockOperation, flock};
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => Err(io::ErrorKind::WouldBlock.into()),
        // Where the file system knows no locks, nothing is lost but the check.
        _ => Ok(()),
    }
}

/// There are no locks here that end with the process and leave readers alone.
#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
pub fn lock_file(_: &File) -> io::Result<()> {
    Ok(())
}

/// Gives a lock back while copies of its file are open.
pub(crate) fn unlock(file: &File) {
    #[cfg(unix)]
    let _ = rustix::fs::flock(file, rustix::fs::FlockOperation::Unlock);
    #[cfg(not(unix))]
    let _ = file;
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once_until_the_lock_is_dropped() {
        let dir = tempfile::tempdir().expect("a folder");
        let first = lock_folder(dir.path()).expect("the lock is free");
        let refused = lock_folder(dir.path()).map(drop).map_err(|e| e.kind());
        assert_eq!(refused, Err(io::ErrorKind::WouldBlock));
        drop(first);
        assert!(lock_folder(dir.path()).is_ok());
    }
}
