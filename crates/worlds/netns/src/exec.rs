//! A program in a node of a run that another process drives.

use std::ffi::OsString;
use std::io;

use nix::libc;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::unistd::Pid;

use crate::error::Error;
use crate::launch::{LaunchSite, LaunchedProgram, launch};
use crate::program::exit_code;
use crate::registry::RunEntry;

/// Runs a command in this node, with all rights of who calls. Returns its exit status.
pub fn exec(run: &RunEntry, node: usize, command: &[OsString]) -> Result<i32, Error> {
    let signals = signals().map_err(|e| Error::system("cannot wait for signals", e))?;
    let start = || {
        let (namespace, pids) = run.enter(node)?;
        let place = LaunchSite { namespace: &namespace, pids: &pids, hosts: &run.hosts };
        launch(&place, None, command, |_| {})
    };
    let mut started = start().map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => {
            Error::NotFound("the run has ended; `wayhop ctl list` shows what is running".to_owned())
        }
        _ => Error::system("cannot enter the node", e),
    })?;
    started.began().map_err(|why| {
        let program = command.first().map(|c| c.to_string_lossy().into_owned()).unwrap_or_default();
        Error::Program { program, why }
    })?;
    wait(&signals, started).map_err(|e| Error::system("cannot wait for the command", e))
}

/// What is meant for the command, and its end. Nobody else takes them: the command begins with none blocked.
fn signals() -> io::Result<SignalFd> {
    let all = [Signal::SIGCHLD, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGINT, Signal::SIGQUIT];
    let set: SigSet = all.into_iter().collect();
    set.thread_block()?;
    Ok(SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC)?)
}

fn wait(signals: &SignalFd, mut started: LaunchedProgram) -> io::Result<i32> {
    let pid = Pid::from_raw(started.child.id().cast_signed());
    loop {
        if let Some(status) = started.child.try_wait()? {
            return Ok(exit_code(status));
        }
        match signals.read_signal() {
            // What a terminal sends, the command has got, too: it is of the same group.
            Ok(Some(s)) if s.ssi_code != libc::SI_KERNEL => {
                let signal = Signal::try_from(s.ssi_signo.cast_signed())?;
                if signal != Signal::SIGCHLD {
                    // It may have ended meanwhile.
                    let _ = kill(pid, signal);
                }
            }
            Ok(_) | Err(nix::Error::EINTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}
