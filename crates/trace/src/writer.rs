//! The background thread that turns batches into files.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use crate::batch::Batch;
use crate::capture::Captures;
use crate::ns2::Ns2Trace;
use crate::tables::{
    BUNDLES, CONNECTIONS, CONTACTS, COUNTERS, EVENTS, GPS, IDENTITIES, NODES, OUTCOMES, PACKETS, POSITIONS,
    RECEPTIONS, SENDS, SIZES, TCP, Table,
};
use crate::{
    BundleEvent, ConnectionEvent, ContactEvent, Counter, Error, GpsEvent, HopEvent, IdentityEvent, NodeInfo,
    NoteEvent, Outputs, PacketOutcome, PositionEvent, ReceptionEvent, RunDir, SendEvent, SizeEvent, TcpEvent,
};

/// Full batches that wait for the writer before the run has to.
const WAITING: usize = 4;

/// The run's end of the thread.
pub(crate) struct Writer {
    full: SyncSender<Batch>,
    empty: Receiver<Batch>,
    failure: Arc<Failure>,
    thread: JoinHandle<()>,
}

/// The first thing that went wrong.
#[derive(Default)]
struct Failure {
    happened: AtomicBool,
    error: Mutex<Option<Error>>,
}

impl Failure {
    fn set(&self, e: Error) {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
        self.happened.store(true, Ordering::Release);
    }
    fn take(&self) -> Option<Error> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Writer {
    /// Creates the files and starts the thread.
    pub(crate) fn start(dir: RunDir, outputs: &Outputs, nodes: Vec<NodeInfo>) -> Result<Self, Error> {
        let mut sinks = Sinks::create(&dir, outputs, nodes)?;
        let (full, to_write) = sync_channel::<Batch>(WAITING);
        let (give_back, empty) = channel();
        let failure = Arc::new(Failure::default());
        let ours = Arc::clone(&failure);
        let path = dir.path().to_owned();
        let thread = thread::Builder::new()
            .name("wayhop-writer".to_owned())
            .spawn(move || run(&mut sinks, &dir, &to_write, &give_back, &ours))
            .map_err(Error::io(&path, "start the writer of"))?;
        Ok(Self { full, empty, failure, thread })
    }

    /// Sends a batch, which waits if the writer is behind, and gets an empty one for it.
    pub(crate) fn exchange(&mut self, batch: Batch) -> Batch {
        if self.full.send(batch).is_err() {
            // The thread ends before its channel only by a panic; `finish` reports that.
            return Batch::default();
        }
        self.empty.try_recv().unwrap_or_default()
    }

    /// As [`Writer::exchange`], but gives the batch back when the writer is behind.
    pub(crate) fn try_exchange(&mut self, batch: Batch) -> Result<Batch, Box<Batch>> {
        match self.full.try_send(batch) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => Ok(self.empty.try_recv().unwrap_or_default()),
            Err(TrySendError::Full(batch)) => Err(Box::new(batch)),
        }
    }

    /// Whether an error has stopped the writer.
    pub(crate) fn failed(&self) -> bool {
        self.failure.happened.load(Ordering::Acquire)
    }

    /// Writes everything out and closes the files.
    pub(crate) fn finish(self, last: Batch, path: PathBuf) -> Result<(), Error> {
        // A send fails only if the thread has panicked, which joining it shows.
        let _ = self.full.send(last);
        drop(self.full);
        if self.thread.join().is_err() {
            self.failure.set(Error::Invalid { path, what: "the writer of the run stopped".to_owned() });
        }
        self.failure.take().map_or(Ok(()), Err)
    }
}

fn run(
    sinks: &mut Sinks,
    dir: &RunDir,
    to_write: &Receiver<Batch>,
    give_back: &Sender<Batch>,
    failure: &Failure,
) {
    let mut failed = false;
    for mut batch in to_write {
        if !failed && let Err(e) = sinks.write(&batch) {
            failed = true;
            dir.release_reserve();
            // Whatever can be ended well is ended now, while there is room.
            let _ = sinks.close();
            failure.set(e);
        }
        batch.clear();
        // Nobody waits for it when the run has ended.
        let _ = give_back.send(batch);
    }
    dir.release_reserve();
    if !failed && let Err(e) = sinks.close() {
        failure.set(e);
    }
}

/// Every file of a run that records flow into.
struct Sinks {
    tables: Option<Tables>,
    captures: Option<Captures>,
    ns2: Option<Ns2Trace>,
}

struct Tables {
    packets: Table<HopEvent>,
    positions: Table<PositionEvent>,
    events: Table<NoteEvent>,
    sends: Table<SendEvent>,
    tcp: Table<TcpEvent>,
    counters: Table<Counter>,
    outcomes: Table<PacketOutcome>,
    receptions: Option<Table<ReceptionEvent>>,
    bundles: Option<(Table<BundleEvent>, Table<ContactEvent>)>,
    gps: Option<Table<GpsEvent>>,
    connections: Option<Table<ConnectionEvent>>,
    sizes: Option<Table<SizeEvent>>,
    identities: Option<Table<IdentityEvent>>,
}

impl Sinks {
    fn create(dir: &RunDir, outputs: &Outputs, nodes: Vec<NodeInfo>) -> Result<Self, Error> {
        let only = outputs.capture_nodes.as_deref();
        let captures =
            outputs.captures.map(|snaplen| Captures::create(dir, snaplen, &nodes, only)).transpose()?;
        let ns2 = outputs.ns2_trace.as_deref().map(|path| Ns2Trace::create(path, &nodes)).transpose()?;
        let tables = if outputs.tables { Some(Tables::create(dir, nodes, outputs)?) } else { None };
        Ok(Self { tables, captures, ns2 })
    }

    fn write(&mut self, batch: &Batch) -> Result<(), Error> {
        if let Some(t) = &mut self.tables {
            t.packets.extend(batch.hops.iter().copied())?;
            t.positions.extend(batch.positions.iter().copied())?;
            t.events.extend(batch.notes.iter().copied())?;
            t.sends.extend(batch.sends.iter().copied())?;
            t.tcp.extend(batch.tcp.iter().copied())?;
            t.counters.extend(batch.counters.iter().copied())?;
            t.outcomes.extend(batch.outcomes.iter().copied())?;
            if let Some(receptions) = &mut t.receptions {
                receptions.extend(batch.receptions.iter().copied())?;
            }
            if let Some((bundles, contacts)) = &mut t.bundles {
                bundles.extend(batch.bundles.iter().cloned())?;
                contacts.extend(batch.contacts.iter().copied())?;
            }
            if let Some(gps) = &mut t.gps {
                gps.extend(batch.gps.iter().copied())?;
            }
            if let Some(connections) = &mut t.connections {
                connections.extend(batch.connections.iter().copied())?;
            }
            if let Some(sizes) = &mut t.sizes {
                sizes.extend(batch.sizes.iter().copied())?;
            }
            if let Some(identities) = &mut t.identities {
                identities.extend(batch.identities.iter().copied())?;
            }
        }
        if let Some(c) = &mut self.captures {
            batch.frames().try_for_each(|f| c.write(&f))?;
        }
        if let Some(n) = &mut self.ns2 {
            n.write(&batch.hops, &batch.positions)?;
        }
        Ok(())
    }

    /// Closes every file, also after an error, and tells the first one.
    fn close(&mut self) -> Result<(), Error> {
        let tables = self.tables.as_mut().map_or(Ok(()), Tables::close);
        let captures = self.captures.as_mut().map_or(Ok(()), Captures::close);
        let ns2 = self.ns2.as_mut().map_or(Ok(()), Ns2Trace::close);
        tables.and(captures).and(ns2)
    }
}

impl Tables {
    fn create(dir: &RunDir, nodes: Vec<NodeInfo>, outputs: &Outputs) -> Result<Self, Error> {
        let path = dir.path();
        let mut who = Table::create(path, "nodes", NODES)?;
        who.extend((0..).zip(nodes))?;
        who.close()?;
        Ok(Self {
            packets: Table::create(path, "packets", PACKETS)?,
            positions: Table::create(path, "positions", POSITIONS)?,
            events: Table::create(path, "events", EVENTS)?,
            sends: Table::create(path, "sends", SENDS)?,
            tcp: Table::create(path, "tcp", TCP)?,
            counters: Table::create(path, "counters", COUNTERS)?,
            outcomes: Table::create(path, "outcomes", OUTCOMES)?,
            receptions: outputs
                .receptions
                .then(|| Table::create(path, "receptions", RECEPTIONS))
                .transpose()?,
            bundles: outputs.bundles.then(|| Self::of_bundles(path)).transpose()?,
            gps: outputs.gps.then(|| Table::create(path, "gps", GPS)).transpose()?,
            connections: outputs
                .connections
                .then(|| Table::create(path, "connections", CONNECTIONS))
                .transpose()?,
            sizes: outputs.sizes.then(|| Table::create(path, "sizes", SIZES)).transpose()?,
            identities: outputs
                .identities
                .then(|| Table::create(path, "identities", IDENTITIES))
                .transpose()?,
        })
    }

    fn of_bundles(path: &Path) -> Result<(Table<BundleEvent>, Table<ContactEvent>), Error> {
        Ok((Table::create(path, "bundles", BUNDLES)?, Table::create(path, "contacts", CONTACTS)?))
    }

    fn close(&mut self) -> Result<(), Error> {
        let all = [
            self.packets.close(),
            self.positions.close(),
            self.events.close(),
            self.sends.close(),
            self.tcp.close(),
            self.counters.close(),
            self.outcomes.close(),
            self.receptions.as_mut().map_or(Ok(()), Table::close),
            self.bundles.as_mut().map_or(Ok(()), |(bundles, contacts)| bundles.close().and(contacts.close())),
            self.gps.as_mut().map_or(Ok(()), Table::close),
            self.connections.as_mut().map_or(Ok(()), Table::close),
            self.sizes.as_mut().map_or(Ok(()), Table::close),
            self.identities.as_mut().map_or(Ok(()), Table::close),
        ];
        all.into_iter().collect()
    }
}
