//! Where a run is recorded.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use wayhop_scenario::{Attachment, Movement, Resolved, Scenario, Traffic};
use wayhop_trace::{InputFile, InterfaceInfo, LinkKind, Manifest, NodeInfo, Outputs, Recorder, RunDir};

use crate::error::Error;

/// A name as a file may have it.
pub fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}

/// Makes a run directory: at `out`, or where runs of this scenario belong. `file` is the scenario's, if it is one. An older
/// run in it gives way.
pub fn create(
    out: Option<&Path>,
    file: Option<&Path>,
    scenario: &Scenario,
    resolved: &Resolved,
) -> Result<RunDir, Error> {
    let default = || {
        let (name, protocol, seed) = (file_name(&resolved.name), resolved.protocol.name(), resolved.seed);
        PathBuf::from("runs").join(format!("{name}-{protocol}-{seed}"))
    };
    let path = out.map_or_else(default, Path::to_path_buf);
    let text = toml::to_string(scenario).map_err(Error::run)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let command = std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect();
    let mut manifest = Manifest::new(text, resolved.seed, command, now);
    let read = |path: PathBuf| {
        let bytes =
            fs::read(&path).map_err(|e| Error::Usage(format!("cannot read {}: {e}", path.display())))?;
        Ok(InputFile::new(path.to_string_lossy(), &bytes))
    };
    let named = named_files(file, scenario);
    let files = file.map(Path::to_path_buf).into_iter().chain(named);
    manifest.inputs = files.map(read).collect::<Result<_, Error>>()?;
    Ok(RunDir::create(path, &manifest)?)
}

/// The files that a scenario names; `file` is the scenario's, from whose folder they count.
pub fn named_files(file: Option<&Path>, scenario: &Scenario) -> Vec<PathBuf> {
    let folder = file.and_then(Path::parent).unwrap_or(Path::new(""));
    let movement = match &scenario.movement {
        Movement::Ns2 { path, .. } => Some(path),
        _ => None,
    };
    let traffic = scenario.traffic.iter().filter_map(|t| match t {
        Traffic::Ns2(f) => Some(&f.path),
        _ => None,
    });
    movement.into_iter().chain(traffic).chain(&scenario.map).map(|p| folder.join(p)).collect()
}

/// What records a run of the simulator's nodes: tables, and the captures and the trace that the scenario asks for.
pub fn recorder(dir: &RunDir, r: &Resolved) -> Result<Recorder, Error> {
    let outputs = Outputs {
        tables: true,
        capture_nodes: Some(r.captures.nodes.clone()),
        captures: (!r.captures.nodes.is_empty()).then_some(r.captures.snap_length),
        ns2_trace: r.ns2_trace.then(|| dir.path().join("trace.tr")),
    };
    Ok(Recorder::start(dir.clone(), &outputs, nodes(r))?)
}

/// What records a run whose frames others capture: tables.
pub fn tables(dir: &RunDir, r: &Resolved) -> Result<Recorder, Error> {
    Ok(Recorder::start(dir.clone(), &Outputs::default(), nodes(r))?)
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
    let node = |((name, &addr), own): ((&String, _), &Vec<Attachment>)| NodeInfo {
        name: name.clone(),
        addr,
        interfaces: own.iter().map(interface).collect(),
    };
    r.names.iter().zip(&r.addresses).zip(&attached).map(node).collect()
}
