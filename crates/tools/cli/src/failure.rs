//! Failures of commands, one message and an exit status each; and what commands print.

use std::fmt::Display;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{ExitCode, Termination};

use serde::Serialize;
use wayhop_report::Document;
use wayhop_trace::Status;

/// Prints a line to standard error. Unlike `eprintln!` it does not panic if that fails: a full disk or a closed pipe must
/// not stop a node.
macro_rules! say {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}
pub(crate) use say;

/// Prints a line to standard output.
macro_rules! out {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        $crate::failure::output(writeln!(std::io::stdout(), $($text)*))
    }};
}
pub(crate) use out;

/// A failure because of invalid arguments or input, with this message.
macro_rules! usage {
    ($($text:tt)*) => {
        $crate::failure::Failure::Usage(format!($($text)*))
    };
}
pub(crate) use usage;

#[derive(Debug)]
pub(crate) enum Failure {
    /// Invalid arguments or input.
    Usage(String),
    /// An invalid scenario or invalid files of it: a line for each problem.
    Scenario(Vec<String>),
    /// Something went wrong with valid input.
    Run(String),
    /// Interrupted before there was anything to show.
    Stopped(String),
    /// A failure with its own status.
    #[cfg(feature = "linux")]
    Because(String, Status),
}

impl Failure {
    pub(crate) fn usage(e: impl Display) -> Self {
        Self::Usage(e.to_string())
    }
    pub(crate) fn run(e: impl Display) -> Self {
        Self::Run(e.to_string())
    }
    /// A file of the command line could not be read.
    pub(crate) fn read(path: &Path) -> impl Fn(io::Error) -> Self {
        let path = path.display().to_string();
        move |e| usage!("cannot read {path}: {e}; check the name and the permissions")
    }
    /// A file could not be written.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |e| Self::Run(format!("cannot write {path}: {e}; check that its folder exists and is writable"))
    }

    /// Error of a run directory or a table: invalid ones are a usage error, system errors are not.
    pub(crate) fn trace(e: wayhop_trace::Error) -> Self {
        match e {
            wayhop_trace::Error::Invalid { .. } => Self::usage(e),
            wayhop_trace::Error::Io { .. } => Self::run(e),
        }
    }

    /// Prints what went wrong.
    fn report(self) -> ExitCode {
        let (lines, status) = match self {
            Self::Usage(m) => (vec![m], Status::Usage),
            Self::Scenario(lines) => (lines, Status::Usage),
            Self::Run(m) => (vec![m], Status::Failed),
            Self::Stopped(m) => (vec![m], Status::Interrupted),
            #[cfg(feature = "linux")]
            Self::Because(m, status) => (vec![m], status),
        };
        for line in &lines {
            say!("wayhop: {}", harmless(line));
        }
        status.into()
    }
}

/// Ends a command with its exit status; a failure is one message on standard error.
pub(crate) fn exit(outcome: Result<impl Termination, Failure>) -> ExitCode {
    match outcome {
        Ok(done) => done.report(),
        Err(failure) => failure.report(),
    }
}

impl From<wayhop_document::Error> for Failure {
    fn from(e: wayhop_document::Error) -> Self {
        Self::Scenario(e.lines())
    }
}

#[cfg(feature = "linux")]
impl From<wayhop_netns::Error> for Failure {
    fn from(e: wayhop_netns::Error) -> Self {
        Self::Because(e.to_string(), e.status())
    }
}

impl From<wayhop_runs::Error> for Failure {
    fn from(e: wayhop_runs::Error) -> Self {
        match e {
            wayhop_runs::Error::Usage(m) => Self::Usage(m),
            wayhop_runs::Error::Stopped(m) => Self::Stopped(m),
            wayhop_runs::Error::Run(_) | wayhop_runs::Error::Defect(_) => Self::run(e),
        }
    }
}

/// Prints warnings about a result.
pub(crate) fn warn<'a>(warnings: impl IntoIterator<Item = &'a String>) {
    for w in warnings {
        say!("warning: {}", harmless(w));
    }
}

/// A message may quote any file, and a terminal obeys control characters.
pub(crate) fn harmless(message: &str) -> String {
    message.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Prints text that this program wrote.
pub(crate) fn put(text: impl Display) -> Result<(), Failure> {
    output(write!(io::stdout(), "{text}"))
}

/// Writes text to a file or, without one, to standard output.
pub(crate) fn put_into(out: Option<&Path>, text: &str) -> Result<(), Failure> {
    match out {
        Some(path) => fs::write(path, text).map_err(Failure::write(path)),
        None => put(text),
    }
}

/// Prints text for people that may quote other sources.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    put(text.lines().map(|l| harmless(l) + "\n").collect::<String>())
}

pub(crate) fn json_line(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string(value).map(|json| json + "\n").map_err(Failure::run)
}

/// Prints an object of JSON as a line, with the version of this program.
pub(crate) fn print_object(value: &impl Serialize) -> Result<(), Failure> {
    out!("{}", Document::from(serde_json::to_value(value).map_err(Failure::run)?))
}

/// The outcome of writing to standard output: a closed pipe (`| head`) is not a failure.
pub(crate) fn output(outcome: io::Result<()>) -> Result<(), Failure> {
    match outcome {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(Failure::Run(format!("cannot write to standard output: {e}"))),
        Ok(()) => Ok(()),
    }
}
