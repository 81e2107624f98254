//! Log lines: on standard error, or in a file.

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_control::gpsd::iso8601;
use wayhop_linux::Error;

/// How much is told.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Level {
    /// What stops the node.
    Error,
    /// What goes wrong, and it goes on.
    Warning,
    /// Beginning, end, and changes of the interface.
    #[default]
    Info,
    /// Routes as they come and go.
    Debug,
}

/// Tells who wants to know.
#[derive(Clone, Debug)]
pub(crate) struct Log(Arc<LogSink>);

#[derive(Debug)]
struct LogSink {
    level: AtomicU8,
    file: Option<(PathBuf, Mutex<File>)>,
}

impl Log {
    /// To this file, which `user` is to write later, or to standard error.
    pub(crate) fn open(level: Level, file: Option<&Path>, user: &str) -> Result<Self, Error> {
        let file = match file {
            None => None,
            Some(path) => {
                crate::kernel::ownership::prepare_folder(path, user)?;
                let is_new = !path.exists();
                let opened = append(path).and_then(|f| {
                    if is_new {
                        crate::kernel::ownership::give_to(path, user)?;
                    }
                    Ok(f)
                });
                let opened = opened.map_err(Error::system(format!("write the log {}", path.display())))?;
                Some((path.to_owned(), Mutex::new(opened)))
            }
        };
        Ok(Self(Arc::new(LogSink { level: AtomicU8::new(level as u8), file })))
    }

    /// Tells so much from now on.
    pub(crate) fn set_level(&self, level: Level) {
        self.0.level.store(level as u8, Ordering::Relaxed);
    }

    /// Goes on in a file of the same name: the old one may have been renamed.
    pub(crate) fn reopen(&self) -> io::Result<()> {
        if let Some((path, file)) = &self.0.file {
            *file.lock().unwrap_or_else(PoisonError::into_inner) = append(path)?;
        }
        Ok(())
    }

    /// What stops the node.
    pub(crate) fn error(&self, what: impl Display) {
        self.tell(Level::Error, "error", what);
    }

    /// What goes wrong, and the node goes on.
    pub(crate) fn warning(&self, what: impl Display) {
        self.tell(Level::Warning, "warning", what);
    }

    /// Beginning, end, and changes.
    pub(crate) fn info(&self, what: impl Display) {
        self.tell(Level::Info, "info", what);
    }

    /// Routes as they come and go.
    pub(crate) fn debug(&self, what: impl Display) {
        self.tell(Level::Debug, "debug", what);
    }

    fn tell(&self, level: Level, name: &str, what: impl Display) {
        if level as u8 > self.0.level.load(Ordering::Relaxed) {
            return;
        }
        let line = format!("{} {name}: {what}\n", iso8601(SystemTime::now()));
        // A node whose log is on a full disk goes on. (`eprintln!` would panic.)
        let _ = match &self.0.file {
            None => io::stderr().write_all(line.as_bytes()),
            Some((_, file)) => file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes()),
        };
    }
}

/// Something that goes wrong for a while: it is logged once, and so is its end.
#[derive(Debug)]
pub(crate) struct Trouble {
    log: Log,
    told: Option<String>,
}

impl Trouble {
    pub(crate) fn new(log: &Log) -> Self {
        Self { log: log.clone(), told: None }
    }

    /// Why it goes wrong now, if it does.
    pub(crate) fn is(&mut self, why: Option<String>, wrong: impl Display, over: impl Display) {
        if why == self.told {
            return;
        }
        match &why {
            Some(why) => self.log.warning(format_args!("{wrong}{why}")),
            None => self.log.info(over),
        }
        self.told = why;
    }
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}
