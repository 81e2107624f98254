//! How the command ends: its exit statuses.

use std::io;
use std::process::ExitCode;

/// The exit status of the command. A command that runs in a node (`emulate`, `lab`, `exec` with `-- COMMAND`) puts its own
/// in the place of [`Status::Done`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// All was done.
    Done = 0,
    /// Something went wrong.
    Failed = 1,
    /// What the user gave cannot be used; clap has the same number.
    Usage = 2,
    /// Only of `replay`: no difference, as far as a log goes that breaks off.
    SameSoFar = 3,
    /// As shells have it: the command is there, and cannot be run.
    CannotRun = 126,
    /// As shells have it: there is no such command.
    NoSuchCommand = 127,
    /// As shells have it: 128 and the number of SIGINT.
    Interrupted = 130,
}

impl Status {
    /// All of them, by number.
    pub const ALL: [Self; 7] = [
        Self::Done,
        Self::Failed,
        Self::Usage,
        Self::SameSoFar,
        Self::CannotRun,
        Self::NoSuchCommand,
        Self::Interrupted,
    ];

    /// The number.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// That of a command that the system does not start.
    pub fn of_unstarted(why: &io::Error) -> Self {
        if why.kind() == io::ErrorKind::NotFound { Self::NoSuchCommand } else { Self::CannotRun }
    }

    /// What it says, for the reference.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Done => {
                "All was done. `replay`: the engines do the same. `doctor WORLD`: the world works here."
            }
            Self::Failed => {
                "Something went wrong that is not in what the user gave: the system refuses (no rights, a full disk, a \
                 limit, no memory), nobody answers, a file breaks off in the middle, a program of the scenario failed, a \
                 defect of Wayhop. `replay`: an engine does something else. `doctor WORLD`: the world does not work here."
            }
            Self::Usage => {
                "What the user gave cannot be used: an argument, a file that is not there or not what it should be, a key, \
                 a name of a node or run. Nothing was done."
            }
            Self::SameSoFar => {
                "`replay`: the engines do the same as far as a log goes that breaks off in the middle."
            }
            Self::CannotRun => "The COMMAND of `emulate`, `lab` or `exec` is there, and cannot be run.",
            Self::NoSuchCommand => "There is no such COMMAND.",
            Self::Interrupted => {
                "Stopped by Ctrl-C or SIGTERM before its end. A run directory is complete up to there. (`node`, `collect` \
                 and `ctl watch`, which go on until they are stopped, end with 0.)"
            }
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status.code())
    }
}
