//! Tables of a run, read back.

use std::fs::File;
use std::io;
use std::net::Ipv4Addr;

use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use wayhop_core::{NodeId, Span, Time};

use super::names::TABLES;
use crate::{Error, RunDir, RunStatus};

/// More rows of interest than this are not kept: no run makes them, a damaged or forged file might.
const MOST_ROWS: usize = 1 << 22;

/// A node's search for a route that ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// Who searched.
    pub node: NodeId,
    /// For whom.
    pub target: Ipv4Addr,
    /// When it ended.
    pub end: Time,
    /// How long it took from its first request to the route; `None` if it failed.
    pub took: Option<Span>,
}

/// The searches for routes that ended in a run: the remarks `discovery_done` and `discovery_failed` of its table `events`,
/// in order of time. Every world writes them from the same remarks of the same protocols.
pub fn searches(run: &RunDir) -> Result<Vec<Search>, Error> {
    let mut found = Vec::new();
    each_row(run, "events", |row| {
        let what = text(row, "what")?;
        let done = match what {
            "discovery_done" => true,
            "discovery_failed" => false,
            _ => return Some(()),
        };
        let took = Span::from_micros(u64::try_from(long(row, "value")?).ok()?);
        found.push(Search {
            node: NodeId(u32::try_from(long(row, "node")?).ok()?),
            target: text(row, "about")?.parse().ok()?,
            end: Time::from_nanos(u64::try_from(long(row, "time_ns")?).ok()?),
            took: done.then_some(took),
        });
        (found.len() <= MOST_ROWS).then_some(())
    })?;
    Ok(found)
}

/// The addresses of a run's nodes, in the order of their numbers.
pub fn addresses(run: &RunDir) -> Result<Vec<Ipv4Addr>, Error> {
    let mut found = Vec::new();
    each_row(run, "nodes", |row| {
        found.push(text(row, "address")?.parse().ok()?);
        (found.len() <= MOST_ROWS).then_some(())
    })?;
    Ok(found)
}

/// The names of a run's nodes, in the order of their numbers.
pub fn node_names(run: &RunDir) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    each_row(run, "nodes", |row| {
        found.push(text(row, "name")?.to_owned());
        (found.len() <= MOST_ROWS).then_some(())
    })?;
    Ok(found)
}

/// Opens a table of a run, for a reader of its own; the error of a run that was killed says so.
pub fn open_table(run: &RunDir, table: &str) -> Result<SerializedFileReader<File>, Error> {
    if !TABLES.contains(&table) {
        let what = format!("there is no table `{table}`; the tables are {}", TABLES.join(", "));
        return Err(Error::invalid(run.path(), what));
    }
    let path = run.path().join(format!("{table}.parquet"));
    let file = match File::open(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let what = match table {
                "receptions" => {
                    "this run did not record what became of its frames; run it again with --receptions"
                }
                "gps" => {
                    "this run has no GPS receivers: only nodes on real interfaces with `gpsd` record them"
                }
                "connections" => {
                    "this run has no connections of programs: only emulations, labs and nodes on real interfaces record them"
                }
                "sizes" => "this run did not record how long queues and caches were; run it again",
                "identities" => {
                    "this run did not record what its packets are known by; run it again with --identities"
                }
                _ if TABLES.iter().any(|t| run.path().join(format!("{t}.parquet")).exists()) => {
                    "the table is missing, and others of this run are there: copy the run anew, or run it again"
                }
                _ => "this run recorded no tables",
            };
            return Err(Error::invalid(&path, what));
        }
        opened => opened.map_err(Error::io(&path, "read"))?,
    };
    SerializedFileReader::new(file).map_err(|e| {
        let why = match run.manifest().map(|m| m.status) {
            Ok(RunStatus::Running) => {
                "the run has not ended, or it was killed before it could end its tables: run it again"
            }
            _ => "the file is damaged: copy the run anew, or run it again",
        };
        Error::invalid(&path, format!("{why} ({e})"))
    })
}

/// Calls something with each row; `None` says that the row is none of ours.
pub(super) fn each_row(
    run: &RunDir,
    table: &str,
    mut take: impl FnMut(&Row) -> Option<()>,
) -> Result<(), Error> {
    let reader = open_table(run, table)?;
    let path = run.path().join(format!("{table}.parquet"));
    for row in reader.get_row_iter(None).map_err(|e| Error::invalid(&path, e.to_string()))? {
        let row = row.map_err(|e| Error::invalid(&path, e.to_string()))?;
        take(&row).ok_or_else(|| Error::invalid(&path, "a row that Wayhop did not write"))?;
    }
    Ok(())
}

fn field<'a>(row: &'a Row, name: &str) -> Option<&'a Field> {
    row.get_column_iter().find(|(n, _)| n.as_str() == name).map(|(_, f)| f)
}

pub(super) fn text<'a>(row: &'a Row, name: &str) -> Option<&'a str> {
    match field(row, name)? {
        Field::Str(s) => Some(s),
        _ => None,
    }
}

pub(super) fn long(row: &Row, name: &str) -> Option<i64> {
    match field(row, name)? {
        Field::Int(v) => Some((*v).into()),
        Field::Long(v) => Some(*v),
        _ => None,
    }
}

pub(super) fn double(row: &Row, name: &str) -> Option<f64> {
    match field(row, name)? {
        Field::Double(v) => Some(*v),
        _ => None,
    }
}
