//! Tracks of nodes as the page has them, and movement of any kind as waypoints.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, Table, Value};
use wayhop_core::{Leg, Position, Time};
use wayhop_scenario::Resolved;
use wayhop_world::Track;

use super::toml_path::{PathSegment, remove, set_value, steps, to_value};

/// One node's way.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeTrack {
    pub(crate) start: Place,
    #[serde(default)]
    pub(crate) pause_s: f64,
    #[serde(default)]
    pub(crate) waypoints: Vec<Waypoint>,
}

/// Metres.
#[derive(Copy, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    pub(crate) x: f64,
    pub(crate) y: f64,
    #[serde(default)]
    pub(crate) z: f64,
}

/// A place to go to.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Waypoint {
    pub(crate) at: Place,
    pub(crate) speed_mps: f64,
    #[serde(default)]
    pub(crate) pause_s: f64,
}

/// The most waypoints that a text gets.
const MAX_WAYPOINTS: usize = 20_000;

/// The tracks of a scenario as the text has them.
pub(crate) fn tracks(resolved: &Resolved) -> Result<Vec<Json>, String> {
    let legs: usize = resolved.tracks.iter().map(|t| t.legs().len()).sum();
    if legs > MAX_WAYPOINTS {
        return Err(format!(
            "movement: {legs} legs are too many to edit (limit {MAX_WAYPOINTS}); use fewer nodes or a shorter run"
        ));
    }
    let one = |(i, track): (usize, &Track)| {
        if let Some(at) = track.jumps().next() {
            let s = at.as_secs_f64();
            return Err(format!("movement: node {i} jumps at {s} s, which waypoints cannot express"));
        }
        Ok(to_json(&of_legs(track.legs(), resolved.duration)))
    };
    resolved.tracks.iter().enumerate().map(one).collect()
}

/// The same motion until `end`.
fn of_legs(legs: &[Leg], end: Time) -> NodeTrack {
    let place = |p: Position| Place { x: p.x, y: p.y, z: p.z };
    let mut track = NodeTrack { start: place(legs[0].start), pause_s: 0.0, waypoints: Vec::new() };
    for (i, leg) in legs.iter().enumerate().take_while(|(_, l)| l.from < end) {
        let seconds = leg.until.since(leg.from).as_secs_f64();
        if !leg.is_rest() {
            // Where the next leg begins is exact; the last one of a pattern has no next.
            let to = legs.get(i + 1).map_or_else(|| leg.position(end), |next| next.start);
            track.waypoints.push(Waypoint { at: place(to), speed_mps: leg.speed(), pause_s: 0.0 });
        } else if i + 1 < legs.len() {
            match track.waypoints.last_mut() {
                Some(last) => last.pause_s += seconds,
                None => track.pause_s += seconds,
            }
        }
    }
    track
}

/// A whole number without a point.
pub(crate) fn number(v: f64) -> Json {
    if v.fract() == 0.0 && v.abs() < 1e15 { json!(v as i64) } else { json!(v) }
}

pub(crate) fn place(p: Place) -> Json {
    let z = (p.z != 0.0).then(|| number(p.z));
    json!({"x": number(p.x), "y": number(p.y), "z": z})
}

pub(crate) fn waypoint(w: &Waypoint) -> Json {
    let pause = (w.pause_s != 0.0).then(|| number(w.pause_s));
    json!({"at": place(w.at), "speed_mps": number(w.speed_mps), "pause_s": pause})
}

pub(crate) fn to_json(track: &NodeTrack) -> Json {
    let pause = (track.pause_s != 0.0).then(|| number(track.pause_s));
    let waypoints: Vec<Json> = track.waypoints.iter().map(waypoint).collect();
    let waypoints = (!waypoints.is_empty()).then_some(waypoints);
    json!({"start": place(track.start), "pause_s": pause, "waypoints": waypoints})
}

/// Replaces the movement in the text by these tracks. The nodes' own settings stay, except for positions.
pub(crate) fn to_waypoints(doc: &mut DocumentMut, tree: &Json, tracks: &[Json]) -> Result<(), String> {
    let entries = tree.pointer("/nodes/node").and_then(Json::as_array).map_or(0, Vec::len);
    for k in 0..entries {
        if !tree["nodes"]["node"][k]["position"].is_null() {
            remove(doc, &steps!["nodes", "node", k, "position"])?;
        }
    }
    if tree.pointer("/nodes/count").is_some() {
        remove(doc, &steps!["nodes", "count"])?;
    }
    let mut comments = comments(doc);
    let mut list = ArrayOfTables::new();
    for (node, track) in tracks.iter().enumerate() {
        let mut table = Table::new();
        if let Some(of_node) = comments.get_mut(node).filter(|c| !c.is_empty()) {
            table.decor_mut().set_prefix(format!("\n{}\n", of_node.join("\n")));
        }
        for key in ["start", "pause_s"].into_iter().filter(|k| !track[*k].is_null()) {
            table.insert(key, Item::Value(to_value(&track[key], &steps!["movement", key])?));
        }
        if let Some(waypoints) = track["waypoints"].as_array() {
            table.insert("waypoints", Item::Value(Value::Array(lines(waypoints)?)));
        }
        list.push(table);
    }
    let mut movement = Table::new();
    // The comment above the section, and its place in the file.
    if let Some(old) = doc.get("movement").and_then(Item::as_table) {
        *movement.decor_mut() = old.decor().clone();
        movement.set_position(old.position());
    }
    movement.insert("kind", Item::Value("waypoints".into()));
    movement.insert("tracks", Item::ArrayOfTables(list));
    // A table behind the root's own keys: a value there would be followed by other keys.
    doc.remove("movement");
    doc.insert("movement", Item::Table(movement));
    Ok(())
}

/// The comments of the places of nodes in `movement.positions`, by node: those in the lines above a place, and behind it.
fn comments(doc: &DocumentMut) -> Vec<Vec<String>> {
    let positions = doc.get("movement").and_then(|m| m.get("positions")).and_then(Item::as_array);
    let Some(positions) = positions.filter(|p| !p.is_empty()) else { return Vec::new() };
    let mut of_nodes = vec![Vec::new(); positions.len()];
    // What stands before an element: first the rest of the line of the one before it.
    let mut note = |before: usize, text: &str| {
        for (line, comment) in text.lines().map(str::trim).enumerate().filter(|(_, c)| c.starts_with('#')) {
            let node = if line == 0 { before.saturating_sub(1) } else { before.min(positions.len() - 1) };
            of_nodes[node].push(comment.to_owned());
        }
    };
    for (i, place) in positions.iter().enumerate() {
        let of = |text: Option<&toml_edit::RawString>| {
            text.and_then(|t| t.as_str()).unwrap_or_default().to_owned()
        };
        note(i, &of(place.decor().prefix()));
        note(i + 1, &of(place.decor().suffix()));
    }
    note(positions.len(), positions.trailing().as_str().unwrap_or_default());
    of_nodes
}

/// Sets a list with a line for each element.
pub(crate) fn set_lines(doc: &mut DocumentMut, at: &[PathSegment], elements: &[Json]) -> Result<(), String> {
    set_value(doc, at, Value::Array(lines(elements)?))
}

fn lines(elements: &[Json]) -> Result<Array, String> {
    let mut array = Array::new();
    for element in elements {
        let mut value = to_value(element, &steps!["movement", "tracks"])?;
        value.decor_mut().set_prefix("\n    ");
        array.push_formatted(value);
    }
    array.set_trailing("\n");
    array.set_trailing_comma(true);
    Ok(array)
}
