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
    match try_exec(run, node, command) {
        Ok(never) => match never {},
        Err(e) if e.kind() == io::ErrorKind::NotFound => Error::NotFound(format!(
            "{}: no such program, or the run has ended",
            command.first().map(|c| c.to_string_lossy()).unwrap_or_default()
        )),
        Err(e) => Error::system("cannot enter the node", e),
    }
}

fn try_exec(run: &Entry, node: usize, command: &[OsString]) -> io::Result<std::convert::Infallible> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    let fd = run.namespaces.get(node).ok_or_else(missing)?;
    let namespace = File::open(format!("/proc/{}/fd/{fd}", run.pid))?;
    setns(namespace, CloneFlags::CLONE_NEWNET)?;
    hosts::mount_over(&run.hosts)?;
    let (program, arguments) = command.split_first().ok_or_else(missing)?;
    Err(Command::new(program).args(arguments).exec())
}
