//! The background thread that turns batches into files.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, TrySendError, channel, sync_channel};
use std::sync::{Arc, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wayhop_core::Time;

use crate::batch::{Batch, Kept, each_record};
use crate::capture::Captures;
use crate::ns2::Ns2Trace;
use crate::packet_index::{self, PacketIndex};
use crate::selection::{Budget, Halvings, Sampler};
use crate::tables::{self, Checkpoints, NODES, TableWriter};
use crate::{Error, NodeInfo, Outputs, RunDir, Summary, Thinning};

/// Full batches that wait for the writer before the run has to.
const WAITING: usize = 4;
/// How often what was recorded is put where a run that is killed leaves it. With what a world takes until it asks
/// ([`crate::Recorder::keep_up`]) and the disk until it has it, less than five seconds are lost.
const CHECKPOINT_EVERY: Duration = Duration::from_secs(2);

/// The run's end of the thread.
pub(crate) struct Writer {
    full: SyncSender<Batch>,
    empty: Receiver<Batch>,
    /// The first thing that went wrong.
    failure: Arc<OnceLock<Error>>,
    thread: JoinHandle<()>,
    /// Whether it is time for a checkpoint.
    due: Arc<AtomicBool>,
    /// Ends the thread that says so.
    _ticking: Sender<()>,
}

impl Writer {
    /// Creates the files and starts the thread.
    pub(crate) fn start(dir: RunDir, outputs: &Outputs, nodes: Vec<NodeInfo>) -> Result<Self, Error> {
        let mut sinks = Sinks::create(&dir, outputs, nodes)?;
        let (full, to_write) = sync_channel::<Batch>(WAITING);
        let (give_back, empty) = channel();
        let failure = Arc::new(OnceLock::new());
        let ours = Arc::clone(&failure);
        let path = dir.path().to_owned();
        let thread = thread::Builder::new()
            .name("wayhop-writer".to_owned())
            .spawn(move || run(&mut sinks, &dir, &to_write, &give_back, &ours))
            .map_err(Error::io(&path, "start the writer of"))?;
        let due = Arc::new(AtomicBool::new(true));
        let ticking = tick(&due).map_err(Error::io(&path, "start the writer of"))?;
        Ok(Self { full, empty, failure, thread, due, _ticking: ticking })
    }

    /// Whether it is time for a checkpoint.
    pub(crate) fn is_due(&self) -> bool {
        self.due.load(Ordering::Relaxed)
    }

    /// As [`Writer::is_due`]; the next one is due later.
    pub(crate) fn take_due(&self) -> bool {
        self.due.swap(false, Ordering::Relaxed)
    }

    /// Has a checkpoint be due.
    pub(crate) fn hurry(&self) {
        self.due.store(true, Ordering::Relaxed);
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
        self.failure.get().is_some()
    }

    /// Writes everything out and closes the files.
    pub(crate) fn finish(self, last: Batch, path: PathBuf) -> Result<(), Error> {
        // A send fails only if the thread has panicked, which joining it shows.
        let _ = self.full.send(last);
        drop(self.full);
        let joined = self.thread.join();
        let stopped = || Error::Invalid { path, what: "the writer of the run stopped".to_owned() };
        // The thread had the other reference.
        let failure = Arc::into_inner(self.failure).and_then(OnceLock::into_inner);
        failure.or_else(|| joined.is_err().then(stopped)).map_or(Ok(()), Err)
    }
}

/// Raises a flag now and then, until the sender is dropped.
fn tick(due: &Arc<AtomicBool>) -> std::io::Result<Sender<()>> {
    let (ticking, ended) = channel();
    let due = Arc::clone(due);
    let tick = move || {
        while ended.recv_timeout(CHECKPOINT_EVERY) == Err(RecvTimeoutError::Timeout) {
            due.store(true, Ordering::Relaxed);
        }
    };
    thread::Builder::new().name("wayhop-ticker".to_owned()).spawn(tick)?;
    Ok(ticking)
}

fn run(
    sinks: &mut Sinks,
    dir: &RunDir,
    to_write: &Receiver<Batch>,
    give_back: &Sender<Batch>,
    failure: &OnceLock<Error>,
) {
    let mut failed = false;
    for mut batch in to_write {
        let summary = batch.summary.take();
        let checkpoint = std::mem::take(&mut batch.checkpoint);
        let write = |sinks: &mut Sinks| {
            sinks.write(&batch)?;
            if checkpoint { sinks.checkpoint(summary.as_deref()) } else { Ok(()) }
        };
        if !failed && let Err(e) = write(sinks) {
            failed = true;
            dir.release_reserve();
            sinks.make_room();
            // Whatever can be ended well is ended now, while there is room.
            let _ = sinks.close();
            let _ = failure.set(e);
        }
        batch.clear_records();
        batch.flows.clear();
        batch.measured_at = None;
        // Not needed when the run has ended.
        let _ = give_back.send(batch);
    }
    dir.release_reserve();
    if !failed && let Err(e) = sinks.close() {
        let _ = failure.set(e);
    }
}

/// Every file of a run that records flow into.
struct Sinks {
    tables: Option<Tables>,
    captures: Option<Captures>,
    ns2: Option<Ns2Trace>,
}

macro_rules! record_tables {
    ($($field:ident: $record:ident, $name:literal, $columns:ident, $has:expr;)*) => {
        /// A table for each kind of record that the run keeps.
        struct RecordTables {
            $($field: Option<TableWriter<crate::$record>>,)*
        }

        impl RecordTables {
            fn create(path: &Path, outputs: &Outputs) -> Result<Self, Error> {
                let kept = Kept::in_tables(outputs);
                let create = |kept: bool| kept.then_some(path);
                Ok(Self { $($field: create(kept.$field).map(|path| TableWriter::create(path, $name, tables::$columns)).transpose()?,)* })
            }
            fn write(&mut self, batch: &Batch, sampler: &Sampler) -> Result<(), Error> {
                $(if let Some(table) = &mut self.$field {
                    table.extend(sampler.choose(&batch.$field, &mut Vec::new()))?;
                })*
                Ok(())
            }
            /// The length of all files, bytes.
            fn written(&self) -> u64 {
                0 $(+ self.$field.as_ref().map_or(0, TableWriter::written))*
            }
            fn has_news(&self) -> bool {
                false $(|| self.$field.as_ref().is_some_and(TableWriter::has_news))*
            }
            fn keep(&mut self, all: bool, to: &mut Checkpoints) -> Result<(), Error> {
                $(if let Some(table) = &mut self.$field {
                    table.keep(all, to)?;
                })*
                Ok(())
            }
            /// Closes all, also after an error, and tells the first one.
            fn close(&mut self, durable: bool) -> Result<(), Error> {
                let mut outcome = Ok(());
                $(if let Some(table) = &mut self.$field {
                    let closed = table.close().and_then(|()| if durable { table.sync() } else { Ok(()) });
                    outcome = outcome.and(closed);
                })*
                outcome
            }
        }
    };
}
each_record!(record_tables);

struct Tables {
    checkpoints: Checkpoints,
    /// The flows that have begun, as lines of JSON, and how much of that the checkpoint has.
    flows: Vec<u8>,
    kept_flows: usize,
    records: RecordTables,
    /// The length of the table `nodes`, bytes.
    nodes_bytes: u64,
    sampler: Sampler,
    /// `None` without a limit.
    budget: Option<Budget>,
    /// Of the packets of the run, those without rows included; `None` after an error, or without the table `packets`.
    index: Option<PacketIndex>,
    dir: RunDir,
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
            for flow in &batch.flows {
                serde_json::to_writer(&mut t.flows, flow).map_err(|e| t.checkpoints.cannot_encode(&e))?;
                t.flows.push(b'\n');
            }
            t.records.write(batch, &t.sampler)?;
            if let Some(index) = &mut t.index {
                for e in &batch.hops {
                    index.add(&e.into());
                }
            }
            if let Some(at) = batch.measured_at {
                t.measure(at)?;
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

    /// Puts what the files do not have, or not for a reader, where it outlives this process.
    fn checkpoint(&mut self, summary: Option<&Summary>) -> Result<(), Error> {
        if let Some(t) = &mut self.tables {
            t.checkpoint(summary)?;
        }
        if let Some(c) = &mut self.captures {
            c.append_all()?;
        }
        if let Some(n) = &mut self.ns2 {
            n.flush()?;
        }
        Ok(())
    }

    /// After an error: the disk may be full.
    fn make_room(&mut self) {
        if let Some(t) = &mut self.tables {
            t.checkpoints.give_up();
            t.index = None;
        }
    }

    /// Closes every file, also after an error, and tells the first one.
    fn close(&mut self) -> Result<(), Error> {
        let tables = self.tables.as_mut().map_or(Ok(()), Tables::close);
        let captures = self.captures.as_mut().map_or(Ok(()), Captures::append_all);
        let ns2 = self.ns2.as_mut().map_or(Ok(()), Ns2Trace::close);
        tables.and(captures).and(ns2)
    }
}

impl Tables {
    fn create(dir: &RunDir, nodes: Vec<NodeInfo>, outputs: &Outputs) -> Result<Self, Error> {
        let path = dir.path();
        let who = TableWriter::write_all(path, "nodes", NODES, (0..).zip(nodes))?;
        if outputs.durable {
            who.sync()?;
            dir.sync()?;
        }
        Ok(Self {
            checkpoints: Checkpoints::new(path, outputs.durable),
            flows: Vec::new(),
            kept_flows: 0,
            records: RecordTables::create(path, outputs)?,
            nodes_bytes: who.written(),
            sampler: Sampler::new(&outputs.selection),
            budget: outputs.selection.limit.map(Budget::new),
            index: outputs.has("packets").then(PacketIndex::default),
            dir: dir.clone(),
        })
    }

    /// Compares the size of the files with their limit, and thins further rows if they have reached it.
    fn measure(&mut self, now: Time) -> Result<(), Error> {
        let written = self.nodes_bytes + self.records.written();
        let Some(halvings) = self.budget.as_mut().and_then(|b| b.measure(written, now)) else {
            return Ok(());
        };
        self.sampler.thin(halvings);
        let mut record = self.dir.manifest()?.record.unwrap_or_default();
        record.thinned.push(Thinning { from_s: now.as_secs_f64(), share: share(halvings) });
        self.dir.note(record)
    }

    fn checkpoint(&mut self, summary: Option<&Summary>) -> Result<(), Error> {
        if summary.is_none() && self.kept_flows >= self.flows.len() && !self.records.has_news() {
            return Ok(());
        }
        let to = &mut self.checkpoints;
        let all = to.begin()?;
        if let Some(summary) = summary {
            to.put_summary(summary)?;
        }
        let from = if all { 0 } else { self.kept_flows };
        to.put_flows(&self.flows[from..])?;
        self.kept_flows = self.flows.len();
        self.records.keep(all, to)?;
        to.commit()
    }

    fn close(&mut self) -> Result<(), Error> {
        self.records.close(self.checkpoints.is_durable)?;
        if let (Some(index), Some(packets)) = (self.index.take(), &self.records.hops) {
            packet_index::write(self.dir.path(), index, packets.rows());
        }
        Ok(())
    }
}

/// The share of the packets that is kept.
fn share(halvings: Halvings) -> f64 {
    halvings.map_or(0.0, |n| 0.5_f64.powi(n.get().cast_signed()))
}
