//! Runs in progress, for other processes to find: a file for each in a folder of the user's.

use std::fs;
use std::fs::File;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::RawFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::{Deserialize, Serialize};
use wayhop_core::node_named;

use crate::error::Error;
use crate::hosts;
use crate::namespace::Namespace;
use crate::pids::{self, INIT_COMMAND, Pids};

/// A run under way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEntry {
    /// The process that drives it.
    pub pid: u32,
    /// The scenario's name.
    pub scenario: String,
    /// The run's name, as `wayhop ctl list` shows it.
    #[serde(default)]
    pub name: String,
    /// The nodes' names.
    pub names: Vec<String>,
    /// The descriptors of the nodes' namespaces in that process.
    pub namespaces: Vec<RawFd>,
    /// The file mounted over `/etc/hosts` in nodes.
    pub hosts: PathBuf,
    /// The folder that says which PID namespaces nodes have.
    pub(crate) pids: PathBuf,
    /// The descriptor in that process with whose end they end.
    pub(crate) life: RawFd,
}

impl RunEntry {
    /// [`node_named`] for this run.
    pub fn node(&self, name: &str) -> Option<usize> {
        node_named(&self.names, name)
    }

    /// A node's network namespace, and that of its processes.
    pub(crate) fn enter(&self, node: usize) -> io::Result<(Namespace, File)> {
        if is_in_a_node() {
            let why = "already inside a node; use a terminal outside";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        let missing = || io::Error::from(io::ErrorKind::NotFound);
        let fd = *self.namespaces.get(node).ok_or_else(missing)?;
        let namespace = Namespace::open(self.pid, fd)?;
        let life = || File::open(format!("/proc/{}/fd/{}", self.pid, self.life)).map(Stdio::from);
        // Its first process is the system's when this one ends.
        let (pids, _) = pids::find_or_make(&self.pids, node, life)?;
        Ok((namespace, pids))
    }

    fn is_alive(&self) -> bool {
        is_in_a_node() || Path::new("/proc").join(self.pid.to_string()).join("fd").exists()
    }
}

/// The files of one run; they go with this value.
#[derive(Debug)]
pub struct Registry {
    entry: PathBuf,
    /// Mounted over `/etc/hosts` in nodes.
    pub(crate) hosts: PathBuf,
    pids: Pids,
}

impl Registry {
    /// The PID namespace of a node's programs.
    pub(crate) fn pids(&self, node: u32) -> io::Result<File> {
        self.pids.of(node as usize)
    }

    /// Makes a run known: the scenario's name and the run's, and of each node the name, the addresses and the namespace.
    pub fn new(
        scenario: &str,
        name: &str,
        names: &[String],
        addresses: &[Ipv4Addr],
        addresses6: &[Ipv6Addr],
        namespaces: &[&Namespace],
    ) -> Result<Self, Error> {
        let folder = folder();
        let pid = std::process::id();
        let failed = |e| Error::system(format!("cannot write to {}", folder.display()), e);
        let prepare = || {
            fs::create_dir_all(&folder)?;
            forget_the_dead(&folder);
            Pids::new(&folder.join(format!("{PIDS}{pid}")))
        };
        let this = Self {
            entry: folder.join(format!("run-{pid}.json")),
            hosts: folder.join(format!("run-{pid}.hosts")),
            pids: prepare().map_err(failed)?,
        };
        let entry = RunEntry {
            pid,
            scenario: scenario.to_owned(),
            name: name.to_owned(),
            names: names.to_vec(),
            namespaces: namespaces.iter().map(|n| n.fd()).collect(),
            hosts: this.hosts.clone(),
            pids: folder.join(format!("{PIDS}{pid}")),
            life: this.pids.life_fd(),
        };
        let write = || -> io::Result<()> {
            fs::write(&this.hosts, hosts::text(names, addresses, addresses6))?;
            fs::write(&this.entry, serde_json::to_vec(&entry)?)
        };
        write().map_err(failed)?;
        Ok(this)
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        for file in [&self.entry, &self.hosts] {
            // Nothing is left to be done about it; the next run forgets the dead.
            let _ = fs::remove_file(file);
        }
    }
}

/// The folder of the control sockets.
fn folder() -> PathBuf {
    let socket = wayhop_control::paths::socket("run");
    socket.ok().and_then(|s| s.parent().map(Path::to_path_buf)).unwrap_or_else(std::env::temp_dir)
}

/// The runs that are under way.
fn entries(folder: &Path) -> Vec<(PathBuf, RunEntry)> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|f| f.path());
    let json = files.filter(|p| p.extension().is_some_and(|e| e == "json"));
    json.filter_map(|p| Some((p.clone(), serde_json::from_slice(&fs::read(&p).ok()?).ok()?))).collect()
}

/// Where it is said which PID namespaces the nodes of a process have.
const PIDS: &str = "pids-";

/// Where the sockets of a lab's daemons are: the folder of the process that drives it.
const LAB: &str = "lab-";

/// The folder for the sockets of the daemons that this process drives.
pub fn lab_folder() -> PathBuf {
    folder().join(format!("{LAB}{}", std::process::id()))
}

/// Whether this process is in a node of a run: there it does not see the processes of the machine, and cannot tell which of them are
/// alive.
fn is_in_a_node() -> bool {
    let first = fs::read("/proc/1/cmdline").unwrap_or_default();
    first.split(|b| *b == 0).any(|word| word == INIT_COMMAND.as_bytes())
}

/// Removes the files of runs that were killed.
fn forget_the_dead(folder: &Path) {
    if is_in_a_node() {
        return;
    }
    for left in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = left.file_name().to_string_lossy().into_owned();
        let pid = [LAB, PIDS].iter().find_map(|p| name.strip_prefix(p)).and_then(|n| n.parse::<u32>().ok());
        if pid.is_some_and(|p| !Path::new(&format!("/proc/{p}")).exists()) {
            let _ = fs::remove_dir_all(left.path());
        }
    }
    for (path, entry) in entries(folder).into_iter().filter(|(_, e)| !e.is_alive()) {
        let _ = fs::remove_file(path);
        let _ = fs::remove_file(entry.hosts);
    }
}

/// The run of this name, process or scenario, or the only one.
pub fn find(run: Option<&str>) -> Result<RunEntry, Error> {
    let alive: Vec<RunEntry> =
        entries(&folder()).into_iter().map(|(_, e)| e).filter(RunEntry::is_alive).collect();
    // A run's own name is no other's, although it may be the name of another's scenario.
    let named: Vec<&RunEntry> = alive.iter().filter(|e| run == Some(e.name.as_str())).collect();
    let is_meant = |e: &&RunEntry| run.is_none_or(|r| e.scenario == r || e.pid.to_string() == r);
    let meant = if named.is_empty() { alive.iter().filter(is_meant).collect() } else { named };
    let list = || alive.iter().map(|e| format!("{} ({})", e.name, e.pid)).collect::<Vec<_>>().join(", ");
    match (meant.as_slice(), run) {
        ([one], _) => Ok((*one).clone()),
        _ if alive.is_empty() => Err(Error::NotFound(
            "no emulation or lab is running; start one with `wayhop emulate SCENARIO.toml`".to_owned(),
        )),
        ([], run) => {
            Err(Error::NotFound(format!("no run {:?}; running: {}", run.unwrap_or_default(), list())))
        }
        _ => Err(Error::NotFound(format!("several runs; select one with --run: {}", list()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_found_by_number_by_host_name_and_by_their_own() {
        let e = RunEntry {
            pid: 1,
            scenario: String::new(),
            name: String::new(),
            names: ["left", "1", "7"].map(str::to_owned).to_vec(),
            namespaces: vec![],
            hosts: PathBuf::new(),
            pids: PathBuf::new(),
            life: 0,
        };
        assert_eq!(e.node("left"), Some(0));
        assert_eq!(e.node("mesh-1"), Some(1));
        assert_eq!(e.node("7"), Some(2), "its own name before any number");
        assert_eq!(e.node("2"), Some(2));
        assert!(["3", "mesh-3", "nobody", ""].iter().all(|n| e.node(n).is_none()));
    }
}
