//! Where a run is recorded.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use wayhop_core::file_name;
use wayhop_protocols::CLASSIFIER;
use wayhop_scenario::{Attachment, Movement, Resolved, Scenario, TablePlan, Traffic};
use wayhop_trace::{
    InputFile, InterfaceInfo, LibraryRecord, LinkKind, Manifest, NodeInfo, Outputs, Recorder, RunDir,
    RunStatus, Selection, SizeLimit,
};

use crate::error::Error;

/// The name of a world as default run directories have it; simulations have none.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum World {
    /// `wayhop run`.
    Simulation,
    /// `wayhop emulate`.
    Emulation,
    /// `wayhop lab`.
    Lab,
}

/// A run directory that was made, and whether it took the place of an older run.
#[derive(Debug)]
pub struct NewRunDir {
    /// The directory.
    pub dir: RunDir,
    /// When the run that was in it began, if it was another.
    pub replaced: Option<String>,
}

/// No scenario has more runs of the same name.
const MOST_RUNS: usize = 10_000;

/// Makes a run directory. `file` is the scenario's, if it is one.
///
/// At `out`, if that is given: an older run in it is replaced, and the answer says so. Otherwise
/// where runs of this scenario, protocol, seed and world belong. There an older run is replaced
/// only by a simulation that is the same to the last bit; any other gets the next free number.
pub fn create(
    out: Option<&Path>,
    file: Option<&Path>,
    world: World,
    scenario: &Scenario,
    resolved: &Resolved,
) -> Result<NewRunDir, Error> {
    let manifest = manifest(file, scenario, resolved.seed)?;
    let made = |dir: RunDir, replaced| {
        wayhop_protocols::progress::set_run_directory(dir.path());
        NewRunDir { dir, replaced }
    };
    let older = |path: &Path| RunDir::open(path, CLASSIFIER).and_then(|d| d.manifest()).ok();
    if let Some(out) = out {
        let replaced = older(out).filter(|m| !is_same(m, &manifest)).map(|m| m.started);
        return Ok(made(RunDir::create(out, &manifest, CLASSIFIER)?, replaced));
    }
    let (name, protocol, seed) = (file_name(&resolved.name), resolved.protocol.name(), resolved.seed);
    let world_name = match world {
        World::Simulation => "",
        World::Emulation => "-emulation",
        World::Lab => "-lab",
    };
    let numbered = |n: usize| {
        let number = if n > 1 { format!("-{n}") } else { String::new() };
        PathBuf::from("runs").join(format!("{name}-{protocol}-{seed}{world_name}{number}"))
    };
    let is_free = |path: &PathBuf| {
        let same = || older(path).is_some_and(|m| world == World::Simulation && is_same(&m, &manifest));
        !path.exists() || same()
    };
    let path = (1..=MOST_RUNS).map(numbered).find(is_free).ok_or_else(|| {
        let first = numbered(1);
        Error::Usage(format!("{} to -{MOST_RUNS} all exist; choose a directory with --out", first.display()))
    })?;
    Ok(made(RunDir::create(path, &manifest, CLASSIFIER)?, None))
}

/// Whether two simulations do the same and record the same. One that goes on is left alone.
fn is_same(a: &Manifest, b: &Manifest) -> bool {
    let settings = |m: &Manifest| {
        let world = m.command.get(1).cloned();
        let geometry = m.command.iter().any(|a| a.starts_with("--topology") || a.starts_with("--chains"));
        (m.wayhop.clone(), m.scenario.clone(), m.inputs.clone(), m.seed, world, geometry)
    };
    a.status != RunStatus::Running && settings(a) == settings(b)
}

/// Whether a directory holds this run, whole, with all that the scenario has recorded. Folders may have been moved since.
pub fn holds(path: &Path, file: Option<&Path>, scenario: &Scenario) -> bool {
    let Ok(there) = RunDir::open(path, CLASSIFIER).and_then(|d| d.manifest()) else { return false };
    let is_it = |wanted: &Manifest| {
        let hashes = |m: &Manifest| m.inputs.iter().map(|i| i.sha256.clone()).collect::<Vec<_>>();
        let settings = |m: &Manifest| (m.wayhop.clone(), m.scenario.clone(), m.seed, hashes(m));
        settings(wanted) == settings(&there)
    };
    there.status == RunStatus::Complete && manifest(file, scenario, scenario.seed).is_ok_and(|m| is_it(&m))
}

fn manifest(file: Option<&Path>, scenario: &Scenario, seed: u64) -> Result<Manifest, Error> {
    let text = toml::to_string(scenario).map_err(Error::run)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let command = std::env::args_os().map(|a| wayhop_scenario::without_keys(&a.to_string_lossy())).collect();
    let mut manifest = Manifest::new(text, seed, command, now);
    let read = |path: PathBuf| {
        let bytes =
            fs::read(&path).map_err(|e| Error::Usage(format!("cannot read {}: {e}", path.display())))?;
        Ok(InputFile::new(path.to_string_lossy(), &bytes))
    };
    let named = named_files(file, scenario);
    let files = file.map(Path::to_path_buf).into_iter().chain(named);
    manifest.inputs = files.map(read).collect::<Result<_, Error>>()?;
    manifest.library = wayhop_protocols::find(&scenario.protocol.name)
        .and_then(|protocol| Some(LibraryRecord::new(protocol, wayhop_protocols::library(protocol)?)));
    Ok(manifest)
}

/// The files that a scenario names; `file` is the scenario's, from whose folder they count.
pub fn named_files(file: Option<&Path>, scenario: &Scenario) -> Vec<PathBuf> {
    let folder = file.and_then(Path::parent).unwrap_or(Path::new(""));
    let movement = match &scenario.movement {
        Some(Movement::Ns2 { path, .. } | Movement::Bonnmotion { path, .. }) => Some(path.as_path()),
        _ => None,
    };
    let traffic = scenario.traffic.iter().filter_map(Traffic::file);
    let applications = scenario.applications.iter().filter_map(|a| a.library.as_deref());
    let libraries = scenario.protocol.library.as_deref().into_iter().chain(applications).map(Path::new);
    let all = movement.into_iter().chain(traffic).chain(scenario.map.as_deref()).chain(libraries);
    all.map(|p| folder.join(p)).collect()
}

/// What records a run of the simulator's nodes: tables, and the captures and the trace that the scenario asks for. Programs have connections on the real clock only.
pub fn recorder(dir: &RunDir, world: World, r: &Resolved) -> Result<Recorder, Error> {
    let outputs = Outputs {
        tables: writes_tables(r),
        selection: selection(r),
        receptions: r.receptions.is_wanted(),
        bundles: r.dtn.is_some(),
        connections: world != World::Simulation,
        gps: false,
        sizes: true,
        identities: r.identities,
        capture_nodes: Some(r.captures.nodes.clone()),
        captures: (!r.captures.nodes.is_empty()).then_some(r.captures.snap_length),
        ns2_trace: r.ns2_trace.then(|| dir.path().join("trace.tr")),
        durable: false,
    };
    Ok(Recorder::start(dir.clone(), &outputs, nodes(r))?)
}

/// What records a run whose frames others capture: tables.
pub fn tables(dir: &RunDir, r: &Resolved) -> Result<Recorder, Error> {
    let outputs = Outputs {
        tables: writes_tables(r),
        selection: selection(r),
        bundles: r.dtn.is_some(),
        connections: true,
        sizes: true,
        ..Outputs::default()
    };
    Ok(Recorder::start(dir.clone(), &outputs, nodes(r))?)
}

fn writes_tables(r: &Resolved) -> bool {
    r.tables.tables.as_ref().is_none_or(|tables| !tables.is_empty())
}

fn selection(r: &Resolved) -> Selection {
    let TablePlan { tables, nodes, flows, limit_bytes } = r.tables.clone();
    let limit = limit_bytes.map(|bytes| SizeLimit { bytes, end: r.duration });
    Selection { tables, nodes, flows, limit }
}

fn nodes(r: &Resolved) -> Vec<NodeInfo> {
    let interface = |&at: &Attachment| InterfaceInfo {
        name: r.interfaces.name(at).to_owned(),
        kind: match at {
            Attachment::Radio(_) => LinkKind::Ieee80211,
            Attachment::Wire(_) => LinkKind::Ethernet,
        },
    };
    let attached = r.interfaces.by_node(r.names.len());
    let node = |(i, own): (usize, &Vec<Attachment>)| NodeInfo {
        name: r.names[i].clone(),
        addr: r.addresses[i],
        addr6: r.ipv6.as_ref().map(|plan| plan.addresses[i]),
        interfaces: own.iter().map(interface).collect(),
    };
    attached.iter().enumerate().map(node).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn scenarios_know_the_tables_of_run_directories() {
        assert_eq!(wayhop_scenario::TABLES, wayhop_trace::TABLES);
    }
}
