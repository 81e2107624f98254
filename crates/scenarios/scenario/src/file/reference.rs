//! The reference page of the scenario file, from the types that read it.

use std::fmt::Write as _;

use schemars::schema_for;
use serde_json::{Value, json};
use wayhop_document::ReferenceTables;
use wayhop_radio::{PRESETS, RadioConfig};

use super::Scenario;

const HEAD: &str = include_str!("reference_head.md");
const NS2: &str = include_str!("reference_ns2.md");

/// `docs/reference/scenario.md`.
pub fn reference_markdown() -> String {
    let schema = schema_for!(Scenario).to_value();
    let mut out = HEAD.to_owned();
    let types = ReferenceTables::new(&schema);
    out.push_str("\n## Top level\n\n");
    types.top_level(&mut out);
    types.sections(&mut out, &[("nodes", "Nodes"), ("nodes.node", "Node"), ("area", "Area")]);
    types.sections(&mut out, &[("origin", "Geodetic"), ("background", "Background")]);
    types.sections(&mut out, &[("background.points", "ControlPoint"), ("a place", "Place")]);
    types.kinds(&mut out, "movement", "Movement");
    types.sections(&mut out, &[("movement.tracks", "NodeTrack"), ("movement.tracks.waypoints", "Waypoint")]);
    types.kinds(&mut out, "traffic", "Traffic");
    types.sections(&mut out, &[("stalls", "Stall"), ("outages", "Outages"), ("attacks", "Attacks")]);
    types.sections(&mut out, &[("energy", "Energy"), ("dtn", "Dtn"), ("dtn.routes", "DtnRoute")]);
    types.sections(&mut out, &[("dtn.flows", "BundleFlow")]);
    applications(&mut out, &types);
    types.kinds(&mut out, "commands", "Command");
    types.sections(&mut out, &[("programs", "Program"), ("captures", "Captures")]);
    types.sections(&mut out, &[("receptions", "Receptions"), ("output", "Output")]);
    radio(&mut out, &types);
    types.sections(&mut out, &[("wires", "Wire"), ("wires.cuts", "Cut"), ("wires.absences", "Absence")]);
    types.sections(&mut out, &[("gateways", "Gateway"), ("radio.site", "Site"), ("radio.site.zone", "Zone")]);
    types.sections(&mut out, &[("radio.site.antenna", "Antenna"), ("radio.site.pair", "Pair")]);
    protocols(&mut out);
    out.push_str(NS2);
    out
}

fn radio(out: &mut String, types: &ReferenceTables) {
    out.push_str("\n## `radio` and `radios`\n\nThese keys choose the radio and the nodes that have it:\n\n");
    types.keys(out, "Radio");
    out.push_str("\n`preset` selects a set of values; each of these keys overrides one of them:\n\n");
    out.push_str("| preset | description |\n|---|---|\n");
    for (name, what) in PRESETS {
        _ = writeln!(out, "| `{name}` | {what} |");
    }
    let set = |(name, _): &(&'static str, _)| Some((*name, json!(RadioConfig::preset(name)?)));
    let sets: Vec<_> = PRESETS.iter().filter_map(set).collect();
    ReferenceTables::new(&schema_for!(RadioConfig).to_value()).with_sets(out, &sets);
}

fn applications(out: &mut String, types: &ReferenceTables) {
    types.sections(out, &[("applications", "ApplicationSection")]);
    for d in wayhop_applications::ALL {
        _ = writeln!(out, "\n### The application `{}`\n\n`{}`: {}.\n", d.name, d.name, d.about);
        ReferenceTables::new(&(d.schema)()).top_level(out);
    }
}

fn protocols(out: &mut String) {
    out.push_str("\n## `protocol`\n\n| `name` | description | `profile` |\n|---|---|---|\n");
    for d in wayhop_protocols::ALL {
        let profiles: Vec<_> = d.profiles.iter().map(|p| format!("`{}`: {}", p.name, p.about)).collect();
        let (name, full, specification) = (d.name, d.full_name, d.specification);
        _ = writeln!(out, "| `{name}` | {full}, {specification} | {} |", profiles.join("; "));
    }
    let default = wayhop_protocols::default().name;
    _ = writeln!(out, "\nThe default protocol is `{default}`; the default profile is the protocol's first.");
    out.push_str(
        "\n`library = \"./libmine.so\"` loads a protocol from a [shared library](../tutorials/c-protocol.md), \
         `python = \"mine.py\"` from a [Python module](../tutorials/python-protocol.md); the path is relative to the \
         scenario's folder, and the other keys are the protocol's parameters.\n",
    );
    for d in wayhop_protocols::ALL {
        _ = writeln!(out, "\n## `protocol` with `name = \"{}\"`\n", d.name);
        out.push_str("`profile` selects a set of values; every other key overrides one of them.\n");
        let profiles = d.profiles.iter();
        let sets = profiles.filter_map(|p| Some((p.name, Value::Object((d.profile)(p.name)?))));
        ReferenceTables::new(&(d.schema)()).with_sets(out, &sets.collect::<Vec<_>>());
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
