//! The other end: one file a node.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::log::LogFile;
use super::report::Report;
use crate::paths;

/// The most nodes, told apart by address and name.
const MOST_NODES: usize = 1024;
/// Of each node: the longest file, octets, and how many old ones stay.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
const KEEP: u32 = 3;

/// Writes the reports that come into DIR/NODE_ADDRESS.jsonl.
#[derive(Debug)]
pub struct Collector {
    folder: PathBuf,
    nodes: BTreeMap<(IpAddr, String), Node>,
}

#[derive(Debug)]
struct Node {
    log: LogFile,
    start_unix_s: u64,
    next: u64,
    lost: u64,
}

/// A report that came.
#[derive(Clone, Debug, PartialEq)]
pub struct Received {
    /// It.
    pub report: Report,
    /// How many reports of this node have not come, by the gaps in their numbers.
    pub lost: u64,
}

/// Why a datagram did not count.
#[derive(Debug, thiserror::Error)]
pub enum Rejected {
    /// It is no report.
    #[error("{0}")]
    NoReport(String),
    /// More nodes report than are believed.
    #[error("{MOST_NODES} nodes report already: this one is left out; start again, in another folder")]
    TooMany,
    /// It was not written.
    #[error("cannot write {}: {source}", path.display())]
    NotWritten {
        /// Where.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Collector {
    /// Into this folder.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), nodes: BTreeMap::new() }
    }

    /// Takes a datagram that came from this address. The line in the file is the report with the keys `from` and
    /// `received_unix_s` before it.
    pub fn receive(&mut self, from: IpAddr, time: SystemTime, datagram: &[u8]) -> Result<Received, Rejected> {
        let report = Report::parse(datagram).map_err(Rejected::NoReport)?;
        let key = (from, paths::name_from(&report.node));
        if !self.nodes.contains_key(&key) && self.nodes.len() == MOST_NODES {
            return Err(Rejected::TooMany);
        }
        let folder = &self.folder;
        let node = self.nodes.entry(key).or_insert_with_key(|(from, name)| {
            let from = from.to_string().replace(':', "-");
            let path = folder.join(format!("{name}_{from}.jsonl"));
            let log = LogFile::new(&path, MAX_BYTES, KEEP);
            Node { log, start_unix_s: report.start_unix_s, next: report.number, lost: 0 }
        });
        node.count(&report);
        let received = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let line =
            format!("{{\"from\":\"{from}\",\"received_unix_s\":{received:.3},{}", &report.to_line()[1..]);
        node.log
            .append(&line)
            .map_err(|source| Rejected::NotWritten { path: node.log.path().to_owned(), source })?;
        Ok(Received { report, lost: node.lost })
    }
}

impl Node {
    fn count(&mut self, report: &Report) {
        if report.start_unix_s != self.start_unix_s {
            (self.start_unix_s, self.next) = (report.start_unix_s, report.number);
        }
        match report.number.checked_sub(self.next) {
            Some(gap) => {
                self.lost = self.lost.saturating_add(gap);
                self.next = report.number.saturating_add(1);
            }
            // It was overtaken, and was counted as lost; or it came twice.
            None => self.lost = self.lost.saturating_sub(1),
        }
    }
}
