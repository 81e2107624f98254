//! Programs in nodes.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::Sender;
use std::thread;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::hosts;
use crate::mesh::Stack;

/// A program that is to run in a node.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The node.
    pub node: u32,
    /// Program and arguments.
    pub command: Vec<OsString>,
    /// The file that takes its output and its messages; without one they go where this process's go.
    pub output: Option<PathBuf>,
}

/// How a program ended, or why it did not begin. The number is the one under which it was started.
pub(crate) type Ended = (usize, io::Result<ExitStatus>);

/// A program under way.
pub(crate) struct Running(Pid);

impl Running {
    /// Starts a program in a node. When it ends, `ended` gets to know, and then `wake` is called.
    pub(crate) fn start(
        number: usize,
        launch: &Launch,
        stack: &Stack,
        hosts_file: &Path,
        ended: Sender<Ended>,
        wake: impl FnOnce() + Send + 'static,
    ) -> io::Result<Self> {
        let mut command = command(launch)?;
        let mut child = stack.namespace.within(|| {
            hosts::mount_over(hosts_file)?;
            command.spawn()
        })?;
        let pid = Pid::from_raw(child.id() as i32);
        thread::spawn(move || {
            let status = child.wait();
            // The other end is gone when the run is over.
            let _ = ended.send((number, status));
            wake();
        });
        Ok(Self(pid))
    }

    /// Sends a signal to the program and all that it started.
    pub(crate) fn signal(&self, signal: Signal) {
        // It may have ended already.
        let _ = killpg(self.0, signal);
    }
}

fn command(launch: &Launch) -> io::Result<Command> {
    let (program, arguments) = launch
        .command
        .split_first()
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "an empty command"))?;
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    if let Some(path) = &launch.output {
        let file = File::create(path)?;
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    }
    Ok(command)
}
