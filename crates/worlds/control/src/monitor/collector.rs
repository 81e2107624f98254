//! The collector: one file per node.

use std::collections::BTreeMap;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::archive::{Archive, ArchiveLimit};
use super::log::LogFile;
use super::report::Report;
use crate::paths;

/// The most nodes whose next report's number is known, distinguished by address and name: in all,
/// and at one address. A new one, forged or not, replaces the one silent for longest.
const MOST_NODES: usize = 1024;
const MOST_NODES_AT_ADDRESS: usize = 16;
/// Of each node: the longest file, octets, and how many old ones stay.
const MAX_BYTES: u64 = 16 * 1024 * 1024;
const KEEP: u32 = 3;
/// A file is at most this part of all that is kept.
const PARTS: u64 = 16;
/// What one address has on the disk.
const OF_ADDRESS: ArchiveLimit = ArchiveLimit {
    octets: MAX_BYTES * (KEEP as u64 + 1),
    files: MOST_NODES_AT_ADDRESS * (KEEP as usize + 1),
};
/// The most files.
const MOST_FILES: usize = 8192;

/// Writes the reports that come into DIR/NODE_ADDRESS.jsonl.
#[derive(Debug)]
pub struct Collector {
    folder: PathBuf,
    max_bytes: u64,
    archive: Archive,
    nodes: BTreeMap<(IpAddr, String), Node>,
    /// How many reports came.
    count: u64,
}

#[derive(Debug)]
struct Node {
    start_unix_s: u64,
    next: u64,
    lost: u64,
    /// The number of its last report among all.
    heard: u64,
}

/// A report that came.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectedReport {
    /// It.
    pub report: Report,
    /// How many reports of this node have not come, by the gaps in their numbers.
    pub lost: u64,
    /// The files that went to make room for it.
    pub gone: Vec<PathBuf>,
}

/// Why a datagram did not count.
#[derive(Debug, thiserror::Error)]
pub enum Rejection {
    /// It is no report.
    #[error("{0}")]
    NoReport(String),
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
    /// Into this folder, whose files have at most `limit` bytes together.
    pub fn new(folder: &Path, limit: u64) -> Self {
        let of_all = ArchiveLimit { octets: limit, files: MOST_FILES };
        Self {
            folder: folder.to_owned(),
            max_bytes: MAX_BYTES.min(limit / PARTS),
            archive: Archive::new(folder, of_all, OF_ADDRESS),
            nodes: BTreeMap::new(),
            count: 0,
        }
    }

    /// Takes a datagram that came from this address. The line in the file is the report with the keys `from` and
    /// `received_unix_s` before it.
    pub fn receive(
        &mut self,
        from: IpAddr,
        time: SystemTime,
        datagram: &[u8],
    ) -> Result<CollectedReport, Rejection> {
        let report = Report::parse(datagram).map_err(Rejection::NoReport)?;
        let lost = self.count(from, &report);
        let address = from.to_string().replace(':', "-");
        let path = self.folder.join(format!("{}_{address}.jsonl", paths::name_from(&report.node)));
        let received = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let line =
            format!("{{\"from\":\"{from}\",\"received_unix_s\":{received:.3},{}", &report.to_line()[1..]);
        let gone = self
            .write(&address, &path, &line)
            .map_err(|source| Rejection::NotWritten { path: path.clone(), source })?;
        Ok(CollectedReport { report, lost, gone })
    }

    /// Returns how many of this node's reports have been lost.
    fn count(&mut self, from: IpAddr, report: &Report) -> u64 {
        let key = (from, paths::name_from(&report.node));
        if !self.nodes.contains_key(&key) {
            let here = self.nodes.iter().filter(|((address, _), _)| *address == from);
            if here.clone().count() >= MOST_NODES_AT_ADDRESS {
                self.forget(|address| address == from);
            } else if self.nodes.len() >= MOST_NODES {
                self.forget(|_| true);
            }
        }
        self.count += 1;
        let new = Node { start_unix_s: report.start_unix_s, next: report.number, lost: 0, heard: 0 };
        let node = self.nodes.entry(key).or_insert(new);
        node.heard = self.count;
        node.count(report);
        node.lost
    }

    /// Forgets the node that was heard longest ago of those at such an address.
    fn forget(&mut self, which: impl Fn(IpAddr) -> bool) {
        let of_them = self.nodes.iter().filter(|((address, _), _)| which(*address));
        if let Some(key) = of_them.min_by_key(|(_, n)| n.heard).map(|(key, _)| key.clone()) {
            self.nodes.remove(&key);
        }
    }

    /// Returns what went to make room for it.
    fn write(&mut self, address: &str, path: &Path, line: &str) -> io::Result<Vec<PathBuf>> {
        let gone = self.archive.make_room(address, path, line.len() as u64 + 1)?;
        // Not kept open: there may be more nodes than a process may have files open.
        let mut log = LogFile::new(path, self.max_bytes, KEEP);
        let written = log.append(line);
        log.paths().for_each(|path| self.archive.look(&path));
        written.map(|()| gone)
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
