//! An application's record and counters: a file with one JSON object per line. Its rows are lines
//! of their own form.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use wayhop_core::{Addr, TraceNote};

use crate::error::Error;

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// A remark: a row of the table `events`.
    Note {
        /// When, nanoseconds since 1970.
        time_ns: u64,
        /// What happened.
        what: String,
        /// Whom it concerns.
        about: Addr,
        /// A figure that belongs to it.
        value: u64,
    },
    /// What the application had counted when the line was written. The last one counts.
    Figures(BTreeMap<String, f64>),
}

/// The file, if one is wanted.
pub(crate) struct Record(Option<BufWriter<File>>);

impl Record {
    /// Goes on at the end of a file of an earlier life.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Error> {
        let open = |path: &Path| {
            let file = File::options().create(true).append(true).open(path);
            file.map_err(Error::new(format!("cannot write {}", path.display())))
        };
        Ok(Self(path.map(open).transpose()?.map(BufWriter::new)))
    }

    pub(crate) fn note(&mut self, note: &TraceNote) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let TraceNote { what, about, value } = *note;
        self.write(&Line::Note { time_ns: now.as_nanos() as u64, what: what.to_owned(), about, value });
    }

    pub(crate) fn figures(&mut self, figures: &BTreeMap<String, f64>) {
        if !figures.is_empty() {
            self.write(&Line::Figures(figures.clone()));
        }
    }

    /// Has the file get what was written: a `kill -9` leaves it.
    pub(crate) fn flush(&mut self) {
        if self.0.as_mut().is_some_and(|file| file.flush().is_err()) {
            self.0 = None;
        }
    }

    /// Writes a [`Line`], or a row, which is a line of its own form.
    pub(crate) fn write(&mut self, line: &impl Serialize) {
        let Some(file) = &mut self.0 else { return };
        let written = serde_json::to_writer(&mut *file, line).is_ok() && file.write_all(b"\n").is_ok();
        // A full disk ends the record, not the application.
        if !written {
            self.0 = None;
        }
    }
}
