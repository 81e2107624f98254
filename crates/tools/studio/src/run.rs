//! An open run: what the page receives first, its tables, and the paths of its packets.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use parquet::data_type::{ByteArray, ByteArrayType, Int32Type, Int64Type};
use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use wayhop_protocols::CLASSIFIER;
use wayhop_scenario::Scenario;
use wayhop_trace::{
    Manifest, NodeInfo, PacketIndex, RunDir, RunStatus, Summary, Tables, how_it_ended, what_is_left_out,
};

use crate::error::Error;
use crate::frames::Source;
use crate::motion::Motion;
use crate::node_counts::NodeCounts;
use crate::overview::Overview;
use crate::packets::peer;
use crate::sightings::Captures;
use crate::story::StoryQuery;
use crate::table::OpenTable;
use crate::{packets, story};

const MOST_NODES: usize = 100_000;
/// Packets of a run that was killed are counted for its summary, while somebody waits, if they have no more rows than these.
pub(crate) const MOST_COUNTED: u64 = 1 << 18;

pub(crate) struct OpenRun {
    pub(crate) dir: RunDir,
    /// When its manifest was last written: a run that was done again is another one.
    written: Option<SystemTime>,
    pub(crate) info: Value,
    pub(crate) motion: Motion,
    numbers: FxHashMap<String, i32>,
    names: Vec<String>,
    captures: Captures,
    /// The table `packets`, unless rows may still come.
    packets: Option<Arc<OpenTable>>,
    overview: Arc<Overview>,
    nodes: Arc<NodeCounts>,
}

impl Drop for OpenRun {
    fn drop(&mut self) {
        self.overview.stop();
        self.nodes.stop();
    }
}

impl OpenRun {
    /// Opens a run directory. What cannot be read is a problem that the page shows; only a manifest is required.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let dir = RunDir::open(path, CLASSIFIER)?;
        let written = last_written(path);
        let manifest = dir.manifest()?;
        let mut problems = Vec::new();
        if manifest.status == RunStatus::Failed {
            let why = manifest.error.as_deref().unwrap_or("unknown error");
            problems.push(format!("{}: the run failed: {why}", path.display()));
        }
        // What is wrong with its tables is told below.
        problems.extend(how_it_ended(&dir).ok().flatten());
        problems.extend(what_is_left_out(&dir).ok().flatten());
        let outline = noted(dir.outline(MOST_COUNTED).map_err(Error::from), &mut problems);
        let is_counted = outline.as_ref().is_some_and(|(_, is_counted)| *is_counted);
        let summary = outline.map(|(summary, _)| summary);
        let motion = noted(OpenTable::open(&dir, "positions").and_then(|t| Motion::read(&t)), &mut problems)
            .unwrap_or_default();
        let packets = noted(OpenTable::open(&dir, "packets"), &mut problems);
        let listed = Tables::of(&dir, "").nodes().map_err(Error::from);
        let mut listed = noted(listed, &mut problems).unwrap_or_default();
        listed.truncate(MOST_NODES);
        let recorded = packets.as_ref().and_then(OpenTable::end).unwrap_or(0);
        let end_ns = summary.as_ref().map_or(0, |s| (s.simulated_s * 1e9) as i64).max(recorded).max(1);
        let nodes = motion.nodes.max(listed.len()).min(MOST_NODES);
        let index = packets.as_ref().and_then(|table| indexed(&dir, table, &mut problems));
        let info = json!({
            "nodes": nodes,
            "names": listed.iter().map(|n| &n.name).collect::<Vec<_>>(),
            "addresses": listed.iter().map(|n| n.addr).collect::<Vec<_>>(),
            "end_ns": end_ns,
            "rows": packets.as_ref().map_or(0, OpenTable::rows),
            "range_m": range_m(&manifest, summary.as_ref(), nodes),
            "status": manifest.status,
            "started": manifest.started,
            "wayhop": manifest.wayhop,
            "seed": manifest.seed,
            "scenario": summary.as_ref().map(|s| &s.scenario),
            "world": summary.as_ref().map(|s| &s.world),
            "protocol": summary.as_ref().map(|s| &s.protocol),
            "totals": summary.as_ref().filter(|_| is_counted).map(|s| &s.totals),
            "flows": summary.as_ref().map(|s| &s.flows),
            "trace_hash": summary.as_ref().map(|s| &s.trace_hash),
            "connections": OpenTable::open(&dir, "connections").map_or(0, |t| t.rows()),
            "problems": problems,
        });
        let packets = packets.map(Arc::new);
        let is_indexed = index.is_some();
        let overview = Arc::new(Overview::new(end_ns.unsigned_abs(), index));
        if let Some(table) = packets.clone().filter(|_| !is_indexed) {
            let counted = Arc::clone(&overview);
            std::thread::spawn(move || counted.read(&table));
        }
        let counts = Arc::new(NodeCounts::new(nodes, end_ns));
        // What a run has written meanwhile is shown, too.
        let is_under_way = manifest.status == RunStatus::Running && dir.is_under_way();
        let packets = packets.filter(|_| !is_under_way);
        let numbers = addresses(&listed);
        let names = listed.into_iter().map(|n| n.name).collect();
        let captures = Captures::default();
        Ok(Self { dir, written, info, motion, numbers, names, captures, packets, overview, nodes: counts })
    }

    /// Whether the directory holds another run by now.
    pub(crate) fn is_stale(&self) -> bool {
        last_written(self.dir.path()) != self.written
    }

    pub(crate) fn positions(&self, from: i64, to: i64) -> Vec<u8> {
        self.motion.window(from, to)
    }

    pub(crate) fn packets(&self, from: i64, to: i64) -> Result<Vec<u8>, Error> {
        let table = self.table()?;
        packets::window(&table, &self.numbers, from, to)
    }

    /// The table `packets`.
    fn table(&self) -> Result<Arc<OpenTable>, Error> {
        match &self.packets {
            Some(table) => Ok(Arc::clone(table)),
            None => OpenTable::open(&self.dir, "packets").map(Arc::new),
        }
    }

    /// Events over the run, of a node or of all.
    pub(crate) fn overview(&self, node: Option<usize>) -> Result<Vec<u8>, Error> {
        let Some(node) = node else { return self.overview.frame() };
        self.nodes.begin(&self.table()?);
        self.nodes.frame(node)
    }

    /// The losses of a node, or of all.
    pub(crate) fn losses(&self, node: Option<usize>) -> Result<Vec<u8>, Error> {
        self.overview.losses(&self.motion, node)
    }

    pub(crate) fn story(&self, asked: &StoryQuery) -> Result<Value, Error> {
        let mut answer = story::answer(&self.dir, asked)?;
        for story in answer["stories"].as_array_mut().into_iter().flatten() {
            story["hops"] = json!(self.hops(story)?);
        }
        Ok(answer)
    }

    /// Where the packet of a story went, as far as its steps are told.
    fn hops(&self, story: &Value) -> Result<Vec<Value>, Error> {
        let times = || story["steps"].as_array().into_iter().flatten().filter_map(|s| s["time_s"].as_f64());
        let (Some(packet), Some(first), Some(last)) =
            (story["packet"].as_i64(), times().next(), times().next_back())
        else {
            return Ok(Vec::new());
        };
        // Seconds are rounded: a microsecond more on both sides.
        let [from, to] = [first * 1e9 - 1e3, last * 1e9 + 1e3].map(|ns| ns as i64);
        let table = self.table()?;
        hops(&table, &self.numbers, packet, from, to)
    }

    /// When it ends, nanoseconds.
    pub(crate) fn end_ns(&self) -> i64 {
        self.info["end_ns"].as_i64().unwrap_or(1)
    }

    pub(crate) fn frames(&self) -> Source<'_> {
        Source { run: &self.dir, names: &self.names, captures: &self.captures }
    }
}

fn last_written(run: &Path) -> Option<SystemTime> {
    let manifest: PathBuf = run.join("manifest.json");
    manifest.metadata().and_then(|m| m.modified()).ok()
}

/// The run's own index. One that is damaged or of another table does not count, and neither does that of a run that goes on.
fn indexed(dir: &RunDir, packets: &OpenTable, problems: &mut Vec<String>) -> Option<PacketIndex> {
    let read = PacketIndex::read(dir.path(), packets.rows());
    let note = |e| problems.push(format!("{e}; the file is ignored, and packets are counted again"));
    read.map_err(note).ok().flatten()
}

/// What could be had, or a problem more.
fn noted<T>(had: Result<T, Error>, problems: &mut Vec<String>) -> Option<T> {
    had.map_err(|e| problems.push(e.what)).ok()
}

fn addresses(nodes: &[NodeInfo]) -> FxHashMap<String, i32> {
    let texts =
        |n: &NodeInfo| [Some(n.addr.to_string()), n.addr6.map(|a| a.to_string())].into_iter().flatten();
    (0..).zip(nodes).flat_map(|(i, n)| texts(n).map(move |a| (a, i))).collect()
}

/// How far a node's radio reaches, if the run had a radio model and one radio; else the page draws the links that packets used.
fn range_m(manifest: &Manifest, summary: Option<&Summary>, nodes: usize) -> Option<f64> {
    if !summary.is_some_and(|s| matches!(s.world.as_str(), "sim" | "emulation")) {
        return None;
    }
    // Where its nodes move is recorded: nothing that the scenario names is read for this.
    let still = ["movement={kind=\"grid\",spacing_m=100}", "traffic=[]", "duration_s=1"].map(str::to_owned);
    // Movement that lists the nodes says how many there are; a grid does not.
    let still = [&still[..], &[format!("nodes.count={nodes}")]].concat();
    let resolved = Scenario::from_text(&manifest.scenario, &still).ok()?.resolve().ok()?;
    (resolved.interfaces.radios.len() == 1).then(|| resolved.radio().nominal_range_m())
}

const MOST_HOPS: usize = 2_000;

/// The hops of a packet in `from..to`, nanoseconds, in order of time; those for more than one receiver have no end and are left out.
fn hops(
    table: &OpenTable,
    nodes: &FxHashMap<String, i32>,
    packet: i64,
    from: i64,
    to: i64,
) -> Result<Vec<Value>, Error> {
    let mut hops = Vec::new();
    for index in table.groups_between(from, to) {
        let group = table.group(index)?;
        let (rows, times) = group.between(from, to, group.rows())?;
        let packets = group.stretch::<Int64Type>("packet", &rows)?;
        if !packets.contains(&Some(packet)) {
            continue;
        }
        let events = group.stretch::<ByteArrayType>("event", &rows)?;
        let senders = group.stretch::<Int32Type>("node", &rows)?;
        let peers = group.stretch::<ByteArrayType>("peer", &rows)?;
        for (i, time) in times.iter().enumerate().filter(|(i, _)| packets[*i] == Some(packet)) {
            let event = events[i].as_ref().map(ByteArray::data);
            let next = peer(nodes, peers[i].as_ref());
            if !matches!(event, Some(b"send" | b"forward")) || next < 0 || hops.len() >= MOST_HOPS {
                continue;
            }
            hops.push(json!({"time_ns": time, "node": senders[i], "peer": next}));
        }
    }
    Ok(hops)
}
