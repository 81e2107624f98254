//! The record of a real agent: a file with a JSON object a line.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use wayhop_bundle_node::{Line, Record};

use crate::error::Error;

/// The file, if one is wanted.
#[derive(Default)]
pub(crate) struct Recorder(Option<BufWriter<File>>);

impl Recorder {
    /// Goes on at the end of a file of an earlier life.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Error> {
        let open = |path: &Path| {
            let file = File::options().create(true).append(true).open(path);
            file.map_err(Error::system(format!("cannot write {}", path.display())))
        };
        Ok(Self(path.map(open).transpose()?.map(BufWriter::new)))
    }

    pub(crate) fn write(&mut self, record: &Record) {
        let Some(file) = &mut self.0 else { return };
        let Ok(line) = serde_json::to_string(&Line::of(record)) else { return };
        // A full disk ends the record, not the agent.
        if writeln!(file, "{line}").is_err() {
            self.0 = None;
        }
    }

    /// So that a reader has it, and a `kill -9` leaves it.
    pub(crate) fn flush(&mut self) {
        if let Some(file) = &mut self.0 {
            let _ = file.flush();
        }
    }
}
