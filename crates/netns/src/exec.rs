//! A program in a node of a run that another process drives.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use nix::sched::{CloneFlags, setns};

use crate::error::Error;
use crate::hosts;
use crate::registry::Entry;

/// Becomes the command, in this node. Returns only if that fails.
pub fn exec(run: &Entry, node: usize, command: &[OsString]) -> Error {
    match enter(run, node) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            return Error::NotFound("the run has ended; `wayhop ctl list` shows what runs".to_owned());
        }
        Err(e) => return Error::system("cannot enter the node", e),
        Ok(()) => {}
    }
    let Some((program, arguments)) = command.split_first() else {
        return Error::NotFound("there is no command".to_owned());
    };
    let why = Command::new(program).args(arguments).exec();
    Error::Program { program: program.to_string_lossy().into_owned(), why }
}

fn enter(run: &Entry, node: usize) -> io::Result<()> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let fd = run.namespaces.get(node).ok_or_else(missing)?;
    let namespace = File::open(format!("/proc/{}/fd/{fd}", run.pid))?;
    setns(namespace, CloneFlags::CLONE_NEWNET)?;
    hosts::mount_over(&run.hosts)
}
