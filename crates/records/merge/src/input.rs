//! The runs that are given: each read whole, and checked.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, Classifier, PacketId, Time, version};
use wayhop_trace::{
    ConnectionEvent, Counter, GpsEvent, HopEvent, HopKind, Identity, Manifest, NodeInfo, NoteEvent,
    PositionEvent, RunDir, RunStatus, SendEvent, SizeEvent, Summary, Tables,
};

use crate::error::Error;

/// Rows of all runs together that are merged at most: some 2 GB of memory.
const MOST_ROWS: usize = 1 << 23;
const MOST_NODES: usize = 1_000;
/// By how much runs of one node may overlap: the error of their clocks.
const OVERLAP_NS: i128 = 1_000_000_000;

/// A run of one node. One that was started again has several.
pub(crate) struct NodeRun {
    pub(crate) path: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) summary: Summary,
    pub(crate) node: NodeInfo,
    /// The node's number in the merged run.
    pub(crate) number: u32,
    pub(crate) hops: Vec<(HopEvent, Option<Identity>)>,
    pub(crate) notes: Vec<NoteEvent>,
    pub(crate) sends: Vec<SendEvent>,
    pub(crate) sizes: Vec<SizeEvent>,
    pub(crate) connections: Vec<ConnectionEvent>,
    pub(crate) gps: Vec<GpsEvent>,
    pub(crate) positions: Vec<PositionEvent>,
    pub(crate) counters: Vec<Counter>,
    /// How long it went on by its own clock, nanoseconds.
    pub(crate) end_ns: u64,
}

impl NodeRun {
    fn unfit(&self, what: &str) -> Error {
        unfit(&self.path, what)
    }

    /// Whether the node was killed, so that its record ends early.
    pub(crate) fn was_killed(&self) -> bool {
        matches!(self.manifest.status, RunStatus::Running | RunStatus::Killed)
    }

    /// Whether this is one of the node's addresses.
    pub(crate) fn has(&self, address: Addr) -> bool {
        address == self.node.addr || self.node.addr6.is_some_and(|a| address == Addr::from(a))
    }
}

fn unfit(path: &Path, what: &str) -> Error {
    Error::Unfit(format!("{}: {what}", path.display()))
}

/// Refuses to write the merged run where one of the runs is.
pub(crate) fn check_place(paths: &[PathBuf], out: &Path) -> Result<(), Error> {
    let Ok(out) = out.canonicalize() else { return Ok(()) };
    let is_there = |path: &&PathBuf| path.canonicalize().is_ok_and(|p| p == out);
    match paths.iter().find(is_there) {
        Some(path) => Err(unfit(path, "this is one of the runs; choose another directory with --out")),
        None => Ok(()),
    }
}

/// Reads all runs, and checks that they can be of one experiment.
pub(crate) fn read_all(
    paths: &[PathBuf],
    classifier: &'static dyn Classifier,
) -> Result<Vec<NodeRun>, Error> {
    if paths.len() < 2 {
        return Err(Error::Unfit("only one run is given; add the runs of other nodes".into()));
    }
    if paths.len() > MOST_NODES {
        return Err(Error::Unfit(format!(
            "{} runs are too many; at most {MOST_NODES} can be merged",
            paths.len()
        )));
    }
    for (i, path) in paths.iter().enumerate() {
        let place = |p: &PathBuf| p.canonicalize().unwrap_or_else(|_| p.clone());
        if paths[..i].iter().any(|p| place(p) == place(path)) {
            return Err(unfit(path, "given twice; give each run once"));
        }
    }
    let mut room = MOST_ROWS;
    let mut runs: Vec<NodeRun> = Vec::new();
    for path in paths {
        let run = read(path, classifier, &mut room)?;
        check(&run, &runs)?;
        runs.push(run);
    }
    Ok(runs)
}

/// Whether a run can be of the same experiment as those before it.
fn check(run: &NodeRun, others: &[NodeRun]) -> Result<(), Error> {
    // A node that is started again begins later; runs that overlap are found when the clocks are known.
    let is_same = |o: &&NodeRun| o.node.addr == run.node.addr && o.manifest.started == run.manifest.started;
    if let Some(same) = others.iter().find(is_same) {
        let other = same.path.display();
        return Err(run.unfit(&format!(
            "this is a run of node {}, like {other}, and started at the same time; give each run once",
            run.node.addr
        )));
    }
    let Some(first) = others.first() else { return Ok(()) };
    let differs = |what: &str, one: &str, other: &str| {
        Err(run.unfit(&format!(
            "{what} is {one}, but {other} in {}; merge only runs of one experiment",
            first.path.display()
        )))
    };
    if run.summary.protocol != first.summary.protocol {
        return differs("the routing protocol", &run.summary.protocol, &first.summary.protocol);
    }
    match (Mesh::of(&run.manifest), Mesh::of(&first.manifest)) {
        (Some(one), Some(other)) if one != other => {
            differs("the mesh's network", &one.to_string(), &other.to_string())
        }
        _ => Ok(()),
    }
}

#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mesh {
    network: u32,
    length: u32,
}

impl Mesh {
    /// That of a node's configuration; `None` if it is not told.
    pub(crate) fn of(manifest: &Manifest) -> Option<Self> {
        let config: toml::Table = manifest.scenario.parse().ok()?;
        let (address, length) = config.get("address")?.as_str()?.split_once('/')?;
        let (address, length): (Ipv4Addr, u32) = (address.parse().ok()?, length.parse().ok()?);
        (length <= 32).then(|| Self { network: address.to_bits() & mask(length), length })
    }

    pub(crate) fn has(self, address: Ipv4Addr) -> bool {
        address.to_bits() & mask(self.length) == self.network
    }
}

fn mask(length: u32) -> u32 {
    u32::MAX.checked_shl(32 - length).unwrap_or(0)
}

impl std::fmt::Display for Mesh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from_bits(self.network), self.length)
    }
}

fn read(path: &Path, classifier: &'static dyn Classifier, room: &mut usize) -> Result<NodeRun, Error> {
    let dir = RunDir::open(path, classifier)?;
    let manifest = dir.manifest()?;
    if manifest.status == RunStatus::Running && dir.is_under_way() {
        let what = "the run is still running; stop the node with SIGTERM, or wait until it ends";
        return Err(unfit(path, what));
    }
    let ours = version::RELEASE;
    if version::release_of(&manifest.wayhop) != ours {
        let theirs = &manifest.wayhop;
        let remedy = "merge with the version that all nodes ran";
        return Err(unfit(path, &format!("written by Wayhop {theirs}, and this is {ours}; {remedy}")));
    }
    if manifest.merged.is_some() {
        return Err(unfit(path, "already merged; give the original runs instead"));
    }
    if let Some(record) = manifest.record.as_ref().filter(|r| !r.is_whole()) {
        let what = record.phrases().join("; ");
        return Err(unfit(path, &format!("the record is partial: {what}; merging needs all rows")));
    }
    let summary = dir.summary()?;
    let tables = Tables::of(&dir, summary.protocol.clone());
    let nodes = tables.nodes()?;
    let [node] = &nodes[..] else {
        let wrong =
            format!("a run of {} nodes does not need merging; give runs of single nodes", nodes.len());
        return Err(unfit(path, &wrong));
    };
    let identities = rows(room, |take| tables.identities(take))?;
    let hops = join(rows(room, |take| tables.packets(take))?, &identities);
    let end_ns = (summary.simulated_s.max(0.0) * 1e9) as u64;
    Ok(NodeRun {
        path: path.to_owned(),
        node: node.clone(),
        number: 0,
        manifest,
        end_ns: hops.last().map_or(0, |(h, _)| h.time.as_nanos()).max(end_ns),
        summary,
        hops,
        notes: rows(room, |take| tables.events(take))?,
        sends: rows(room, |take| tables.sends(take))?,
        connections: rows(room, |take| tables.connections(take))?,
        sizes: rows(room, |take| tables.sizes(take))?,
        gps: rows(room, |take| tables.gps(take))?,
        positions: rows(room, |take| tables.positions(take))?,
        counters: rows(room, |take| tables.counters(take))?,
    })
}

/// The rows of a table, as long as there is room.
fn rows<T>(
    room: &mut usize,
    read: impl FnOnce(&mut dyn FnMut(T) -> Result<(), String>) -> Result<(), wayhop_trace::Error>,
) -> Result<Vec<T>, Error> {
    let mut rows = Vec::new();
    read(&mut |row| {
        *room = room.checked_sub(1).ok_or_else(|| {
            format!("more than {MOST_ROWS} rows in total; merge fewer nodes or shorter runs")
        })?;
        rows.push(row);
        Ok(())
    })?;
    Ok(rows)
}

/// Rows with what their packets are known by. The tables are in the same order, but a full disk may have cut one of them short.
fn join(
    hops: Vec<HopEvent>,
    identities: &[wayhop_trace::IdentityEvent],
) -> Vec<(HopEvent, Option<Identity>)> {
    let mut by_row: FxHashMap<(PacketId, Time, HopKind), Identity> = FxHashMap::default();
    by_row.extend(identities.iter().map(|i| ((i.packet, i.time, i.kind), i.identity)));
    let joined = hops.into_iter().map(|h| (h, by_row.get(&(h.packet, h.time, h.kind)).copied()));
    joined.collect()
}

pub(crate) fn number(runs: &mut [NodeRun]) {
    let mut numbers: BTreeMap<Ipv4Addr, u32> = BTreeMap::new();
    for run in runs {
        let next = numbers.len() as u32;
        run.number = *numbers.entry(run.node.addr).or_insert(next);
    }
}

pub(crate) fn nodes(runs: &[NodeRun]) -> usize {
    runs.iter().map(|r| r.number as usize + 1).max().unwrap_or(0)
}

/// Refuses runs of one node that went on at the same time. `spans` are the begin and the end of each run by one clock.
pub(crate) fn check_restarts(runs: &[NodeRun], spans: &[(i128, i128)]) -> Result<(), Error> {
    let all = || runs.iter().zip(spans);
    for (i, (run, (begin, end))) in all().enumerate() {
        let overlaps = |(other, (b, e)): &(&NodeRun, &(i128, i128))| {
            other.node.addr == run.node.addr && begin.max(b) + OVERLAP_NS < *end.min(e)
        };
        if let Some((other, _)) = all().take(i).find(overlaps) {
            return Err(run.unfit(&format!(
                "this run of node {} overlaps with {}; give the runs of one experiment, each once",
                run.node.addr,
                other.path.display()
            )));
        }
    }
    Ok(())
}

/// The name of each run's node. They differ: of several nodes with the same name the later ones have their address behind it.
pub(crate) fn names(runs: &[NodeRun]) -> Vec<String> {
    let is_taken = |r: &NodeRun| runs.iter().any(|o| o.number < r.number && o.node.name == r.node.name);
    let name = |r: &NodeRun| {
        let name = &r.node.name;
        if is_taken(r) { format!("{name}-{}", r.node.addr) } else { name.clone() }
    };
    runs.iter().map(name).collect()
}
