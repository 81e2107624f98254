//! What a world writes its trace to.

use std::any::Any;

use crate::batch::{Batch, Kept, RECORDS};
use crate::left_out::shorten;
use crate::outputs::{NodeInfo, Outputs};
use crate::tables::{FLOWS, TableWriter};
use crate::writer::Writer;
use wayhop_core::Time;

use crate::{
    BundleEvent, ContactEvent, Error, FlowSummary, FrameEvent, HopEvent, Identity, IdentityEvent, NoteEvent,
    PartialRecord, PositionEvent, ReceptionEvent, RunDir, RunStatus, SendEvent, Summary, TcpEvent, TraceHash,
};

/// Sees the records of a run as they are created, in addition to or instead of files; see [`crate::Recorder::observed_by`].
///
/// It is called on the run's own thread, in the order in which the run makes the records.
pub trait Observer: Any + Send {
    /// Whether [`Observer::frame`] has a use. Frames are made for the nodes that write a capture, which costs time.
    fn wants_frames(&self) -> bool {
        false
    }
    /// Whether [`Observer::reception`] has a use. Frames are watched for it, which costs time.
    fn wants_receptions(&self) -> bool {
        true
    }
    /// A packet's event.
    fn hop(&mut self, _: &HopEvent) {}
    /// A frame in the capture of a node, whole.
    fn frame(&mut self, _: &FrameEvent<'_>) {}
    /// What became of a frame at a node that should have received it.
    fn reception(&mut self, _: &ReceptionEvent) {}
    /// The state in which a protocol sent a packet.
    fn sent(&mut self, _: &SendEvent) {}
    /// What happened at a TCP sender.
    fn tcp(&mut self, _: &TcpEvent) {}
    /// What happened to a bundle.
    fn bundle(&mut self, _: &BundleEvent) {}
    /// What a contact of two agents carried, as each of its ends saw it.
    fn contact(&mut self, _: &ContactEvent) {}
    /// A protocol's remark.
    fn note(&mut self, _: &NoteEvent) {}
    /// A leg of a node's motion.
    fn position(&mut self, _: &PositionEvent) {}
}

/// Takes the records of a run on the run's own thread, and has a background thread write them.
///
/// Recording an event costs a hash and a copy into a batch. Full batches go to the writer through a bounded channel, so
/// that nothing is lost and memory stays bounded: a writer that cannot keep up slows the run down. A write error is kept:
/// [`Recorder::failed`] tells early that there is one, [`Recorder::finish`] tells which. A recorder that is dropped without `finish` (the
/// run has panicked) still closes its files and marks the run as failed.
pub struct Recorder {
    hash: TraceHash,
    batch: Batch,
    run: Option<Run>,
    kept: Kept,
    outputs: Outputs,
    /// Records since the size of the tables was last compared with its limit.
    unmeasured: usize,
    /// The latest time of a record; legs of motion do not count, which may be known before they begin.
    now: Time,
    observer: Option<Box<dyn Observer>>,
    shows_frames: bool,
    /// What was left out because the writer was behind; `None` if it is waited for.
    left_out: Option<LeftOut>,
}

#[derive(Copy, Clone, Default)]
struct LeftOut {
    frames: u64,
    /// `None` if tables stay whole.
    records: Option<u64>,
}

struct Run {
    dir: RunDir,
    writer: Writer,
}

impl Recorder {
    /// A recorder that writes nothing and only keeps the [`TraceHash`].
    pub fn hash_only() -> Self {
        Self {
            hash: TraceHash::new(),
            batch: Batch::default(),
            run: None,
            kept: Kept::default(),
            outputs: Outputs { tables: false, ..Outputs::default() },
            unmeasured: 0,
            now: Time::ZERO,
            observer: None,
            shows_frames: false,
            left_out: None,
        }
    }

    /// A recorder that writes these outputs into this directory; `nodes` are in the order of their ids.
    pub fn start(dir: RunDir, outputs: &Outputs, nodes: Vec<NodeInfo>) -> Result<Self, Error> {
        let record = PartialRecord::of(&outputs.selection, Kept::left_out(outputs));
        let noted = if record.is_whole() { Ok(()) } else { dir.note(record) };
        let started = noted.and_then(|()| Writer::start(dir.clone(), outputs, nodes));
        let writer = started.inspect_err(|e| {
            let _ = dir.end(RunStatus::Failed, Some(e.to_string()));
        })?;
        let mut recorder = Self::hash_only();
        recorder.kept = Kept::in_tables(outputs);
        // The trace of ns-2 has these, whatever the tables have.
        recorder.kept.hops |= outputs.ns2_trace.is_some();
        recorder.kept.positions |= outputs.ns2_trace.is_some();
        recorder.outputs = outputs.clone();
        recorder.run = Some(Run { dir, writer });
        Ok(recorder)
    }

    /// For a run on the real clock: where the writer cannot keep up (a slow disk), frames are left out of the captures, and
    /// counted, so that the run is not late for them. The tables stay whole.
    #[must_use]
    pub fn in_real_time(mut self) -> Self {
        self.left_out = Some(LeftOut::default());
        self
    }

    /// For a node of a real mesh: whatever the writer cannot keep up with is left out, and counted.
    #[must_use]
    pub fn never_waiting(mut self) -> Self {
        self.left_out = Some(LeftOut { frames: 0, records: Some(0) });
        self
    }

    /// Frames that were left out of captures so far.
    pub fn capture_drops(&self) -> u64 {
        self.left_out.map_or(0, |l| l.frames)
    }

    /// Rows that were left out of tables so far.
    pub fn lost_records(&self) -> u64 {
        self.left_out.and_then(|l| l.records).unwrap_or(0)
    }

    /// With somebody who sees every record, besides the files.
    #[must_use]
    pub fn observed_by(mut self, observer: Box<dyn Observer>) -> Self {
        self.shows_frames = observer.wants_frames();
        self.observer = Some(observer);
        self
    }
    /// The observer, at the end of the run; `None` without one of this type. [`Recorder::finish`] comes after it, if there
    /// are files.
    pub fn take_observer<O: Observer>(&mut self) -> Option<O> {
        self.shows_frames = false;
        let observer: Box<dyn Any> = self.observer.take()?;
        observer.downcast().ok().map(|o| *o)
    }

    /// Records a packet's event.
    #[inline]
    pub fn hop(&mut self, e: &HopEvent) {
        self.hash.add(e);
        if let Some(o) = &mut self.observer {
            o.hop(e);
        }
        if self.kept.hops {
            self.now = e.time;
            self.batch.hops.push(*e);
            self.count();
        }
    }
    /// Whether [`Recorder::identity`] has a use: ask before reading a packet's octets.
    #[inline]
    pub fn wants_identities(&self) -> bool {
        self.kept.identities
    }
    /// Records by what a packet is known, right before [`Recorder::hop`] of the same row, so that the two stay together.
    pub fn identity(&mut self, e: &HopEvent, identity: Identity) {
        if self.kept.identities {
            let HopEvent { time, node, packet, kind, .. } = *e;
            self.batch.identities.push(IdentityEvent { time, node, packet, kind, identity });
        }
    }
    /// Whether [`Recorder::frame`] has a use: ask before building a frame's octets.
    #[inline]
    pub fn wants_frames(&self) -> bool {
        self.outputs.captures.is_some() || self.shows_frames
    }
    /// Records a frame in its node's capture.
    pub fn frame(&mut self, e: &FrameEvent<'_>) {
        if let Some(o) = self.observer.as_mut().filter(|_| self.shows_frames) {
            o.frame(e);
        }
        if let Some(snaplen) = self.outputs.captures {
            self.batch.push_frame(e, snaplen as usize);
            if self.batch.is_full() {
                self.send();
            }
        }
    }
    /// Whether [`Recorder::reception`] has a use: ask before watching frames, which costs time.
    pub fn wants_receptions(&self) -> bool {
        self.kept.receptions || self.observer.as_ref().is_some_and(|o| o.wants_receptions())
    }
    /// Whether [`Recorder::connection`] has a use.
    pub fn wants_connections(&self) -> bool {
        self.kept.connections
    }
    /// Whether [`Recorder::size`] has a use: ask before counting a node's lists, which costs time.
    pub fn wants_sizes(&self) -> bool {
        self.kept.sizes
    }
    /// Whether [`Recorder::outcome`] has a use.
    pub fn wants_outcomes(&self) -> bool {
        self.kept.outcomes
    }

    /// The hash of the hop events so far.
    pub fn hash(&self) -> TraceHash {
        self.hash
    }
    /// Whether the writer has met an error. Cheap; ask now and then, and end the run if so: what comes after the error is
    /// not recorded, and [`Recorder::finish`] says what it was.
    pub fn failed(&self) -> bool {
        self.run.as_ref().is_some_and(|r| r.writer.failed())
    }

    /// Says what is known at the beginning: the summary of a run that is killed, with what its tables tell.
    pub fn begin(&mut self, summary: Summary) {
        if let Some(run) = &self.run {
            run.writer.hurry();
            self.keep_up(Some(summary));
        }
    }

    /// A flow has begun that the summary given to [`Recorder::begin`] does not have, the next one by its id. Of a run that is killed,
    /// `sent` and `received` stay unknown where they are `None` here.
    pub fn flow_began(&mut self, flow: FlowSummary) {
        if self.outputs.tables {
            self.batch.flows.push(flow);
        }
    }

    /// Whether [`Recorder::keep_up`] has something to do.
    pub fn is_due(&self) -> bool {
        self.run.as_ref().is_some_and(|r| r.writer.is_due())
    }

    /// To be called at least once a second of the wall clock while the run goes on, so that what was recorded is in files a few
    /// seconds later. Mostly it does nothing. With the summary as it is now, where that tells more than the tables.
    pub fn keep_up(&mut self, summary: Option<Summary>) {
        if self.is_due() {
            self.batch.summary = summary.map(Box::new).or(self.batch.summary.take());
            self.send();
        }
    }

    /// Writes everything out, the summary and the manifest's status too, and closes the files.
    ///
    /// The summary is told what the record leaves out. After an error the manifest says `failed` and why; what could be written is
    /// there and readable.
    pub fn finish(mut self, summary: &mut Summary, status: RunStatus) -> Result<(), Error> {
        let Some(Run { dir, writer }) = self.run.take() else { return Ok(()) };
        let (has_flows, durable) = (self.outputs.has("flows"), self.outputs.durable);
        let flows = if has_flows { write_flows(&dir, summary) } else { Ok(()) };
        let records = writer.finish(std::mem::take(&mut self.batch), dir.path().to_owned());
        let shortened = shorten(&dir, summary);
        let outcome = records.and(flows).and(shortened).and_then(|()| dir.write_summary(summary));
        match &outcome {
            Ok(()) => {
                if durable {
                    // What it replaces is removed by the end.
                    dir.sync()?;
                }
                dir.end(status, summary.failed_programs())?;
            }
            Err(e) => {
                // As much as there is room for, what matters most first.
                let _ = dir.end(RunStatus::Failed, Some(e.to_string()));
                let _ = dir.write_summary(summary);
                if has_flows {
                    let _ = write_flows(&dir, summary);
                }
            }
        }
        outcome
    }

    /// Counts a record, and sends the batch after each 8,192 of them. Where that is depends on the records alone, and so does what is thinned.
    #[inline]
    fn count(&mut self) {
        self.unmeasured += 1;
        if self.unmeasured >= RECORDS {
            self.unmeasured = 0;
            self.batch.measured_at = Some(self.now);
            self.send();
        }
    }

    #[cold]
    fn send(&mut self) {
        let Some(run) = &mut self.run else { return };
        let mut full = std::mem::take(&mut self.batch);
        full.checkpoint = run.writer.take_due();
        let Some(left_out) = &mut self.left_out else {
            self.batch = run.writer.exchange(full);
            return;
        };
        self.batch = run.writer.try_exchange(full).unwrap_or_else(|full| {
            let mut full = *full;
            if std::mem::take(&mut full.checkpoint) {
                run.writer.hurry();
            }
            if !full.is_full() {
                // It was only time; there is room for more.
                return full;
            }
            left_out.frames += full.drop_frames();
            match &mut left_out.records {
                Some(records) => {
                    *records += full.records();
                    full.clear_records();
                    full
                }
                None if full.is_overfull() => run.writer.exchange(full),
                None => full,
            }
        });
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        let Some(run) = self.run.take() else { return };
        let _ = run.writer.finish(std::mem::take(&mut self.batch), run.dir.path().to_owned());
        let what = Error::invalid(run.dir.path(), "the run stopped before its end");
        let _ = run.dir.end(RunStatus::Failed, Some(what.to_string()));
    }
}

impl std::fmt::Debug for Recorder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let dir = self.run.as_ref().map(|r| r.dir.path());
        f.debug_struct("Recorder").field("hash", &self.hash.hex()).field("dir", &dir).finish_non_exhaustive()
    }
}

/// A method for each kind of record: what it takes, its field that has the run's clock, its list in a batch, and the observer's method.
macro_rules! recorded {
    ($($(#[$doc:meta])* $name:ident($record:ident $(at $time:ident)?) in $list:ident $(, $seen:ident)?;)*) => {
        impl Recorder {
            $($(#[$doc])*
            pub fn $name(&mut self, e: &crate::$record) {
                $(if let Some(o) = &mut self.observer {
                    o.$seen(e);
                })?
                if self.kept.$list {
                    $(self.now = self.now.max(e.$time);)?
                    self.batch.$list.push(e.clone());
                    self.count();
                }
            })*
        }
    };
}
recorded! {
    /// Records a protocol's remark.
    note(NoteEvent at time) in notes, note;
    /// Records the state in which a protocol sent a packet.
    sent(SendEvent at time) in sends, sent;
    /// Records what became of a frame.
    reception(ReceptionEvent at time) in receptions, reception;
    /// Records what happened at a TCP sender.
    tcp(TcpEvent at time) in tcp, tcp;
    /// Records what happened to a bundle.
    bundle(BundleEvent at time) in bundles, bundle;
    /// Records what a contact carried.
    contact(ContactEvent at time) in contacts, contact;
    /// Records a leg of a node's motion.
    position(PositionEvent) in positions, position;
    /// Records what a node knows of a place on the earth.
    gps(GpsEvent at time) in gps;
    /// Records a TCP connection of a program.
    connection(ConnectionEvent at time) in connections;
    /// Records how long a list of a node is.
    size(SizeEvent at time) in sizes;
    /// Records a counter; at the end of the run.
    counter(Counter) in counters;
    /// Records what became of a packet; at the end of the run.
    outcome(PacketOutcome) in outcomes;
}

fn write_flows(dir: &RunDir, summary: &Summary) -> Result<(), Error> {
    TableWriter::write_all(dir.path(), "flows", FLOWS, summary.flows.iter().cloned()).map(drop)
}
