//! From the threads of a lab to the tables of its run.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use wayhop_core::{Leg, NodeId, Position, SendState, Span, Time};
use wayhop_scenario::Resolved;
use wayhop_trace::{
    Counter, HopEvent, Identity, NoteEvent, PositionEvent, Recorder, SendEvent, SizeEvent, Summary,
};

use crate::program_flows::ProgramFlows;

/// How long records wait for earlier ones of other threads.
const WAIT: Span = Span::from_secs(1);
/// The most names that are kept: protocols and hosts have fixed lists of them.
const MOST_NAMES: usize = 512;

/// Takes records, on any thread.
#[derive(Clone)]
pub(super) struct Records(Sender<Record>);

#[derive(Copy, Clone)]
pub(super) enum Record {
    /// A packet's event. One of no flow of the scenario is known by its identity at other nodes.
    Hop(HopEvent, Option<Identity>),
    /// A protocol's remark.
    Note(NoteEvent),
    /// The state in which a protocol sent a packet.
    Sent(SendEvent),
    /// How long a queue or table is.
    Size(SizeEvent),
}

impl Records {
    pub(super) fn add(&self, record: Record) {
        // Nobody takes it any more when the run is over.
        let _ = self.0.send(record);
    }
}

/// Puts records in order, and into the tables.
pub(super) struct TableRecorder {
    recorder: Recorder,
    flows: ProgramFlows,
    from: Receiver<Record>,
    waiting: BTreeMap<(Time, u64), Record>,
    count: u64,
    written: Time,
}

impl TableRecorder {
    /// For the tables of this recorder.
    pub(super) fn new(recorder: Recorder, s: &Resolved) -> (Self, Records) {
        let (to, from) = channel();
        (
            Self {
                recorder,
                flows: ProgramFlows::new(s),
                from,
                waiting: BTreeMap::new(),
                count: 0,
                written: Time::ZERO,
            },
            Records(to),
        )
    }

    /// Writes the nodes' motion, and what is known of the run in case that it is killed.
    pub(super) fn begin(&mut self, s: &Resolved, summary: Summary) {
        for (i, track) in s.tracks.iter().enumerate() {
            for leg in track.legs().iter().take_while(|l| l.from <= s.duration) {
                let Leg { from: time, until, start: at, velocity: [x, y, z] } = *leg;
                let (node, velocity) = (NodeId(i as u32), Position::new(x, y, z));
                self.recorder.position(&PositionEvent { time, until, node, at, velocity });
            }
        }
        self.recorder.begin(summary);
    }

    /// Writes what is old enough.
    pub(super) fn settle(&mut self, now: Time) {
        self.collect();
        let until = Time::from_nanos(now.as_nanos().saturating_sub(WAIT.as_nanos()));
        while let Some(first) = self.waiting.first_entry().filter(|e| e.key().0 <= until) {
            let (at, record) = (first.key().0, first.remove());
            self.write(at, record);
        }
        self.flows.take_new().for_each(|flow| self.recorder.flow_began(flow));
        self.recorder.keep_up(None);
    }

    /// Writes the rest and what the nodes counted, and gives the recorder back, with the conversations of programs.
    pub(super) fn finish(mut self, counters: &[BTreeMap<String, u64>]) -> (Recorder, ProgramFlows) {
        self.collect();
        for ((at, _), record) in std::mem::take(&mut self.waiting) {
            self.write(at, record);
        }
        for (i, all) in counters.iter().enumerate() {
            for (name, &value) in all {
                if let Some(name) = known(name) {
                    self.recorder.counter(&Counter {
                        iface: None,
                        node: NodeId(i as u32),
                        layer: "host",
                        name,
                        value,
                    });
                }
            }
        }
        (self.recorder, self.flows)
    }

    fn collect(&mut self) {
        for record in self.from.try_iter() {
            if let Record::Hop(e, Some(identity)) = &record {
                self.flows.learn(e, identity);
            }
            let at = match &record {
                Record::Hop(e, _) => e.time,
                Record::Note(e) => e.time,
                Record::Sent(e) => e.time,
                Record::Size(e) => e.time,
            };
            self.count += 1;
            self.waiting.insert((at, self.count), record);
        }
    }

    fn write(&mut self, at: Time, record: Record) {
        // One that waited too long must not turn the tables' time back.
        self.written = self.written.max(at);
        match record {
            Record::Hop(e, identity) => {
                let e = HopEvent { time: self.written, ..e };
                let e = identity.map_or(e, |identity| self.flows.place(e, &identity));
                self.recorder.hop(&e);
            }
            Record::Note(e) => self.recorder.note(&NoteEvent { time: self.written, ..e }),
            Record::Sent(e) => {
                let state = SendState { packet: self.flows.number(e.state.packet), ..e.state };
                self.recorder.sent(&SendEvent { time: self.written, state, ..e });
            }
            Record::Size(e) => self.recorder.size(&SizeEvent { time: self.written, ..e }),
        }
    }
}

/// A name that came in a message, for good: there are few of them, and each is kept once.
pub(super) fn known(name: &str) -> Option<&'static str> {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(n) = names.get(name) {
        return Some(n);
    }
    (names.len() < MOST_NAMES).then(|| {
        let n: &'static str = Box::leak(name.to_owned().into_boxed_str());
        names.insert(n);
        n
    })
}
