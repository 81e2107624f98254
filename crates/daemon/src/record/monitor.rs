//! Reports of what the node has counted and where it is, for its own log and for a collector in the mesh: paper 000's PCTd
//! (section 6.5.2).
//!
//! Log and datagrams are a thread's work. The log does not wait for the mesh: a report is written first, and whether its
//! datagram goes anywhere changes nothing.

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::net::{SocketAddr, SocketAddrV4, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wayhop_control::Gps;
use wayhop_control::monitor::{LogFile, PORT, Reporter};
use wayhop_core::Fix;

use crate::log::{Level, Log};
use crate::position::whereabouts::Whereabouts;

/// Reports that may wait for a slow disk.
const MAX_WAITING: usize = 64;

/// Reports of the node's counters and position.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Monitor {
    /// The node of the mesh that runs `wayhop collect`: its address, with `:PORT` if it listens at another than 9465. Without
    /// it, reports go into the log only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collector: Option<String>,
    /// Seconds between two reports, 0.1 to 3600.
    #[serde(default = "interval_s")]
    pub interval_s: f64,
    /// The file that gets every report, one JSON object a line. Its folder must be one in which the node's `user` may write;
    /// if there is none yet, it is made for that user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log: Option<PathBuf>,
    /// The longest log, octets; then it is renamed to FILE.1, and so on.
    #[serde(default = "log_max_bytes")]
    pub log_max_bytes: u64,
    /// How many renamed logs stay.
    #[serde(default = "log_keep")]
    pub log_keep: u32,
}

fn interval_s() -> f64 {
    1.0
}
fn log_max_bytes() -> u64 {
    16 << 20
}
fn log_keep() -> u32 {
    3
}

impl Monitor {
    /// What is wrong with it: the key, the fault, the remedy.
    pub(crate) fn check(&self) -> Result<(), (&'static str, String, &'static str)> {
        if !(0.1..=3600.0).contains(&self.interval_s) {
            return Err((
                "interval_s",
                format!("{} s is no interval of reports", self.interval_s),
                "give 0.1 to 3600",
            ));
        }
        if self.log_max_bytes < 4096 {
            return Err((
                "log_max_bytes",
                format!("{} octets hold hardly a report", self.log_max_bytes),
                "give at least 4096",
            ));
        }
        match &self.collector {
            Some(text) if address(text).is_none() => {
                Err(("collector", format!("{text:?} is no IPv4 address"), "give one such as 10.0.0.9"))
            }
            _ => Ok(()),
        }
    }

    fn collector(&self) -> Option<SocketAddr> {
        self.collector.as_deref().and_then(address)
    }
}

fn address(text: &str) -> Option<SocketAddr> {
    let alone = text.parse::<Ipv4Addr>().map(|a| SocketAddrV4::new(a, PORT));
    alone.or_else(|_| text.parse()).ok().map(SocketAddr::V4)
}

struct Entry {
    time: SystemTime,
    counters: BTreeMap<String, u64>,
    fix: Option<Fix>,
    gps: Option<Gps>,
}

/// Reporting under way.
pub(crate) struct Reports {
    queue: Option<SyncSender<Entry>>,
    thread: Option<JoinHandle<()>>,
    lost: Arc<AtomicU64>,
}

impl Reports {
    /// Begins to report, from this address.
    pub(crate) fn begin(settings: &Monitor, node: &str, own: Ipv4Addr, log: &Log) -> io::Result<Self> {
        let to = match settings.collector() {
            Some(to) => {
                let socket = UdpSocket::bind(SocketAddrV4::new(own, 0))?;
                socket.set_nonblocking(true)?;
                Some((socket, to))
            }
            None => None,
        };
        let file = settings.log.as_ref().map(|p| LogFile::new(p, settings.log_max_bytes, settings.log_keep));
        let reporter = Reporter::new(node, file);
        let lost = Arc::new(AtomicU64::new(0));
        let (queue, entries) = sync_channel(MAX_WAITING);
        let (counted, log) = (Arc::clone(&lost), log.clone());
        let thread = std::thread::Builder::new()
            .name("wh-monitor".to_owned())
            .spawn(move || report(&entries, reporter, to.as_ref(), &counted, &log))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), lost })
    }

    /// A report. Never waits.
    pub(crate) fn report(&self, counters: BTreeMap<String, u64>, at: &Whereabouts) {
        let gps = at.quality().map(Gps::from);
        let entry = Entry { time: SystemTime::now(), counters, fix: at.fix(), gps };
        if self.queue.as_ref().is_none_or(|q| q.try_send(entry).is_err()) {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Reports that are not in the log: the disk refused them, or was too slow.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Drop for Reports {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn report(
    entries: &Receiver<Entry>,
    mut reporter: Reporter,
    to: Option<&(UdpSocket, SocketAddr)>,
    lost: &AtomicU64,
    log: &Log,
) {
    let mut told = None;
    for e in entries {
        let datagram = reporter.report(e.time, &e.counters, e.fix.as_ref(), e.gps);
        let trouble = reporter.trouble().map(str::to_owned);
        if trouble.is_some() {
            lost.fetch_add(1, Ordering::Relaxed);
        }
        if trouble != told {
            match &trouble {
                Some(why) => {
                    log.tell(Level::Warning, format_args!("the monitor's log misses reports: {why}"));
                }
                None => log.tell(Level::Info, "the monitor's log is written again"),
            }
            told = trouble;
        }
        if let Some((socket, to)) = to {
            // Without a mesh it is lost, as any datagram.
            let _ = socket.send_to(&datagram, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_collector_is_an_address_with_the_port_of_collectors_or_another() {
        let at = |text: &str| address(text).map(|a| a.to_string());
        assert_eq!(at("10.0.0.9").as_deref(), Some("10.0.0.9:9465"));
        assert_eq!(at("10.0.0.9:5000").as_deref(), Some("10.0.0.9:5000"));
        assert_eq!(at("mesh-1"), None);
    }
}
