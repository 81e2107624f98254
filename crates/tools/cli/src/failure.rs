//! Failures of commands: one message and an exit status.

use std::fmt::Display;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

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

/// A failure of the command.
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
    /// A file could not be written.
    pub(crate) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.display().to_string();
        move |e| Self::Run(format!("cannot write {path}: {e}"))
    }

    /// Error of a run directory or a table: invalid ones are a usage error, system errors are not.
    pub(crate) fn trace(e: wayhop_trace::Error) -> Self {
        match e {
            wayhop_trace::Error::Invalid { .. } => Self::usage(e),
            wayhop_trace::Error::Io { .. } => Self::run(e),
        }
    }

    /// Prints what went wrong.
    pub(crate) fn report(self) -> ExitCode {
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

/// Prints text for people.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let text: Vec<String> = text.lines().map(|l| harmless(l) + "\n").collect();
    output(io::stdout().write_all(text.concat().as_bytes()))
}

/// Prints an object of JSON as a line.
pub(crate) fn print_object(value: &impl Serialize) -> Result<(), Failure> {
    let value = serde_json::to_value(value).map_err(Failure::run)?;
    output(writeln!(io::stdout(), "{}", Document::from(value)))
}

/// The outcome of writing to standard output: a closed pipe (`| head`) is not a failure.
pub(crate) fn output(outcome: io::Result<()>) -> Result<(), Failure> {
    match outcome {
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(e) => Err(Failure::Run(format!("cannot write to standard output: {e}"))),
        Ok(()) => Ok(()),
    }
}
