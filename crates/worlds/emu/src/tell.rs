//! What an emulation reports about its running nodes: one endpoint for Prometheus, and each node's reports -
//! a log of its own, and datagrams over the emulated network itself (paper 000's PCTd, section 6.5.2).

use std::collections::BTreeMap;
use std::io;
use std::net::Ipv4Addr;
use std::net::{SocketAddr, SocketAddrV4, UdpSocket};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::SystemTime;

use wayhop_control::answer::NodeCounters;
use wayhop_control::metrics::{Endpoint, Snapshot};
use wayhop_control::monitor::{LogFile, PORT, Reporter};
use wayhop_control::{About, Gps};
use wayhop_core::{Fix, Span, Time};
use wayhop_netns::Error;
use wayhop_sim::Simulation;

use crate::control::counters;
use crate::mesh::Mesh;

/// How often metrics are renewed, and a node reports.
const EVERY: Span = Span::from_secs(1);
/// Of each node's log: the longest file, octets, and how many old ones stay.
const MAX_BYTES: u64 = 16 << 20;
const KEEP: u32 = 3;
/// Reports that may wait for a slow disk; more are lost, and missed in the logs by their numbers.
const MAX_WAITING: usize = 4096;

/// Metrics and reports of a run.
pub struct Telling {
    about: About,
    metrics: Option<Endpoint>,
    next_metrics: Time,
    reports: Option<Reports>,
}

struct Reports {
    /// When each node reports next: not all at once, which would be a burst on the air.
    next: Vec<Time>,
    queue: Option<SyncSender<ToldEntry>>,
    thread: Option<JoinHandle<()>>,
}

struct ToldEntry {
    node: usize,
    time: SystemTime,
    counters: NodeCounters,
    fix: Option<Fix>,
}

impl Telling {
    /// Of the nodes that `about` names.
    pub fn new(about: &About) -> Self {
        Self { about: about.clone(), metrics: None, next_metrics: Time::ZERO, reports: None }
    }

    /// Opens the endpoint for Prometheus, on the host.
    pub fn open_metrics(&mut self, at: SocketAddr) -> Result<(), Error> {
        let endpoint = Endpoint::bind(at).map_err(|why| Error::System {
            what: format!("cannot listen on {at} for metrics"),
            why,
            remedy: "choose an address of this machine and a free port with --metrics",
        })?;
        self.metrics = Some(endpoint);
        Ok(())
    }

    /// Has every node report to this one, and into FOLDER/NODE.jsonl, if there is a folder.
    pub fn report_to(
        &mut self,
        collector: Ipv4Addr,
        mesh: &Mesh,
        folder: Option<&Path>,
    ) -> Result<(), Error> {
        let wrong = |e| Error::system("nodes cannot report", e);
        let to = SocketAddrV4::new(collector, PORT);
        let mut nodes = Vec::new();
        for (i, n) in self.about.nodes.iter().enumerate() {
            let log = folder.map(|f| LogFile::new(&f.join(format!("{}.jsonl", n.name)), MAX_BYTES, KEEP));
            let socket = mesh.datagrams(i, n.address).map_err(wrong)?;
            nodes.push((Reporter::new(&n.name, log), socket));
        }
        let count = nodes.len() as u64;
        let next = (0..count).map(|i| Time::from_nanos(EVERY.as_nanos() * i / count)).collect();
        let (queue, entries) = sync_channel(MAX_WAITING);
        let thread = std::thread::Builder::new()
            .name("wh-monitor".to_owned())
            .spawn(move || {
                wayhop_netns::priority::lower();
                report(&entries, nodes, to);
            })
            .map_err(wrong)?;
        self.reports = Some(Reports { next, queue: Some(queue), thread: Some(thread) });
        Ok(())
    }

    /// Tells what is due.
    pub(crate) fn at(&mut self, now: Time, simulation: &mut Simulation) {
        if let Some(metrics) = self.metrics.as_ref().filter(|_| now >= self.next_metrics) {
            self.next_metrics = now + EVERY;
            metrics.set(snapshot(&self.about, simulation));
        }
        let Some(Reports { next, queue: Some(queue), .. }) = &mut self.reports else { return };
        for (i, (due, about)) in next.iter_mut().zip(&self.about.nodes).enumerate() {
            if *due <= now {
                *due += EVERY;
                let (node, name) = (about.node, about.name.clone());
                let counters = NodeCounters { node, name, counters: counters(simulation, node) };
                let fix = simulation.fix(node);
                // Full: the disk hangs. The run does not wait for it.
                let _ = queue.try_send(ToldEntry { node: i, time: SystemTime::now(), counters, fix });
            }
        }
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

fn report(entries: &Receiver<ToldEntry>, mut nodes: Vec<(Reporter, UdpSocket)>, to: SocketAddrV4) {
    for e in entries {
        let Some((reporter, socket)) = nodes.get_mut(e.node) else { continue };
        let datagram =
            reporter.report(e.time, &e.counters.counters, e.fix.as_ref(), e.fix.map(|_| Gps::simulated()));
        // Lost where there is no way to the collector, as any datagram.
        let _: io::Result<usize> = socket.send_to(&datagram, to);
    }
}

fn snapshot(about: &About, simulation: &mut Simulation) -> Snapshot {
    let mut s = Snapshot { about: about.clone(), counters: Vec::new(), gauges: BTreeMap::new() };
    for n in &about.nodes {
        let (node, name) = (n.node, n.name.clone());
        let (fix, at) = (simulation.fix(node), simulation.position(node));
        let on_earth = fix.map(|fix| {
            [
                ("latitude_degrees", fix.latitude_deg),
                ("longitude_degrees", fix.longitude_deg),
                ("speed_metres_per_second", fix.speed_m_per_s.into()),
            ]
        });
        let in_frame =
            [("x_metres", at.x), ("y_metres", at.y), ("up", f64::from(u8::from(simulation.is_up(node))))];
        for (gauge, value) in on_earth.into_iter().flatten().chain(in_frame) {
            s.gauges.entry(gauge.to_owned()).or_default().push((name.clone(), value));
        }
        s.counters.push(NodeCounters { node, name, counters: counters(simulation, node) });
    }
    s
}
