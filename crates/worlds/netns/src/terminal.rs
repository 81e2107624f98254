//! The terminal, lent to a program in a node: it gets the input, including Ctrl-C, as a command of
//! a shell does.

use std::io::{self, IsTerminal as _};

use nix::sys::signal::{SigSet, Signal, killpg};
use nix::sys::wait::{Id, WaitPidFlag, WaitStatus, waitid};
use nix::unistd::{Pid, getpgrp, tcgetpgrp, tcsetpgrp};

/// The terminal of this process's standard input, while a program has it. Comes back with this value.
pub(crate) struct Terminal(Pid);

impl Terminal {
    /// Lends it to a program that was started in a process group of its own. There must be one, and it must be this
    /// process's to lend.
    pub(crate) fn lend(program: u32) -> Option<Self> {
        let stdin = io::stdin();
        let program = Pid::from_raw(program.cast_signed());
        if !stdin.is_terminal() || tcgetpgrp(&stdin).ok()? != getpgrp() {
            return None;
        }
        tcsetpgrp(&stdin, program).ok()?;
        // It may have asked for the terminal too early, and been stopped. If it has ended, there is nobody to go on.
        let _ = killpg(program, Signal::SIGCONT);
        Some(Self(program))
    }

    /// Waits until the program ends. No shell is there to continue one that is suspended (Ctrl-Z), so it goes on at once.
    pub(crate) fn keep_going(&self) {
        let one = |flags| waitid(Id::Pid(self.0), flags);
        let ended = WaitPidFlag::WEXITED | WaitPidFlag::WNOWAIT;
        loop {
            match one(ended | WaitPidFlag::WSTOPPED) {
                Ok(WaitStatus::Stopped(_, by)) => {
                    let _ = one(WaitPidFlag::WSTOPPED | WaitPidFlag::WNOHANG);
                    // Who stops it otherwise will continue it.
                    if by == Signal::SIGTSTP {
                        let _ = killpg(self.0, Signal::SIGCONT);
                    }
                }
                Err(nix::Error::EINTR) => {}
                Ok(_) | Err(_) => return,
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // Who takes a terminal from the background is stopped, unless it does not listen.
        let mut background = SigSet::empty();
        background.add(Signal::SIGTTOU);
        if background.thread_block().is_ok() {
            // Without a terminal any more there is none to take back.
            let _ = tcsetpgrp(io::stdin(), getpgrp());
            let _ = background.thread_unblock();
        }
    }
}
