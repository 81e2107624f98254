//! How the command ends: its exit statuses.

use std::io;
use std::process::ExitCode;

/// The exit status of the command. A command that runs in a node (`emulate`, `lab`, `exec` with `-- COMMAND`) puts its own
/// instead of [`Status::Done`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Status {
    /// All was done.
    Done = 0,
    /// Something went wrong.
    Failed = 1,
    /// Invalid arguments or input; clap uses the same number.
    Usage = 2,
    /// Only for `replay`: no difference up to the end of a truncated log.
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
            Self::Done => "Success. `replay`: same behaviour. `doctor MODE`: the mode works here.",
            Self::Failed => {
                "Failure with valid input: a system error (permissions, full disk, limits, memory), no answer, a truncated \
                 file, a failed program of the scenario, a bug in Wayhop. `replay`: a difference. `doctor MODE`: the mode \
                 does not work here."
            }
            Self::Usage => {
                "Invalid arguments or input: an argument, a missing or invalid file, a key, the name of a node or run. \
                 Nothing was done."
            }
            Self::SameSoFar => "`replay`: same behaviour up to the end of a truncated log.",
            Self::CannotRun => "The COMMAND of `emulate`, `lab` or `exec` is not executable.",
            Self::NoSuchCommand => "The COMMAND was not found.",
            Self::Interrupted => {
                "Interrupted by Ctrl-C or SIGTERM. A run directory is complete up to then. (`node`, `collect` and `ctl \
                 watch`, which run until stopped, return 0.)"
            }
        }
    }
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status.code())
    }
}
