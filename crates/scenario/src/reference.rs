//! The reference page of the scenario file, from the types that read it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use schemars::{JsonSchema, schema_for};
use serde::Serialize;
use serde_json::{Map, Value};
use wayhop_radio::{PRESETS, RadioConfig};

use crate::schema::Scenario;

const HEAD: &str = include_str!("reference_head.md");
const NS2: &str = include_str!("reference_ns2.md");

/// `docs/reference/scenario.md`.
pub fn reference_markdown() -> String {
    let schema = schema_for!(Scenario).to_value();
    let mut out = HEAD.to_owned();
    let defs = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    out.push_str("\n## Top level\n\n");
    table(&mut out, &schema, &defs);
    for (key, def) in [
        ("nodes", "Nodes"),
        ("nodes.node", "Node"),
        ("area", "Area"),
        ("origin", "Geodetic"),
        ("background", "Background"),
        ("background.points", "ControlPoint"),
        ("a place", "Place"),
    ] {
        section(&mut out, &format!("`{key}`"), &defs, def);
    }
    kinds(&mut out, "movement", "Movement", &defs);
    section(&mut out, "`movement.tracks`", &defs, "NodeTrack");
    section(&mut out, "`movement.tracks.waypoints`", &defs, "Waypoint");
    kinds(&mut out, "traffic", "Traffic", &defs);
    section(&mut out, "`stalls`", &defs, "Stall");
    section(&mut out, "`outages`", &defs, "Outages");
    section(&mut out, "`attacks`", &defs, "Attacks");
    section(&mut out, "`energy`", &defs, "Energy");
    for (key, def) in [("dtn", "Dtn"), ("dtn.routes", "DtnRoute"), ("dtn.flows", "BundleFlow")] {
        section(&mut out, &format!("`{key}`"), &defs, def);
    }
    applications(&mut out, &defs);
    kinds(&mut out, "commands", "Command", &defs);
    section(&mut out, "`programs`", &defs, "Program");
    section(&mut out, "`captures`", &defs, "Captures");
    section(&mut out, "`receptions`", &defs, "Receptions");
    section(&mut out, "`output`", &defs, "Output");
    radio(&mut out, &defs);
    section(&mut out, "`wires`", &defs, "Wire");
    section(&mut out, "`wires.cuts`", &defs, "Cut");
    section(&mut out, "`gateways`", &defs, "Gateway");
    for (key, def) in [
        ("radio.site", "Site"),
        ("radio.site.zone", "Zone"),
        ("radio.site.antenna", "Antenna"),
        ("radio.site.pair", "Pair"),
    ] {
        section(&mut out, &format!("`{key}`"), &defs, def);
    }
    protocols(&mut out);
    out.push_str(NS2);
    out
}

/// The keys of another file's type, as tables: its own, and those of each section named, by key and type.
pub fn reference_tables<T: JsonSchema>(sections: &[(&str, &str)]) -> String {
    let schema = schema_for!(T).to_value();
    let defs = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let mut out = String::new();
    table(&mut out, &schema, &defs);
    for (key, def) in sections {
        section(&mut out, &format!("`{key}`"), &defs, def);
    }
    out
}

fn section(out: &mut String, title: &str, defs: &Map<String, Value>, def: &str) {
    if let Some(schema) = defs.get(def) {
        _ = writeln!(out, "\n## {title}\n\n{}\n", description(schema));
        table(out, schema, defs);
    }
}

/// The variants of a tagged enum.
fn kinds(out: &mut String, key: &str, def: &str, defs: &Map<String, Value>) {
    let Some(schema) = defs.get(def) else { return };
    _ = writeln!(out, "\n## `{key}`\n\n{} Its `kind` says which.", description(schema));
    for variant in schema.get("oneOf").and_then(Value::as_array).into_iter().flatten() {
        let name = variant.pointer("/properties/kind/const").and_then(Value::as_str).unwrap_or_default();
        // A variant that is a struct of its own stands behind a reference.
        let body = variant.get("$ref").and_then(|r| follow(r, defs)).unwrap_or(variant);
        let mut body = body.clone();
        if let Some(p) = body.get_mut("properties").and_then(Value::as_object_mut) {
            p.remove("kind");
        }
        let about = [variant, &body].into_iter().map(description).find(|d| !d.is_empty()).unwrap_or_default();
        _ = writeln!(out, "\n### `{key}` of kind `{name}`\n\n{about}\n");
        table(out, &body, defs);
    }
}

fn table(out: &mut String, schema: &Value, defs: &Map<String, Value>) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object).filter(|p| !p.is_empty())
    else {
        out.push_str("No keys.\n");
        return;
    };
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    out.push_str("| key | type | default | meaning |\n|---|---|---|---|\n");
    for (key, property) in sorted(properties) {
        let default = match property.get("default") {
            _ if required.contains(&key.as_str()) => "required".to_owned(),
            Some(Value::Object(_) | Value::Null) | None => "-".to_owned(),
            Some(Value::Array(a)) if a.is_empty() => "none".to_owned(),
            Some(v) => format!("`{v}`"),
        };
        _ = writeln!(out, "| `{key}` | {} | {default} | {} |", kind(property, defs), description(property));
    }
}

fn radio(out: &mut String, defs: &Map<String, Value>) {
    out.push_str("\n## `radio` and `radios`\n\nThese keys say which radio it is and who has it:\n\n");
    if let Some(schema) = defs.get("Radio") {
        table(out, schema, defs);
    }
    out.push_str("\n`preset` names a set of values; each of these keys replaces one of them:\n\n");
    out.push_str("| preset | what it is |\n|---|---|\n");
    for (name, what) in PRESETS {
        _ = writeln!(out, "| `{name}` | {what} |");
    }
    let sets = PRESETS
        .iter()
        .filter_map(|(name, _)| Some((*name, values(&RadioConfig::preset(name)?))))
        .collect::<Vec<_>>();
    with_sets(out, &schema_for!(RadioConfig).to_value(), &sets);
}

/// Every application of the registry with its parameters.
fn applications(out: &mut String, defs: &Map<String, Value>) {
    section(out, "`applications`", defs, "ApplicationSection");
    for d in wayhop_applications::ALL {
        _ = writeln!(out, "\n### The application `{}`\n\n{}: {}.\n", d.name, d.name, d.about);
        let schema = (d.schema)();
        table(out, &schema, &Map::new());
    }
}

/// Every protocol of the registry with its parameters.
fn protocols(out: &mut String) {
    out.push_str("\n## `protocol`\n\n| `name` | what it is | `profile` |\n|---|---|---|\n");
    for d in wayhop_protocols::ALL {
        let profiles: Vec<_> = d.profiles.iter().map(|p| format!("`{}`: {}", p.name, p.about)).collect();
        _ = writeln!(
            out,
            "| `{}` | {}, {} | {} |",
            d.name,
            d.full_name,
            d.specification,
            profiles.join("; ")
        );
    }
    _ = writeln!(
        out,
        "\nWithout a name it is `{}`, without a profile the protocol's first.",
        wayhop_protocols::default().name
    );
    for d in wayhop_protocols::ALL {
        _ = writeln!(
            out,
            "\n## `protocol` with `name = \"{}\"`\n\n`profile` names a set of values; every other key replaces one of them.",
            d.name
        );
        let profiles = d.profiles.iter();
        let sets = profiles.filter_map(|p| Some((p.name, Value::Object((d.profile)(p.name)?))));
        with_sets(out, &(d.schema)(), &sets.collect::<Vec<_>>());
    }
}

fn values<T: Serialize>(set: &T) -> Value {
    serde_json::to_value(set).unwrap_or_default()
}

/// The keys of an object's schema with their values in each set.
fn with_sets(out: &mut String, schema: &Value, sets: &[(&str, Value)]) {
    let defs = schema.get("$defs").and_then(Value::as_object).cloned().unwrap_or_default();
    let names: Vec<String> = sets.iter().map(|(n, _)| format!("`{n}`")).collect();
    _ = writeln!(
        out,
        "\n| key | {} | type | meaning |\n|---|{}---|---|",
        names.join(" | "),
        "---|".repeat(sets.len())
    );
    for (key, property) in schema.get("properties").and_then(Value::as_object).map(sorted).unwrap_or_default()
    {
        let row: Vec<String> = sets
            .iter()
            .map(|(_, v)| match v.get(key) {
                None | Some(Value::Null) => "-".to_owned(),
                Some(Value::String(s)) => s.clone(),
                Some(v) => v.to_string(),
            })
            .collect();
        _ = writeln!(
            out,
            "| `{key}` | {} | {} | {} |",
            row.join(" | "),
            kind(property, &defs),
            description(property)
        );
    }
}

/// By name, whatever order the map has: a dependency's features decide that.
fn sorted(properties: &Map<String, Value>) -> BTreeMap<&String, &Value> {
    properties.iter().collect()
}

fn description(schema: &Value) -> String {
    schema
        .get("description")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .replace('\n', " ")
        .replace('|', "\\|")
}

fn follow<'a>(reference: &Value, defs: &'a Map<String, Value>) -> Option<&'a Value> {
    defs.get(reference.as_str()?.rsplit('/').next()?)
}

/// A property's type in a word or two.
fn kind(schema: &Value, defs: &Map<String, Value>) -> String {
    if let Some(target) = schema.get("$ref").and_then(|r| follow(r, defs)) {
        return kind(target, defs);
    }
    let variants = ["oneOf", "anyOf"].iter().find_map(|k| schema.get(*k)).and_then(Value::as_array);
    if let Some(variants) = variants {
        let mut words: Vec<String> = variants.iter().map(|v| kind(v, defs)).filter(|w| w != "null").collect();
        words.dedup();
        return words.join(" or ");
    }
    if let Some(v) = schema.get("const").and_then(Value::as_str) {
        return format!("`{v}`");
    }
    if let Some(names) = schema.get("enum").and_then(Value::as_array) {
        return names
            .iter()
            .filter_map(Value::as_str)
            .map(|n| format!("`{n}`"))
            .collect::<Vec<_>>()
            .join(" or ");
    }
    let name = match schema.get("type") {
        Some(Value::Array(a)) => {
            a.iter().filter_map(Value::as_str).find(|t| *t != "null").unwrap_or_default()
        }
        Some(Value::String(s)) => s.as_str(),
        _ => "",
    };
    match name {
        "array" => format!("list of {}", schema.get("items").map_or_else(String::new, |i| kind(i, defs))),
        "object" => "table".to_owned(),
        "number" => "number".to_owned(),
        "integer" => "whole number".to_owned(),
        "boolean" => "true or false".to_owned(),
        other => other.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_documented_with_a_meaning() {
        let page = reference_markdown();
        for row in page.lines().filter(|l| l.starts_with("| `")) {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
            assert!(!cells.last().unwrap().trim().is_empty(), "no meaning: {row}");
        }
        for key in
            ["`duration_s`", "`speed_max_mps`", "`tx_power_dbm`", "`snap_length_bytes`", "`steady_state`"]
        {
            assert!(page.contains(key), "{key} is missing");
        }
        for kind in ["random-waypoint", "static", "cbr-random", "ping", "ns2"] {
            assert!(page.contains(&format!("of kind `{kind}`")), "{kind} is missing");
        }
    }
}
