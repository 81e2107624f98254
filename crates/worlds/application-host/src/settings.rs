//! How an application runs on a host.

use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::time::Instant;

use wayhop_core::{ConfiguredApplication, Purpose, Time};
use wayhop_replay::{ApplicationHeader, Header, Logs, Pace};

use crate::error::Error;
use crate::mesh::MeshNode;
use crate::programs::ProgramSocket;

/// How an application runs on this host.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The host's address in the mesh.
    pub addr: IpAddr,
    /// The address at which its ports are, of the same family; unspecified for all of the host.
    pub listen: IpAddr,
    /// The interfaces by which broadcasts leave. None: all that are up but the loopback.
    pub interfaces: Vec<String>,
    /// The multicast groups whose datagrams its ports receive, by the interface with the host's address.
    pub groups: Vec<Ipv4Addr>,
    /// What its clock said at `since`.
    pub clock: Time,
    /// When that was.
    pub since: Instant,
    /// The seed of its random stream.
    pub seed: u64,
    /// What the stream is for.
    pub purpose: Purpose,
    /// Its number among the scenario's applications, or among its flows: two of one seed draw different numbers.
    pub number: u32,
    /// Where its rows, notes and figures go ([`crate::Line`]).
    pub record: Option<PathBuf>,
    /// Where gpsd is, `HOST:PORT`.
    pub gpsd: Option<String>,
    /// Whose neighbours it is told.
    pub mesh: Option<MeshNode>,
    /// Where programs find it.
    pub programs: Option<ProgramSocket>,
}

impl Default for Settings {
    /// At all IPv4 addresses, with a clock that begins with 0 now, and no more than it needs.
    fn default() -> Self {
        Self {
            addr: Ipv4Addr::UNSPECIFIED.into(),
            listen: Ipv4Addr::UNSPECIFIED.into(),
            interfaces: Vec::new(),
            groups: Vec::new(),
            clock: Time::ZERO,
            since: Instant::now(),
            seed: 1,
            purpose: Purpose::Applications,
            number: 0,
            record: None,
            gpsd: None,
            mesh: None,
            programs: None,
        }
    }
}

impl Settings {
    /// The log of what goes into this application, for `wayhop replay`. [`crate::run`] begins to write it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn log(&self, path: &Path, application: &ConfiguredApplication) -> Result<Logs, Error> {
        let header = ApplicationHeader::new(self.number, application);
        let header = Header::of_application_at(self.addr, header, self.seed);
        let path = free(path);
        let cannot = Error::new(format!("cannot write {}", path.display()));
        Logs::create(vec![(path, header)], Pace::RealTime).map_err(cannot)
    }
}

/// A file that is not there yet: a node that comes back leaves the log of its former life as it is (`a.jsonl`, `a-2.jsonl`).
fn free(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (stem, ending) = name.split_once('.').unwrap_or((&name, ""));
    let later = (2..).map(|life| path.with_file_name(format!("{stem}-{life}.{ending}")));
    std::iter::once(path.to_owned()).chain(later).find(|p| !p.exists()).unwrap_or_else(|| path.to_owned())
}
