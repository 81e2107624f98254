//! The reference page of the scenario file, from the types that read it.

use std::fmt::Write as _;

use schemars::schema_for;
use serde::Serialize;
use serde_json::Value;
use wayhop_document::ReferenceTables;
use wayhop_radio::{PRESETS, RadioConfig};

use super::schema::Scenario;

const HEAD: &str = include_str!("reference_head.md");
const NS2: &str = include_str!("reference_ns2.md");

/// `docs/reference/scenario.md`.
pub fn reference_markdown() -> String {
    let schema = schema_for!(Scenario).to_value();
    let mut out = HEAD.to_owned();
    let types = ReferenceTables::new(&schema);
    out.push_str("\n## Top level\n\n");
    types.top_level(&mut out);
    for (key, def) in [
        ("nodes", "Nodes"),
        ("nodes.node", "Node"),
        ("area", "Area"),
        ("origin", "Geodetic"),
        ("background", "Background"),
        ("background.points", "ControlPoint"),
        ("a place", "Place"),
    ] {
        types.section(&mut out, &format!("`{key}`"), def);
    }
    types.kinds(&mut out, "movement", "Movement");
    types.section(&mut out, "`movement.tracks`", "NodeTrack");
    types.section(&mut out, "`movement.tracks.waypoints`", "Waypoint");
    types.kinds(&mut out, "traffic", "Traffic");
    types.section(&mut out, "`stalls`", "Stall");
    types.section(&mut out, "`outages`", "Outages");
    types.section(&mut out, "`attacks`", "Attacks");
    types.section(&mut out, "`energy`", "Energy");
    for (key, def) in [("dtn", "Dtn"), ("dtn.routes", "DtnRoute"), ("dtn.flows", "BundleFlow")] {
        types.section(&mut out, &format!("`{key}`"), def);
    }
    applications(&mut out, &types);
    types.kinds(&mut out, "commands", "Command");
    types.section(&mut out, "`programs`", "Program");
    types.section(&mut out, "`captures`", "Captures");
    types.section(&mut out, "`receptions`", "Receptions");
    types.section(&mut out, "`output`", "Output");
    radio(&mut out, &types);
    types.section(&mut out, "`wires`", "Wire");
    types.section(&mut out, "`wires.cuts`", "Cut");
    types.section(&mut out, "`wires.absences`", "Absence");
    types.section(&mut out, "`gateways`", "Gateway");
    for (key, def) in [
        ("radio.site", "Site"),
        ("radio.site.zone", "Zone"),
        ("radio.site.antenna", "Antenna"),
        ("radio.site.pair", "Pair"),
    ] {
        types.section(&mut out, &format!("`{key}`"), def);
    }
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
    let sets = PRESETS
        .iter()
        .filter_map(|(name, _)| Some((*name, values(&RadioConfig::preset(name)?))))
        .collect::<Vec<_>>();
    ReferenceTables::new(&schema_for!(RadioConfig).to_value()).with_sets(out, &sets);
}

/// Every application of the registry with its parameters.
fn applications(out: &mut String, types: &ReferenceTables) {
    types.section(out, "`applications`", "ApplicationSection");
    for d in wayhop_applications::ALL {
        _ = writeln!(out, "\n### The application `{}`\n\n`{}`: {}.\n", d.name, d.name, d.about);
        ReferenceTables::new(&(d.schema)()).top_level(out);
    }
}

/// Every protocol of the registry with its parameters.
fn protocols(out: &mut String) {
    out.push_str("\n## `protocol`\n\n| `name` | description | `profile` |\n|---|---|---|\n");
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
        "\nThe default protocol is `{}`; the default profile is the protocol's first.",
        wayhop_protocols::default().name
    );
    for d in wayhop_protocols::ALL {
        _ = writeln!(
            out,
            "\n## `protocol` with `name = \"{}\"`\n\n`profile` selects a set of values; every other key overrides one of them.",
            d.name
        );
        let profiles = d.profiles.iter();
        let sets = profiles.filter_map(|p| Some((p.name, Value::Object((d.profile)(p.name)?))));
        ReferenceTables::new(&(d.schema)()).with_sets(out, &sets.collect::<Vec<_>>());
    }
}

fn values<T: Serialize>(set: &T) -> Value {
    serde_json::to_value(set).unwrap_or_default()
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
