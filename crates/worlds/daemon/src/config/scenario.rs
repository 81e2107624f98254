//! A scenario instead of a configuration: its settings for one node, which is this host.

use std::path::Path;

use toml::Table;
use wayhop_core::{nearest, node_named};
use wayhop_document::Document;
use wayhop_linux::Error;
use wayhop_scenario::{Attachment, Outage, Radio, Resolved, Scenario, daemon_settings};

/// Keys that only a scenario has, and keys that only a node's configuration has.
const SCENARIO_KEYS: [&str; 13] = [
    "movement",
    "nodes",
    "traffic",
    "radio",
    "radios",
    "wires",
    "duration_s",
    "programs",
    "captures",
    "commands",
    "stalls",
    "outages",
    "area",
];
const CONFIG_KEYS: [&str; 2] = ["interface", "address"];

/// What a file is, by its keys.
enum FileKind {
    Scenario(&'static str),
    Config(&'static str),
    Unknown,
}

fn kind(path: &Path) -> Result<FileKind, Error> {
    let document = Document::load(path).map_err(|e| Error::Config(e.to_string()))?;
    // What is no TOML has its own message, with the line.
    let Ok(table) = document.deserialize::<Table>() else { return Ok(FileKind::Unknown) };
    let has = |keys: &[&'static str]| keys.iter().copied().find(|k| table.contains_key(*k));
    Ok(match (has(&CONFIG_KEYS), has(&SCENARIO_KEYS)) {
        (Some(key), _) => FileKind::Config(key),
        (None, Some(key)) => FileKind::Scenario(key),
        (None, None) => FileKind::Unknown,
    })
}

/// Refuses a scenario where a configuration is expected.
pub(crate) fn expect_config(path: &Path) -> Result<(), Error> {
    // Of a file that cannot be read the configuration's own message tells.
    let Ok(FileKind::Scenario(key)) = kind(path) else { return Ok(()) };
    let file = path.display();
    let names = match Scenario::load(path, &[]).and_then(|s| s.resolve_hosts()) {
        Ok(resolved) => format!("; its nodes are {}", listed(&resolved)),
        Err(_) => String::new(),
    };
    Err(Error::Config(format!(
        "{file}: this is a scenario (it has `{key}`), not a node's configuration; select this host's node, \
         for example --as mesh-0 --interface wlan0{names}"
    )))
}

pub(crate) struct ScenarioNode {
    /// Its number.
    pub(crate) index: u32,
    pub(crate) name: String,
    /// Its configuration, as `path.key=value` settings.
    pub(crate) sets: Vec<String>,
    /// When it is down.
    pub(crate) outages: Vec<Outage>,
    /// The radio of the scenario.
    pub(crate) radio: Radio,
    /// What the user should know.
    pub(crate) remarks: Vec<String>,
}

/// What a scenario says of the node with this name. The command line names `interfaces`, says `changes` of the
/// scenario, and perhaps wants a run directory.
pub(crate) fn choose(
    path: &Path,
    node: &str,
    interfaces: &[String],
    changes: &[String],
    has_run: bool,
) -> Result<ScenarioNode, Error> {
    let file = path.display();
    if let FileKind::Config(key) = kind(path)? {
        return Err(Error::Config(format!(
            "{file}: this is a node's configuration (it has `{key}`), not a scenario; remove --as {node}"
        )));
    }
    let wrong = |e: wayhop_document::Error| Error::Config(e.to_string());
    let scenario = Scenario::load(path, changes).map_err(wrong)?;
    let resolved = scenario.resolve_hosts().map_err(wrong)?;
    if resolved.edge.is_some() {
        return Err(Error::Config(format!(
            "{file}: gateways: only simulated and emulated; for this host, write a configuration with \
             [gateway] or `outside` (docs/concepts/gateway.md)"
        )));
    }
    let index = node_named(&resolved.names, node).ok_or_else(|| no_such_node(path, node, &resolved))?;
    let address = resolved.interface_address(index).ok_or_else(|| {
        Error::Config(format!(
            "{file}: the nodes' addresses do not share a network of /8 or longer; choose closer addresses"
        ))
    })?;
    let mut sets = vec![format!("address={}", toml::Value::from(address))];
    sets.extend(daemon_settings(&scenario));
    sets.extend(scenario.security.keys_text().map(|keys| format!("security.{keys}")));
    let names: Vec<&str> = interfaces.iter().map(String::as_str).collect();
    sets.extend(resolved.network_settings(index, &names));
    let mut remarks = vec![left_out(path, index, &resolved)];
    let own = resolved.interfaces.by_node(resolved.names.len()).swap_remove(index);
    if let several @ 2.. = own.len() {
        let names: Vec<&str> = own.iter().map(|a| resolved.interfaces.name(*a)).collect();
        if !interfaces.is_empty() && interfaces.len() != several {
            return Err(Error::Config(format!(
                "--as {node}: this node has {several} interfaces in {file}, {}; give --interface once for \
                 each, in this order",
                names.join(", ")
            )));
        }
        let metric = |a: &Attachment| if matches!(a, Attachment::Wire(_)) { "0" } else { "1" };
        let metrics: Vec<&str> = own.iter().map(metric).collect();
        sets.push(format!("interface_metrics=[{}]", metrics.join(", ")));
    }
    if resolved.captures.nodes.iter().any(|n| n.index() == index) {
        if has_run {
            sets.push(format!("capture.snap_length_bytes={}", resolved.captures.snap_length));
        } else {
            remarks.push(
                "the scenario requests a capture of this node, which needs a run directory: --out DIR".into(),
            );
        }
    }
    let outages = resolved.outages.iter().filter(|o| o.node.index() == index).copied().collect();
    let (name, radio) = (resolved.names[index].clone(), scenario.radio.clone());
    Ok(ScenarioNode { index: index as u32, name, sets, outages, radio, remarks })
}

fn no_such_node(path: &Path, node: &str, resolved: &Resolved) -> Error {
    let (file, all) = (path.display(), listed(resolved));
    let remedy = match nearest(node, resolved.names.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean {meant}? The nodes are {all}"),
        None => format!("the nodes are {all}"),
    };
    Error::Config(format!("--as {node}: no such node in {file}; {remedy}"))
}

/// The nodes: numbers, and the names of those that have one.
fn listed(resolved: &Resolved) -> String {
    const MOST: usize = 12;
    let names = &resolved.names;
    let own: Vec<&str> = names
        .iter()
        .enumerate()
        .filter(|(i, n)| **n != i.to_string())
        .map(|(_, n)| n.as_str())
        .take(MOST)
        .collect();
    let all = format!("mesh-0 to mesh-{}", names.len().saturating_sub(1));
    if own.is_empty() { all } else { format!("{all} (with names: {})", own.join(", ")) }
}

/// The parts of a scenario that mean nothing on a real host.
fn left_out(path: &Path, index: usize, r: &Resolved) -> String {
    let mut ignored = vec!["movement", "radio model", "duration"];
    if !r.stalls.is_empty() {
        ignored.push("stalls");
    }
    if !r.orders.is_empty() {
        ignored.push("commands");
    }
    let flows = r.flows.iter().filter(|f| f.src.index() == index).count();
    let programs = r.programs.iter().filter(|p| p.node.index() == index).count();
    format!(
        "this host is node {} of {}, with its address, protocol and captures. On a real host, {} are \
         ignored, and {flows} flows and {programs} programs of the scenario are not started: start your \
         own programs",
        r.names[index],
        path.display(),
        ignored.join(", "),
    )
}
