//! Errors of this machine, and their fixes.

use std::io;

use wayhop_trace::Status;

/// Why a world on this machine does not run.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The kernel refuses what namespaces and interfaces need.
    #[error("{what}: {why}; {remedy}")]
    System {
        /// What was tried.
        what: String,
        /// What the system said.
        why: io::Error,
        /// What helps.
        remedy: &'static str,
    },
    /// This process may not have as much as the run needs.
    #[error("{0}")]
    Limit(String),
    /// The user stopped it before it began.
    #[error("stopped before all nodes were up")]
    Stopped,
    /// No run or node of this name.
    #[error("{0}")]
    NotFound(String),
    /// A program cannot be started.
    #[error("cannot start {program}: {why}")]
    Program {
        /// Its name.
        program: String,
        /// What the system said.
        why: io::Error,
    },
}

impl Error {
    /// The exit status of a command that fails for this reason.
    pub fn status(&self) -> Status {
        match self {
            Self::Program { why, .. } => Status::of_unstarted(why),
            Self::NotFound(_) => Status::Usage,
            Self::Stopped => Status::Interrupted,
            Self::System { .. } | Self::Limit(_) => Status::Failed,
        }
    }

    /// An error of the system, with the remedy that its kind suggests.
    pub fn system(what: impl Into<String>, why: impl Into<io::Error>) -> Self {
        let why = why.into();
        let remedy = match why.kind() {
            io::ErrorKind::PermissionDenied => "run it as root, or with CAP_SYS_ADMIN and CAP_NET_ADMIN",
            io::ErrorKind::NotFound => "`wayhop doctor emulate` shows what is missing",
            _ if why.raw_os_error() == Some(nix::libc::EMFILE) => {
                "raise the limit of open files: ulimit -n 65536"
            }
            _ => "`wayhop doctor emulate` looks for the cause",
        };
        Self::System { what: what.into(), why, remedy }
    }
}
