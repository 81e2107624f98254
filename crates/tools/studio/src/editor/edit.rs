//! The changes that the page can request in a scenario's text.

use std::collections::BTreeSet;
use std::path::Path;
use std::str::FromStr as _;

use serde::Deserialize;
use serde_json::{Value as Json, json};
use toml_edit::DocumentMut;
use wayhop_scenario::Scenario;

use super::convert;
use super::convert::{NodeTrack, Place};
use super::references::{forget, rename};
use super::toml_path::{PathSegment, length, push, remove, set, steps};

/// The longest text that is edited, octets.
pub(crate) const MAX_TEXT: usize = 4 << 20;
/// The most nodes that are drawn by hand.
const MAX_NODES: usize = 10_000;

/// One change.
#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "op", rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) enum Operation {
    Set {
        path: Vec<PathSegment>,
        value: Json,
    },
    /// Takes out a key, or an element of a list.
    Remove {
        path: Vec<PathSegment>,
    },
    /// Adds an element at the end of a list.
    Push {
        path: Vec<PathSegment>,
        value: Json,
    },
    /// Gives a node a new track.
    Track {
        node: usize,
        track: NodeTrack,
    },
    Add {
        tracks: Vec<NodeTrack>,
    },
    /// Takes out nodes, with their flows; the others are renumbered.
    Delete {
        nodes: BTreeSet<usize>,
    },
    /// Names a node, or takes its name away.
    Name {
        node: usize,
        name: Option<String>,
    },
    /// Writes down the movement, whatever it is, as waypoints.
    Convert,
}

/// The text after operations that stand in a request, in JSON.
///
/// # Errors
/// What the operations or the text have wrong, for the user.
pub fn edit_text(file: &Path, text: &str, operations: &[u8]) -> Result<String, String> {
    let operations: Vec<Operation> = serde_json::from_slice(operations).map_err(|e| e.to_string())?;
    edit(file, text, &operations)
}

/// The text after the changes. `file` is where it stands.
pub(crate) fn edit(file: &Path, text: &str, operations: &[Operation]) -> Result<String, String> {
    if text.len() > MAX_TEXT {
        return Err(format!("{}: larger than {MAX_TEXT} bytes; use a text editor", file.display()));
    }
    let mut text = text.to_owned();
    // Also if there is nothing to change: what is given back is TOML.
    let mut doc = parse(file, &text)?;
    for operation in operations {
        apply(file, &mut doc, &text, operation).map_err(|e| format!("{}: {e}", file.display()))?;
        text = doc.to_string();
        // TOML forbids what an edit can make of tables that are spread over the file.
        doc = parse(file, &text).map_err(|_| {
            format!(
                "{}: the way this part is written does not allow this change; edit the text",
                file.display()
            )
        })?;
    }
    Ok(text)
}

fn parse(file: &Path, text: &str) -> Result<DocumentMut, String> {
    DocumentMut::from_str(text).map_err(|e| {
        let before = e.span().map_or(0, |s| s.start.min(text.len()));
        let line = text.as_bytes()[..before].split(|b| *b == b'\n').count();
        format!("{}:{line}: {}; correct the line", file.display(), e.message().trim())
    })
}

fn tree(text: &str) -> Result<Json, String> {
    toml::from_str(text).map_err(|e| e.message().to_owned())
}

fn apply(file: &Path, doc: &mut DocumentMut, text: &str, operation: &Operation) -> Result<(), String> {
    match operation {
        Operation::Set { path, value } => set(doc, path, value),
        Operation::Remove { path } => remove(doc, path),
        Operation::Push { path, value } => push(doc, path, value),
        Operation::Track { node, track } => set_track(doc, &tree(text)?, *node, track),
        Operation::Add { tracks } => add(doc, &tree(text)?, tracks),
        Operation::Delete { nodes } => delete(doc, &tree(text)?, nodes),
        Operation::Name { node, name } => set_name(doc, &tree(text)?, *node, name.as_deref()),
        Operation::Convert => {
            let scenario = Scenario::of_file(file, text.to_owned(), &[]).and_then(|s| s.resolve());
            convert::to_waypoints(doc, &tree(text)?, &convert::tracks(&scenario.map_err(|e| e.to_string())?)?)
        }
    }
}

/// Where the text lists nodes one by one, and how.
enum Listing {
    Positions,
    Tracks,
}

fn listing(tree: &Json) -> Result<Listing, String> {
    match tree.pointer("/movement/kind").and_then(Json::as_str) {
        Some("static") => Ok(Listing::Positions),
        Some("waypoints") => Ok(Listing::Tracks),
        Some(kind) => Err(format!(
            "movement.kind: nodes cannot be placed by hand with {kind:?}; convert the movement to waypoints first"
        )),
        None => Err("movement.kind: missing; add kind = \"waypoints\" below [movement]".to_owned()),
    }
}

/// Whether no node of the list moves.
fn stands(track: &NodeTrack) -> bool {
    track.waypoints.is_empty()
}

fn set_track(doc: &mut DocumentMut, tree: &Json, node: usize, track: &NodeTrack) -> Result<(), String> {
    let own = own_entry(tree, node);
    if let Some(k) = own.filter(|&k| !tree["nodes"]["node"][k]["position"].is_null()) {
        remove(doc, &steps!["nodes", "node", k, "position"])?;
    }
    match listing(tree)? {
        Listing::Positions if stands(track) => set_place(
            doc,
            &steps!["movement", "positions", node],
            &tree["movement"]["positions"][node],
            track.start,
        ),
        Listing::Positions => {
            let positions =
                tree["movement"]["positions"].as_array().ok_or("movement.positions: not a list")?;
            let mut tracks: Vec<Json> = positions.iter().map(|p| json!({"start": p})).collect();
            *tracks.get_mut(node).ok_or_else(|| format!("there is no node {node}"))? =
                convert::to_json(track);
            convert::to_waypoints(doc, tree, &tracks)
        }
        Listing::Tracks => update_track(doc, tree, node, track),
    }
}

/// Writes only what differs: the rest may have comments.
fn update_track(doc: &mut DocumentMut, tree: &Json, node: usize, track: &NodeTrack) -> Result<(), String> {
    let old = tree["movement"]["tracks"].get(node).ok_or_else(|| format!("there is no node {node}"))?;
    let here = steps!["movement", "tracks", node].to_vec();
    let at = |steps: &[PathSegment]| [&here[..], steps].concat();
    set_place(doc, &at(&steps!["start"]), &old["start"], track.start)?;
    set_seconds(doc, &at(&steps!["pause_s"]), &old["pause_s"], track.pause_s)?;
    let list = at(&steps!["waypoints"]);
    for (k, w) in track.waypoints.iter().enumerate() {
        let of = |steps: &[PathSegment]| [&list[..], &steps![k], steps].concat();
        match old["waypoints"].get(k) {
            Some(was) => {
                set_place(doc, &of(&steps!["at"]), &was["at"], w.at)?;
                if was["speed_mps"].as_f64() != Some(w.speed_mps) {
                    set(doc, &of(&steps!["speed_mps"]), &convert::number(w.speed_mps))?;
                }
                set_seconds(doc, &of(&steps!["pause_s"]), &was["pause_s"], w.pause_s)?;
            }
            None if k == 0 && length(doc, &list) == 0 => {
                let all: Vec<Json> = track.waypoints.iter().map(convert::waypoint).collect();
                return convert::set_lines(doc, &list, &all);
            }
            None => push(doc, &list, &convert::waypoint(w))?,
        }
    }
    for k in (track.waypoints.len()..length(doc, &list)).rev() {
        remove(doc, &[&list[..], &steps![k]].concat())?;
    }
    if track.waypoints.is_empty() { remove(doc, &list) } else { Ok(()) }
}

fn set_seconds(doc: &mut DocumentMut, at: &[PathSegment], was: &Json, value: f64) -> Result<(), String> {
    match was.as_f64() {
        Some(old) if old == value => Ok(()),
        None if value == 0.0 => Ok(()),
        _ => set(doc, at, &convert::number(value)),
    }
}

/// Metres take the place of degrees.
fn set_place(doc: &mut DocumentMut, at: &[PathSegment], was: &Json, place: Place) -> Result<(), String> {
    if !was["lat"].is_null() {
        return set(doc, at, &convert::place(place));
    }
    for (key, value) in [("x", place.x), ("y", place.y), ("z", place.z)] {
        let at = [at, &steps![key]].concat();
        match was[key].as_f64() {
            Some(old) if old == value => {}
            None if value == 0.0 && key == "z" => {}
            _ => set(doc, &at, &convert::number(value))?,
        }
    }
    Ok(())
}

fn add(doc: &mut DocumentMut, tree: &Json, tracks: &[NodeTrack]) -> Result<(), String> {
    if tree["movement"].is_null() {
        set(doc, &steps!["movement", "kind"], &json!("waypoints"))?;
        return tracks
            .iter()
            .try_for_each(|t| push(doc, &steps!["movement", "tracks"], &convert::to_json(t)));
    }
    let is_static = matches!(listing(tree)?, Listing::Positions);
    let list = if is_static { steps!["movement", "positions"] } else { steps!["movement", "tracks"] };
    let before = length(doc, &list);
    if before + tracks.len() > MAX_NODES {
        return Err(format!(
            "more than {MAX_NODES} nodes; generate them in the scenario file, for example with movement.kind = \"uniform\""
        ));
    }
    if is_static && !tracks.iter().all(stands) {
        let positions = tree["movement"]["positions"].as_array().into_iter().flatten();
        let mut all: Vec<Json> = positions.map(|p| json!({"start": p})).collect();
        all.extend(tracks.iter().map(convert::to_json));
        return convert::to_waypoints(doc, tree, &all);
    }
    for track in tracks {
        let value = if is_static { convert::place(track.start) } else { convert::to_json(track) };
        push(doc, &list, &value)?;
    }
    set_count(doc, tree, before + tracks.len())
}

/// Where the text says how many nodes there are, it goes on saying it.
fn set_count(doc: &mut DocumentMut, tree: &Json, count: usize) -> Result<(), String> {
    if tree.pointer("/nodes/count").is_none() {
        return Ok(());
    }
    set(doc, &steps!["nodes", "count"], &json!(count))
}

fn delete(doc: &mut DocumentMut, tree: &Json, nodes: &BTreeSet<usize>) -> Result<(), String> {
    let list = match listing(tree)? {
        Listing::Positions => steps!["movement", "positions"],
        Listing::Tracks => steps!["movement", "tracks"],
    };
    let before = length(doc, &list);
    if let Some(node) = nodes.iter().find(|&&n| n >= before) {
        return Err(format!("there is no node {node}"));
    }
    forget(doc, tree, &wayhop_scenario::scenario_schema(), nodes)?;
    for &node in nodes.iter().rev() {
        remove(doc, &[&list[..], &steps![node]].concat())?;
    }
    // An array of tables without any would vanish, and the scenario's message with it.
    if before == nodes.len() && length(doc, &list) == 0 {
        set(doc, &list, &json!([]))?;
    }
    set_count(doc, tree, before - nodes.len())
}

fn own_entry(tree: &Json, node: usize) -> Option<usize> {
    tree.pointer("/nodes/node")?.as_array()?.iter().position(|n| n["id"].as_u64() == Some(node as u64))
}

fn set_name(doc: &mut DocumentMut, tree: &Json, node: usize, name: Option<&str>) -> Result<(), String> {
    rename(doc, tree, &wayhop_scenario::scenario_schema(), node, name)?;
    match (own_entry(tree, node), name) {
        (Some(k), Some(name)) => set(doc, &steps!["nodes", "node", k, "name"], &json!(name)),
        (Some(k), None) => remove(doc, &steps!["nodes", "node", k, "name"]),
        (None, Some(name)) => push(doc, &steps!["nodes", "node"], &json!({"id": node, "name": name})),
        (None, None) => Ok(()),
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
