//! Log lines: on standard error, or in a file.

use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_linux::Error;
use wayhop_trace::civil;

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

    fn is_on(&self, level: Level) -> bool {
        level as u8 <= self.0.level.load(Ordering::Relaxed)
    }

    pub(crate) fn tell(&self, level: Level, what: impl Display) {
        if !self.is_on(level) {
            return;
        }
        let name = match level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Info => "info",
            Level::Debug => "debug",
        };
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let line = format!("{} {name}: {what}\n", utc(now));
        // A node whose log is on a full disk goes on. (`eprintln!` would panic.)
        let _ = match &self.0.file {
            None => io::stderr().write_all(line.as_bytes()),
            Some((_, file)) => file.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes()),
        };
    }
}

/// So long after the beginning of 1970, as ISO 8601 writes it, to the millisecond: `2026-11-21T20:25:45.120Z`.
fn utc(since_1970: Duration) -> String {
    let (days, s) = (since_1970.as_secs() / 86_400, since_1970.as_secs() % 86_400);
    let (year, month, day) = civil(days.cast_signed());
    let (h, m, s, ms) = (s / 3_600, s / 60 % 60, s % 60, since_1970.subsec_millis());
    format!("{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}.{ms:03}Z")
}

fn append(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).append(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_those_of_date_u() {
        // date -u -d @1795292745.12 +%FT%T.%3NZ
        assert_eq!(utc(Duration::from_millis(1_795_292_745_120)), "2026-11-21T20:25:45.120Z");
    }
}
