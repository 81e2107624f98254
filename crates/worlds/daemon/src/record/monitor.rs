//! Reports of the node's counters and position, for its own log and for a collector in the mesh:
//! paper 000's PCTd (section 6.5.2).
//!
//! A thread writes the log and sends the datagrams. The log does not depend on the mesh: a report
//! is written first, whether its datagram arrives or not.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::SystemTime;

use wayhop_control::Gps;
use wayhop_control::monitor::{LogFile, Reporter};
use wayhop_core::Fix;

use crate::config::monitor::Monitor;
use crate::log::{Log, Trouble};
use crate::position::whereabouts::Whereabouts;

/// Reports that may wait for a slow disk.
const MAX_WAITING: usize = 64;

struct MonitorEntry {
    time: SystemTime,
    counters: BTreeMap<String, u64>,
    fix: Option<Fix>,
    gps: Option<Gps>,
}

/// Reporting under way.
pub(crate) struct Reports {
    queue: Option<SyncSender<MonitorEntry>>,
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
        let (counted, trouble) = (Arc::clone(&lost), Trouble::new(log));
        let thread = std::thread::Builder::new()
            .name("wh-monitor".to_owned())
            .spawn(move || report(&entries, reporter, to.as_ref(), &counted, trouble))?;
        Ok(Self { queue: Some(queue), thread: Some(thread), lost })
    }

    /// A report. Never waits.
    pub(crate) fn report(&self, counters: BTreeMap<String, u64>, at: &Whereabouts) {
        let gps = at.quality().map(Gps::from);
        let entry = MonitorEntry { time: SystemTime::now(), counters, fix: at.fix(), gps };
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
    entries: &Receiver<MonitorEntry>,
    mut reporter: Reporter,
    to: Option<&(UdpSocket, SocketAddr)>,
    lost: &AtomicU64,
    mut trouble: Trouble,
) {
    for e in entries {
        let datagram = reporter.report(e.time, &e.counters, e.fix.as_ref(), e.gps);
        let why = reporter.trouble().map(str::to_owned);
        if why.is_some() {
            lost.fetch_add(1, Ordering::Relaxed);
        }
        let wrong = "reports are missing from the monitor's log: ";
        trouble.is(why, wrong, "writing the monitor's log again");
        if let Some((socket, to)) = to {
            // Without a mesh it is lost, as any datagram.
            let _ = socket.send_to(&datagram, to);
        }
    }
}
