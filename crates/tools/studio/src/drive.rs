//! The settings of a matrix of attenuators, second by second: `matrix.jsonl`, which `wayhop matrix drive` writes, perhaps while it is read.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::Error;

pub(crate) const LOG: &str = "matrix.jsonl";
/// What is read for one answer, octets.
const MOST_OCTETS: u64 = 2 << 20;

/// From where on the page wants it.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Since {
    /// A place in the file, as an answer has it.
    #[serde(default)]
    from: u64,
    /// Which file that was: a drive that starts again writes another.
    file: Option<String>,
}

/// Whole lines from a place on, and where to go on. Another file than before is read from its beginning (`from` is 0 again).
pub(crate) fn rows(dir: &Path, asked: &Since) -> Result<Value, Error> {
    let path = dir.join(LOG);
    let failed = |e: std::io::Error| Error::unreadable(format!("{}: {e}", path.display()));
    let about = fs::metadata(&path).map_err(failed)?;
    if !about.is_file() {
        return Err(Error::unreadable(format!("{}: not a file", path.display())));
    }
    let file = identity(&about);
    let is_same = asked.file.as_ref() == Some(&file) && asked.from <= about.len();
    let from = if is_same { asked.from } else { 0 };
    let mut log = File::open(&path).map_err(failed)?;
    log.seek(SeekFrom::Start(from)).map_err(failed)?;
    let mut octets = Vec::new();
    log.take(MOST_OCTETS).read_to_end(&mut octets).map_err(failed)?;
    let whole = octets.iter().rposition(|&b| b == b'\n').map_or(0, |last| last + 1);
    if whole == 0 && octets.len() as u64 == MOST_OCTETS {
        return Err(Error::unreadable(format!(
            "{}: a line is longer than {MOST_OCTETS} bytes; this is not a log of wayhop matrix drive",
            path.display()
        )));
    }
    let (mut rows, mut damaged) = (Vec::new(), 0_u64);
    for line in octets[..whole].split(|&b| b == b'\n').filter(|l| !l.is_empty()) {
        match serde_json::from_slice::<Value>(line) {
            Ok(row) if row["time_s"].is_number() => rows.push(row),
            _ => damaged += 1,
        }
    }
    let next = from + whole as u64;
    Ok(
        json!({"file": file, "from": from, "next": next, "more": next < about.len() && whole > 0, "rows": rows, "damaged": damaged}),
    )
}

#[cfg(unix)]
fn identity(about: &fs::Metadata) -> String {
    use std::os::unix::fs::MetadataExt as _;
    format!("{}-{}", about.dev(), about.ino())
}

#[cfg(not(unix))]
fn identity(about: &fs::Metadata) -> String {
    format!("{:?}", about.created().ok())
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn from(from: u64, file: &Value) -> Since {
        Since { from, file: file.as_str().map(str::to_owned) }
    }

    #[test]
    fn a_log_is_read_while_it_grows_and_again_when_it_begins_anew() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(LOG);
        fs::write(&path, "{\"time_s\": 0}\nnonsense\n{\"time_s\": 1}\n{\"time_s\"").unwrap();
        let first = rows(dir.path(), &Since::default()).unwrap();
        let seconds = |v: &Value| -> Vec<u64> {
            v["rows"].as_array().unwrap().iter().map(|r| r["time_s"].as_u64().unwrap()).collect()
        };
        assert_eq!((seconds(&first), &first["damaged"], &first["from"]), (vec![0, 1], &json!(1), &json!(0)));
        File::options().append(true).open(&path).unwrap().write_all(b": 2}\n").unwrap();
        let place = first["next"].as_u64().unwrap();
        let second = rows(dir.path(), &from(place, &first["file"])).unwrap();
        assert_eq!((seconds(&second), second["more"].clone()), (vec![2], json!(false)));
        let end = second["next"].as_u64().unwrap();
        assert!(seconds(&rows(dir.path(), &from(end, &first["file"])).unwrap()).is_empty());
        // Another file of the same name.
        fs::rename(&path, dir.path().join("matrix.jsonl.old")).unwrap();
        fs::write(&path, "{\"time_s\": 7}\n".repeat(30)).unwrap();
        let restarted = rows(dir.path(), &from(end, &first["file"])).unwrap();
        assert_eq!((&restarted["from"], seconds(&restarted).len()), (&json!(0), 30));
        assert!(restarted["rows"][0]["time_s"] == 7);
    }

    #[test]
    fn a_file_without_lines_is_an_error_and_a_long_one_comes_in_parts() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(LOG);
        assert!(rows(dir.path(), &Since::default()).is_err());
        fs::write(&path, vec![b'x'; MOST_OCTETS as usize + 9]).unwrap();
        let e = rows(dir.path(), &Since::default()).unwrap_err();
        assert!(e.what.contains("not a log"), "{}", e.what);
        let line = format!("{{\"time_s\": 1, \"x\": \"{}\"}}\n", "y".repeat(1 << 19));
        fs::write(&path, line.repeat(5)).unwrap();
        let first = rows(dir.path(), &Since::default()).unwrap();
        assert_eq!((first["rows"].as_array().unwrap().len(), &first["more"]), (3, &json!(true)));
        let next = rows(dir.path(), &from(first["next"].as_u64().unwrap(), &first["file"])).unwrap();
        assert_eq!((next["rows"].as_array().unwrap().len(), &next["more"]), (2, &json!(false)));
    }
}
