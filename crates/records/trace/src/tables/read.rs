//! Tables of a run, read back.

use std::fs::File;
use std::io;
use std::net::Ipv4Addr;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Row;
use wayhop_core::{NodeId, Span, Time};

use super::cell::Cell as _;
use super::killed;
use super::pieces::TableFile;
use super::schema::TABLES;
use crate::{Error, RunDir, RunStatus};

/// More rows of interest than this are not kept: no run makes them, a damaged or forged file might.
const MOST_ROWS: usize = 1 << 22;

/// A node's search for a route that ended.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RouteSearch {
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
pub fn searches(run: &RunDir) -> Result<Vec<RouteSearch>, Error> {
    collect(run, "events", |row| {
        let done = match row.text("what")? {
            "discovery_done" => true,
            "discovery_failed" => false,
            _ => return Some(None),
        };
        let took = Span::from_micros(row.int("value")?);
        let (node, target) = (row.node("node")?, row.parsed("about")?);
        Some(Some(RouteSearch { node, target, end: row.time("time_ns")?, took: done.then_some(took) }))
    })
}

/// The addresses of a run's nodes, in the order of their numbers.
pub fn addresses(run: &RunDir) -> Result<Vec<Ipv4Addr>, Error> {
    collect(run, "nodes", |row| row.parsed("address").map(Some))
}

/// The names of a run's nodes, in the order of their numbers.
pub fn node_names(run: &RunDir) -> Result<Vec<String>, Error> {
    collect(run, "nodes", |row| row.text("name").map(|name| Some(name.to_owned())))
}

/// Opens a table of a run; several threads may read it at a time. Of a run that goes on or was killed it has what was recorded up to a few
/// seconds before.
pub fn open_table(run: &RunDir, table: &str) -> Result<SerializedFileReader<TableFile>, Error> {
    if !TABLES.contains(&table) {
        let what = format!("no table `{table}`; the tables are {}", TABLES.join(", "));
        return Err(Error::invalid(run.path(), what));
    }
    let path = run.path().join(format!("{table}.parquet"));
    let open = || match File::open(&path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Err(Error::invalid(&path, why_missing(run, table))),
        opened => opened.map_err(Error::io(&path, "read")),
    };
    let whole = || Ok(SerializedFileReader::new(TableFile::whole(open()?)));
    if let Ok(found) = whole()? {
        return Ok(found);
    }
    let damaged = |e: ParquetError| {
        let why = match run.manifest().map(|m| m.status) {
            Ok(RunStatus::Running) if run.is_under_way() => {
                "the run has recorded nothing yet; wait a few seconds"
            }
            Ok(RunStatus::Running) => {
                "the run was killed before it completed its tables, and there is no tables.checkpoint; run it again"
            }
            _ => "the file is damaged; copy the run again, or repeat it",
        };
        Error::invalid(&path, format!("{why} ({e})"))
    };
    match killed::table(run.path(), table, open()?)? {
        Some(pieces) => SerializedFileReader::new(TableFile::pieced(pieces)).map_err(damaged),
        // It may have ended meanwhile.
        None => whole()?.map_err(damaged),
    }
}

/// Adds the footer to the table of a killed run, and the rows that only the checkpoint has. A complete table is left alone.
pub(crate) fn mend(run: &RunDir, table: &'static str) -> Result<(), Error> {
    let path = run.path().join(format!("{table}.parquet"));
    let open = || File::open(&path).map_err(Error::io(&path, "read"));
    if SerializedFileReader::new(open()?).is_ok() {
        return Ok(());
    }
    let lost = || Error::invalid(&path, "incomplete, and tables.checkpoint does not have the rest");
    let pieces = killed::table(run.path(), table, open()?)?.ok_or_else(lost)?;
    killed::mend(run.path(), table, &pieces)
}

fn why_missing(run: &RunDir, table: &str) -> &'static str {
    if run.leaves_out(table) {
        return "this run left the table out; run it again with its name in the list output.tables, or without that key";
    }
    match table {
        "receptions" => "this run did not record outcomes of frames; run it again with --receptions",
        "gps" => "this run has no GPS receivers; only nodes on real interfaces with `gpsd` record them",
        "connections" => {
            "this run has no program connections; only emulations, labs and nodes on real interfaces record them"
        }
        "bundles" | "contacts" => "this run has no bundles; only runs of scenarios with [dtn] record them",
        "sizes" => "this run did not record sizes of queues and caches; run it again",
        "identities" => "this run did not record packet identities; run it again with --identities",
        "flows" if run.manifest().is_ok_and(|m| m.status == RunStatus::Running) => {
            "this table is written when the run ends; if the run was killed, `wayhop recover` writes it"
        }
        _ if TABLES.iter().any(|t| run.path().join(format!("{t}.parquet")).exists()) => {
            "the table is missing, but others of this run exist; copy the run again, or repeat it"
        }
        _ => "this run recorded no tables",
    }
}

/// Calls something with each row; `None` says that the row is not one of ours.
pub(super) fn each_row(
    run: &RunDir,
    table: &str,
    mut take: impl FnMut(&Row) -> Option<()>,
) -> Result<(), Error> {
    let reader = open_table(run, table)?;
    let path = run.path().join(format!("{table}.parquet"));
    for row in reader.get_row_iter(None).map_err(|e| Error::invalid(&path, e.to_string()))? {
        let row = row.map_err(|e| Error::invalid(&path, e.to_string()))?;
        take(&row).ok_or_else(|| Error::invalid(&path, "invalid row: not written by Wayhop"))?;
    }
    Ok(())
}

/// What `read` makes of the rows of a table: `Some(None)` of one that does not matter, `None` of one that is not ours.
#[allow(clippy::option_option, reason = "a row that is not ours differs from one that does not matter")]
pub(super) fn collect<T>(
    run: &RunDir,
    table: &str,
    read: impl Fn(&Row) -> Option<Option<T>>,
) -> Result<Vec<T>, Error> {
    let mut found = Vec::new();
    each_row(run, table, |row| {
        found.extend(read(row)?);
        (found.len() <= MOST_ROWS).then_some(())
    })?;
    Ok(found)
}
