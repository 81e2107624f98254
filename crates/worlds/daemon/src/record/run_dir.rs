//! The run directory of a node, in the format of the other worlds
//! (docs/reference/run-directory.md), with one node's view.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use wayhop_core::{Fix, NodeId, Packet, SendState, Time, TraceNote};
use wayhop_linux::Error;
use wayhop_node::Hop;
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{
    ConnectionEvent, Counter, GpsEvent, HopEvent, Identity, InterfaceInfo, Manifest, NodeInfo, NoteEvent,
    Origin, Outcome, Outputs, PacketClass, PacketOutcome, Recorder, RunDir, RunStatus, SendEvent, SizeEvent,
    Summary,
};
use wayhop_wire::ip;

use crate::config::number::NODE;
use crate::config::plan::{RecordPlan, RunPlan};
use crate::kernel::ownership::give_to;
use crate::position::places::LocalPositions;
use crate::record::counters::Counters;
use crate::record::program_flows::ProgramFlows;

/// The record of what happens at the node.
pub(crate) struct RunRecord {
    rows: RowSink,
    places: LocalPositions,
    flows: ProgramFlows,
    /// When the node was last asked to keep up, and the begin of the last leg that was written before its end.
    kept_up: Time,
    written_leg: Option<Time>,
}

/// Where rows go.
enum RowSink {
    /// What happens while the node is set up waits for the directory.
    Waiting(Vec<WaitingRow>),
    /// A run directory to which the node writes.
    Writing(Box<Recorder>),
}

/// Writes one row of a table.
type WaitingRow = Box<dyn FnOnce(&mut Recorder)>;

fn wrong(e: &wayhop_trace::Error) -> Error {
    Error::System(format!("cannot write the run directory: {e}"))
}

/// Makes the directory, and gives it to the node's user.
pub(crate) fn make(plan: &RunPlan, user: &str) -> Result<RunDir, Error> {
    let path = &plan.path;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let command = std::env::args_os().map(|a| wayhop_scenario::without_keys(&a.to_string_lossy())).collect();
    let manifest = Manifest {
        library: plan.library.clone(),
        ..Manifest::new(plan.config.clone(), plan.seed, command, now)
    };
    let dir = RunDir::create(path, &manifest, CLASSIFIER).map_err(|e| wrong(&e))?;
    wayhop_protocols::progress::set_run_directory(path);
    let captures = path.join("captures");
    let give = || {
        fs::create_dir_all(&captures)?;
        give_to(path, user)?;
        for entry in fs::read_dir(path)? {
            give_to(&entry?.path(), user)?;
        }
        Ok(())
    };
    give().map_err(Error::system(format!("change the owner of {} to {user}", path.display())))?;
    Ok(dir)
}

impl RunRecord {
    /// A record that waits for its directory.
    pub(crate) fn waiting(flows: ProgramFlows) -> Self {
        let (rows, places) = (RowSink::Waiting(Vec::new()), LocalPositions::default());
        Self { rows, places, flows, kept_up: Time::ZERO, written_leg: None }
    }

    /// Begins to write, on a thread. What a slow disk has no time for is left out, and counted (`lost_rows`).
    pub(crate) fn begin(&mut self, dir: RunDir, plan: &RecordPlan) -> Result<(), Error> {
        // What the frames are matters for captures, which this recorder does not write.
        let interface =
            |name: &String| InterfaceInfo { name: name.clone(), kind: wayhop_trace::LinkKind::Ethernet };
        let node = NodeInfo {
            name: plan.about.name.clone(),
            addr: plan.addresses.own,
            addr6: plan.addresses.own6.map(|(addr, _)| addr),
            interfaces: plan.interfaces.iter().map(interface).collect(),
        };
        // Packets have to be found again in the records of other nodes.
        let outputs = Outputs {
            connections: true,
            gps: true,
            sizes: true,
            identities: true,
            // Batteries run flat.
            durable: true,
            ..Outputs::default()
        };
        let recorder = Recorder::start(dir, &outputs, vec![node]).map_err(|e| wrong(&e))?.never_waiting();
        let writing = RowSink::Writing(Box::new(recorder));
        if let RowSink::Waiting(rows) = std::mem::replace(&mut self.rows, writing) {
            for row in rows {
                self.write(row);
            }
        }
        Ok(())
    }

    /// Has a row written now, or when there is a directory.
    fn write(&mut self, row: impl FnOnce(&mut Recorder) + 'static) {
        match &mut self.rows {
            RowSink::Waiting(rows) => rows.push(Box::new(row)),
            RowSink::Writing(recorder) => row(recorder),
        }
    }

    /// Something became of a packet.
    pub(crate) fn hop(&mut self, time: Time, p: &Packet, hop: &Hop) {
        let (class, messages) = wayhop_protocols::classify(p.bytes());
        let Ok(ip) = ip::Packet::new_checked(p.bytes()) else { return };
        let event = HopEvent {
            iface: hop.iface,
            time,
            packet: p.meta.id,
            flow: None,
            node: NodeId(NODE),
            bytes: p.len() as u32,
            source: ip.src,
            destination: ip.dst,
            peer: hop.peer,
            signal_dbm: hop.signal_dbm,
            kind: hop.kind,
            class: class.map_or(PacketClass::Data, PacketClass::Control),
            messages,
            ttl: ip.ttl,
            reason: hop.reason,
        };
        let identity = Identity::of(p.bytes(), CLASSIFIER);
        let event = self.flows.place(event, identity.as_ref());
        self.write(move |r| {
            if let Some(identity) = identity {
                r.identity(&event, identity);
            }
            r.hop(&event);
        });
        // A packet of a conversation that is dropped here was sent here, or it would have no flow.
        let outcome = event.reason.map(Outcome::Dropped);
        let arrived = (event.kind == wayhop_trace::HopKind::Deliver).then_some(Outcome::Delivered);
        if let Some((packet, outcome)) = event.flow.zip(outcome.or(arrived)) {
            self.write(move |r| r.outcome(&PacketOutcome { packet, outcome, nodes: 1 }));
        }
    }

    /// The protocol remarked something.
    pub(crate) fn note(&mut self, time: Time, note: TraceNote) {
        self.write(move |r| r.note(&NoteEvent { time, node: NodeId(NODE), note }));
    }

    /// The protocol sent a packet in this state.
    pub(crate) fn sent(&mut self, time: Time, state: SendState) {
        self.write(move |r| r.sent(&SendEvent { time, node: NodeId(NODE), state }));
    }

    /// Where the node is.
    pub(crate) fn place(&mut self, time: Time, fix: &Fix) {
        if let Some(leg) = self.places.go(time, fix) {
            self.write(move |r| r.position(&leg));
        }
    }

    /// What the node knows of a place on the earth.
    pub(crate) fn gps(&mut self, e: GpsEvent) {
        self.write(move |r| r.gps(&e));
    }

    /// How long a queue or table is.
    pub(crate) fn size(&mut self, e: SizeEvent) {
        self.write(move |r| r.size(&e));
    }

    /// How a connection of a program is.
    pub(crate) fn connection(&mut self, e: ConnectionEvent) {
        self.write(move |r| r.connection(&e));
    }

    /// Whether [`RunRecord::keep_up`] is due.
    pub(crate) fn is_due(&self) -> bool {
        matches!(&self.rows, RowSink::Writing(recorder) if recorder.is_due())
    }

    /// Has files get what was recorded, with the summary as it is now, so that a node that is killed leaves both.
    pub(crate) fn keep_up(&mut self, now: Time, summary: Summary) {
        // A node that stands still has no end of a leg for long. Of two rows with the same begin the later one holds.
        let open = self.places.end().filter(|leg| leg.time <= self.kept_up);
        if let Some(leg) = open.filter(|leg| self.written_leg != Some(leg.time)) {
            self.written_leg = Some(leg.time);
            self.write(move |r| r.position(&leg));
        }
        self.kept_up = now;
        let origin = self.origin();
        if let RowSink::Writing(recorder) = &mut self.rows {
            // Each is written once: after months, rewriting all flows every two seconds would wear
            // out the disk.
            self.flows.take_new().for_each(|flow| recorder.flow_began(flow));
            recorder.keep_up(Some(Summary { origin, ..summary }));
        }
    }

    /// Where the metres of positions count from.
    fn origin(&self) -> Option<Origin> {
        let of = |fix: &Fix| Origin { latitude_deg: fix.latitude_deg, longitude_deg: fix.longitude_deg };
        self.places.origin().map(of)
    }

    /// Rows that the disk had no time for.
    pub(crate) fn lost(&self) -> u64 {
        match &self.rows {
            RowSink::Waiting(_) => 0,
            RowSink::Writing(recorder) => recorder.lost_records(),
        }
    }

    /// Writes the rest. The summary gets the hash of what was recorded.
    pub(crate) fn end(mut self, summary: &mut Summary, counters: &Counters) -> Result<(), Error> {
        if let Some(leg) = self.places.end().filter(|leg| self.written_leg != Some(leg.time)) {
            self.write(move |r| r.position(&leg));
        }
        summary.origin = self.origin();
        summary.flows = self.flows.summaries();
        let RowSink::Writing(mut recorder) = self.rows else { return Ok(()) };
        let host = counters.named().into_iter().map(|(name, value)| ("host", name, value));
        let auth = counters.auth.iter().flat_map(wayhop_auth::BlockCounts::named);
        for (layer, name, value) in host.chain(auth.map(|(name, value)| ("auth", name, value))) {
            recorder.counter(&Counter { iface: None, node: NodeId(NODE), layer, name, value });
        }
        summary.trace_hash = recorder.hash().hex();
        recorder.finish(summary, RunStatus::Complete).map_err(|e| wrong(&e))
    }
}
