//! Lines of results files: one record of JSON per run.

use std::fs::File;
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::Path;

use serde_json::Value;

use crate::error::SweepError;

/// The name of the results file in the folder of a sweep.
pub(crate) const RESULTS: &str = "runs.jsonl";

/// Passes on each record of a results file; a truncated last line, as of a running sweep, is left out. `take` returns whether
/// the record is valid.
pub(crate) fn for_each_line(path: &Path, mut take: impl FnMut(&Value) -> bool) -> Result<(), SweepError> {
    let cannot = |e: std::io::Error| SweepError::Run(format!("cannot read {}: {e}", path.display()));
    let file = match File::open(path) {
        Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
        opened => opened.map_err(cannot)?,
    };
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        reader.read_until(b'\n', &mut line).map_err(cannot)?;
        if line.last() != Some(&b'\n') {
            break;
        }
        if !serde_json::from_slice::<Value>(&line).is_ok_and(|record| take(&record)) {
            let (path, remedy) = (path.display(), "remove it, and run the sweep again");
            return Err(SweepError::Usage(format!("{path}: line {number} is not a result; {remedy}")));
        }
    }
    Ok(())
}

/// The machine that a line names. Lines that the sweep wrote itself name none.
pub(crate) fn host_of(record: &Value) -> String {
    record["host"].as_str().unwrap_or("the machine of the sweep").to_owned()
}
