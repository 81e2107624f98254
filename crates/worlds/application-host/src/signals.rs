//! The signals that end a program.

use std::io;

use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};

/// SIGTERM, SIGINT and SIGHUP, as something to wait for.
///
/// # Errors
/// If the system refuses it.
pub fn signals() -> io::Result<SignalFd> {
    let mut set = SigSet::empty();
    for s in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        set.add(s);
    }
    set.thread_block()?;
    Ok(SignalFd::with_flags(&set, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?)
}
