//! Importers on files in the style of the tools that write them: what each file says is known without the importer.

mod captures;
mod emulators;
mod encodings;
mod receivers;
mod tracks;
mod vehicles;

use toml::Value;
use wayhop_import::ImportedScenario;

/// What became of a file.
#[derive(Debug, PartialEq)]
struct Outcome {
    /// The nodes' names.
    nodes: String,
    duration_s: f64,
    /// Where the nodes are at the end: x, y, z, whole metres.
    ends: Vec<[i64; 3]>,
    /// What was skipped, of all files.
    skipped: Vec<String>,
}

fn outcome(made: &ImportedScenario) -> Outcome {
    let movement = &made.table["movement"];
    let metres = |place: &Value| {
        ["x", "y", "z"].map(|a| place.get(a).and_then(Value::as_float).unwrap_or(0.0).round() as i64)
    };
    let end = |track: &Value| {
        let last = track.get("waypoints").and_then(Value::as_array).and_then(|w| w.last());
        metres(last.map_or(&track["start"], |w| &w["at"]))
    };
    let ends = match movement.get("tracks").and_then(Value::as_array) {
        Some(tracks) => tracks.iter().map(end).collect(),
        None => movement["positions"].as_array().unwrap().iter().map(metres).collect(),
    };
    let names = made.table["nodes"]["node"].as_array().unwrap().iter();
    let names: Vec<&str> = names.map(|n| n["name"].as_str().unwrap()).collect();
    Outcome {
        nodes: names.join(" "),
        duration_s: made.table.get("duration_s").and_then(Value::as_float).unwrap_or(0.0),
        ends,
        skipped: made.skipped.iter().flat_map(wayhop_document::Omissions::kinds).collect(),
    }
}

/// The outcome that is expected.
fn expected(nodes: &str, duration_s: f64, ends: &[[i64; 3]], skipped: &[&str]) -> Outcome {
    let skipped = skipped.iter().map(ToString::to_string).collect();
    Outcome { nodes: nodes.to_owned(), duration_s, ends: ends.to_vec(), skipped }
}
