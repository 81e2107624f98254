//! The TCP connections of programs in emulation and lab, sampled while they run (the table `connections`).

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use wayhop_core::{NodeId, TcpConnection, Time};
use wayhop_linux::TcpConnections;
use wayhop_netns::Namespace;
use wayhop_scenario::Resolved;
use wayhop_trace::{ConnectionEvent, Recorder};

use crate::error::Error;

/// How often connections are looked at.
const EVERY: Duration = Duration::from_millis(100);
/// With many nodes a pause is this many times as long as the looks before it, which then take 5 %
/// of a processor.
const PAUSE_FACTOR: u32 = 20;
/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);
/// Rows that are kept until the run ends: some 150 MB of memory.
const MOST_ROWS: usize = 1 << 20;

/// Looks at connections until the run ends.
pub(crate) struct ConnectionWatch {
    stop: Sender<()>,
    thread: JoinHandle<ConnectionLog>,
}

/// What was seen.
#[derive(Default)]
struct ConnectionLog {
    rows: Vec<(Instant, NodeId, TcpConnection)>,
    complaint: Option<String>,
}

impl ConnectionWatch {
    /// Begins, if the recorder wants it. The namespaces are those of the scenario's nodes, in their order.
    pub(crate) fn begin(
        recorder: &Recorder,
        scenario: &Resolved,
        namespaces: &[&Namespace],
    ) -> Result<Option<Self>, Error> {
        if !recorder.wants_connections() {
            return Ok(None);
        }
        let open = |(i, namespace): (usize, &&Namespace)| {
            let own4 = scenario.addresses[i].into();
            let own6 = scenario.ipv6.as_ref().map(|plan| plan.addresses[i].into());
            namespace.within(|| TcpConnections::open([own4].into_iter().chain(own6).collect()))
        };
        let nodes = namespaces.iter().enumerate().map(open).collect::<io::Result<Vec<_>>>();
        let nodes = nodes.map_err(Error::run)?;
        let (stop, stopped) = channel();
        Ok(Some(Self { stop, thread: thread::spawn(move || watch(nodes, &stopped)) }))
    }

    /// Ends, and records what was seen since the run began. Returns what the user should know.
    pub(crate) fn end(self, begun: Instant, recorder: &mut Recorder) -> Option<String> {
        drop(self.stop);
        let seen = self.thread.join().unwrap_or_default();
        for (at, node, connection) in seen.rows {
            if let Some(since) = at.checked_duration_since(begun) {
                let time = Time::from_nanos(since.as_nanos() as u64);
                recorder.connection(&ConnectionEvent { time, node, connection });
            }
        }
        seen.complaint
    }
}

/// Looks at each node's connections until the other end of the channel goes.
fn watch(mut nodes: Vec<TcpConnections>, stopped: &Receiver<()>) -> ConnectionLog {
    let mut seen = ConnectionLog::default();
    let mut pause = EVERY;
    while matches!(stopped.recv_timeout(pause), Err(RecvTimeoutError::Timeout)) {
        let begun = Instant::now();
        if let Err(why) = look(&mut nodes, &mut seen.rows) {
            seen.complaint = Some(format!("the table `connections` is incomplete: {why}"));
            break;
        }
        let took = begun.elapsed();
        pause = EVERY.saturating_sub(took).max(PAUSE_FACTOR * took).min(LONGEST_PAUSE);
    }
    seen
}

fn look(
    nodes: &mut [TcpConnections],
    rows: &mut Vec<(Instant, NodeId, TcpConnection)>,
) -> Result<(), String> {
    for (i, node) in (0..).zip(nodes) {
        let now = Instant::now();
        node.look(|c| rows.push((now, NodeId(i), *c)))
            .map_err(|e| format!("the kernel does not report TCP connections ({e}); this requires Linux 5.4 or later with CONFIG_INET_DIAG"))?;
    }
    if rows.len() > MOST_ROWS { Err(format!("more than {MOST_ROWS} rows")) } else { Ok(()) }
}
