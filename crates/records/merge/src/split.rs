//! The way back: a run of a whole mesh as each of its nodes would have recorded it.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use wayhop_core::{NodeId, PacketId, Position, SendState, Time};
use wayhop_trace::{
    ConnectionEvent, Counter, HopEvent, HopKind, IdentityEvent, Manifest, NoteEvent, Outputs, PacketClass,
    PositionEvent, Recorder, RunDir, RunStatus, SendEvent, SizeEvent, Summary, Tables, Totals,
};

use crate::error::Error;
use crate::unite::is_data;

/// The number by which a node of a mesh knows itself.
const ITSELF: NodeId = NodeId(0);

/// A clock that a node is given.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct ShownClock {
    /// When the node's record begins, by the run's clock, seconds: its own clock then shows zero.
    pub begins_s: f64,
    /// By how much it runs fast.
    pub drift_ppm: f64,
}

impl ShownClock {
    /// What the clock shows at a time of the run; `None` before it began.
    pub fn shows(&self, at: Time) -> Option<Time> {
        let since_ns = at.as_nanos() as f64 - self.begins_s * 1e9;
        (since_ns >= 0.0).then(|| Time::from_nanos((since_ns * (1.0 + self.drift_ppm * 1e-6)).round() as u64))
    }
}

/// Writes what each node of a run saw as a run directory of its own, `out/NAME`, with packets numbered by the node itself, without
/// flows, and with the node's clock. Rows of the medium (`transmit`) are left out: no network card reports them. `clocks` are by
/// node; nodes without one have the run's. Returns the directories.
///
/// # Errors
/// If the run has no table `identities`, or a file cannot be read or written.
pub fn split(run: &RunDir, out: &Path, clocks: &[ShownClock]) -> Result<Vec<PathBuf>, Error> {
    let (manifest, summary) = (run.manifest()?, run.summary()?);
    let tables = Tables::of(run, summary.protocol.clone());
    let nodes = tables.nodes()?;
    let mut views: Vec<View> = Vec::new();
    for (i, node) in nodes.into_iter().enumerate() {
        let path = out.join(wayhop_core::file_name(&node.name));
        let config = format!(
            "# Node {} of this scenario:\n# {}\n",
            node.name,
            manifest.scenario.replace('\n', "\n# ")
        );
        let manifest = Manifest {
            started: manifest.started.clone(),
            library: manifest.library.clone(),
            ..Manifest::new(config, manifest.seed, manifest.command.clone(), 0)
        };
        let dir = RunDir::create(&path, &manifest, run.classifier())?;
        let outputs = Outputs { connections: true, identities: true, sizes: true, ..Outputs::default() };
        let recorder = Recorder::start(dir, &outputs, vec![node])?;
        let clock = clocks.get(i).copied().unwrap_or_default();
        views.push(View { path, recorder, clock, numbers: FxHashMap::default(), totals: Totals::default() });
    }
    copy_packets(&tables, &mut views)?;
    tables.events(&mut |e| {
        put(&mut views, (e.node, e.time), |to, time| to.note(&NoteEvent { time, node: ITSELF, ..e }))
    })?;
    tables.sends(&mut |e| {
        let view = view(&mut views, e.node)?;
        // Numbers are given in the order of the rows, also of those before the record begins.
        let packet = view.number(e.state.packet);
        if let Some(time) = view.clock.shows(e.time) {
            let state = SendState { packet, ..e.state };
            view.recorder.sent(&SendEvent { time, node: ITSELF, state });
        }
        Ok(())
    })?;
    tables.connections(&mut |e| {
        put(&mut views, (e.node, e.time), |to, time| {
            to.connection(&ConnectionEvent { time, node: ITSELF, ..e });
        })
    })?;
    tables.sizes(&mut |e| {
        put(&mut views, (e.node, e.time), |to, time| to.size(&SizeEvent { time, node: ITSELF, ..e }))
    })?;
    tables.positions(&mut |e| {
        let view = view(&mut views, e.node)?;
        let begins = Time::from_secs_f64(view.clock.begins_s.max(0.0));
        let until = if e.until == Time::NEVER { Some(Time::NEVER) } else { view.clock.shows(e.until) };
        if let (Some(time), Some(until)) = (view.clock.shows(e.time.max(begins)), until) {
            // The rest of a leg that has started before the record begins.
            let passed_s = begins.max(e.time).since(e.time).as_secs_f64();
            let (p, v) = (e.at, e.velocity);
            let at = Position::new(p.x + v.x * passed_s, p.y + v.y * passed_s, p.z + v.z * passed_s);
            view.recorder.position(&PositionEvent { time, until, at, node: ITSELF, ..e });
        }
        Ok(())
    })?;
    tables.counters(&mut |c| {
        view(&mut views, c.node)?.recorder.counter(&Counter { node: ITSELF, ..c });
        Ok(())
    })?;
    views.into_iter().map(|view| view.end(&summary)).collect()
}

fn view(views: &mut [View], node: NodeId) -> Result<&mut View, String> {
    views.get_mut(node.index()).ok_or_else(|| "a node that the table `nodes` does not have".to_owned())
}

/// Writes what a node did at a time of the run into its record, if that has begun by then.
fn put(
    views: &mut [View],
    (node, at): (NodeId, Time),
    write: impl FnOnce(&mut Recorder, Time),
) -> Result<(), String> {
    let view = view(views, node)?;
    if let Some(time) = view.clock.shows(at) {
        write(&mut view.recorder, time);
    }
    Ok(())
}

struct View {
    path: PathBuf,
    recorder: Recorder,
    clock: ShownClock,
    numbers: FxHashMap<PacketId, PacketId>,
    totals: Totals,
}

impl View {
    fn number(&mut self, packet: PacketId) -> PacketId {
        let next = PacketId(self.numbers.len() as u64 + 1);
        *self.numbers.entry(packet).or_insert(next)
    }

    /// Counts a packet that leaves, as a node of the field does.
    fn count(&mut self, hop: &HopEvent) {
        if hop.class.is_control() {
            self.totals.routing_packets += 1;
            self.totals.routing_bytes += u64::from(hop.bytes);
        }
        for name in hop.messages.names() {
            *self.totals.by_type.entry(name.to_owned()).or_default() += 1;
        }
    }

    fn end(mut self, of: &Summary) -> Result<PathBuf, Error> {
        let end_ns = Time::from_nanos((of.simulated_s * 1e9) as u64);
        let seconds = self.clock.shows(end_ns).map_or(0.0, |t| t.as_nanos() as f64 / 1e9);
        self.totals.drops.clear();
        let mut summary = Summary {
            wayhop: of.wayhop.clone(),
            scenario: of.scenario.clone(),
            seed: of.seed,
            world: "field".to_owned(),
            protocol: of.protocol.clone(),
            simulated_s: seconds,
            wall_s: seconds,
            trace_hash: self.recorder.hash().hex(),
            totals: self.totals,
            origin: of.origin,
            ..Summary::default()
        };
        self.recorder.finish(&mut summary, RunStatus::Complete)?;
        Ok(self.path)
    }
}

/// Copies the rows of `packets` with their identities, which are in the same order also where copies do the same at one moment.
fn copy_packets(tables: &Tables<'_>, views: &mut [View]) -> Result<(), Error> {
    type Row = (NodeId, PacketId, Time, HopKind);
    let mut identities: FxHashMap<Row, VecDeque<IdentityEvent>> = FxHashMap::default();
    tables.identities(&mut |i| {
        identities.entry((i.node, i.packet, i.time, i.kind)).or_default().push_back(i);
        Ok(())
    })?;
    tables.packets(&mut |hop| {
        let view = view(views, hop.node)?;
        let row = (hop.node, hop.packet, hop.time, hop.kind);
        let identity = identities.get_mut(&row).and_then(VecDeque::pop_front);
        let is_of_medium = matches!(hop.kind, HopKind::Transmit | HopKind::Recall);
        let Some(time) = view.clock.shows(hop.time).filter(|_| !is_of_medium) else { return Ok(()) };
        let packet = view.number(hop.packet);
        // A node does not know what its programs' packets are for.
        let class = if is_data(hop.class) { PacketClass::Data } else { hop.class };
        let own = HopEvent { time, packet, node: ITSELF, flow: None, class, ..hop };
        if matches!(hop.kind, HopKind::Send | HopKind::Forward) {
            view.count(&hop);
        }
        if let Some(i) = identity {
            view.recorder.identity(&own, i.identity);
        }
        view.recorder.hop(&own);
        Ok(())
    })?;
    Ok(())
}
