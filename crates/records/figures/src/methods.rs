//! The methods behind runs, in sentences.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use toml::{Table, Value};
use wayhop_trace::RunStatus;

use crate::column::{Column, ColumnRun};

/// A paragraph for each column: what its manifests say, and nothing else.
pub fn methods(columns: &[Column]) -> Vec<String> {
    columns.iter().map(|c| paragraph(c, columns.len() > 1)).collect()
}

fn paragraph(c: &Column, named: bool) -> String {
    let own = |of: &dyn Fn(&ColumnRun) -> String| -> String {
        let all: BTreeSet<String> = c.runs.iter().map(of).collect();
        all.into_iter().collect::<Vec<_>>().join(", ")
    };
    let key = |way: &'static str| {
        let all: BTreeSet<String> = c.runs.iter().filter_map(|r| value(&r.manifest.scenario, way)).collect();
        (!all.is_empty()).then(|| all.into_iter().collect::<Vec<_>>().join(" or "))
    };
    let mut text = if named { format!("{}: ", c.name) } else { String::new() };
    let plural = if c.runs.len() == 1 { "" } else { "s" };
    _ = write!(
        text,
        "{} {} run{plural} of the scenario {:?} by Wayhop {} ({}).",
        c.runs.len(),
        world_in_words(&own(&|r| r.summary.world.clone())),
        own(&|r| r.summary.scenario.clone()),
        own(&|r| r.manifest.wayhop.clone()),
        own(&|r| r.manifest.host.clone()),
    );
    _ = write!(text, " Seed{plural}: {}.", seeds(c));
    let said = [
        ("nodes.count", "Nodes"),
        ("movement.kind", "Movement"),
        ("radio.preset", "Radio"),
        ("protocol.profile", "Profile"),
    ];
    _ = write!(text, " Protocol: {}.", own(&|r| r.summary.protocol.clone()));
    for (way, word) in said {
        match key(way) {
            Some(v) => _ = write!(text, " {word}: {v}."),
            // The scenario leaves it open.
            None if word == "Profile" => text.push_str(" Profile: the default."),
            None => {}
        }
    }
    _ = write!(text, " Duration: {} s.", own(&|r| wayhop_report::plain(r.summary.simulated_s)));
    let mut started: Vec<&str> = c.runs.iter().map(|r| r.manifest.started.as_str()).collect();
    started.sort_unstable();
    match (started.first(), started.last()) {
        (Some(a), Some(b)) if a == b => _ = write!(text, " Started {a}."),
        (Some(a), Some(b)) => _ = write!(text, " Started from {a} to {b}."),
        _ => {}
    }
    text += &hashes(c);
    text += &shortfalls(c);
    text
}

/// Which records lack rows, and which: figures that count rows show less. Nothing if all are complete.
fn partial(c: &Column) -> String {
    let mut text = String::new();
    for r in &c.runs {
        let Some(record) = r.manifest.record.as_ref().filter(|r| !r.is_whole()) else { continue };
        let who = if c.runs.len() > 1 { format!("with seed {} ", r.summary.seed) } else { String::new() };
        _ = write!(text, " The run {who}has a partial record: {}.", record.phrases().join("; "));
    }
    text
}

/// Which runs did not come to their end, and which records are partial. Nothing if all are.
pub(crate) fn shortfalls(c: &Column) -> String {
    unfinished(c) + &partial(c)
}

/// Which runs did not come to their end, and how far they came: ` The run was interrupted at 20 s of 120 s.` Nothing if all did.
fn unfinished(c: &Column) -> String {
    let mut text = String::new();
    for r in c.runs.iter().filter(|r| r.manifest.status != RunStatus::Complete) {
        let who = if c.runs.len() > 1 { format!("with seed {} ", r.summary.seed) } else { String::new() };
        let of = value(&r.manifest.scenario, "duration_s").map_or_else(String::new, |d| {
            let d = d.parse::<f64>().map_or(d, wayhop_report::plain);
            format!(" of {d} s")
        });
        let how = if r.manifest.status == RunStatus::Interrupted { "interrupted" } else { "cut off" };
        _ = write!(text, " The run {who}was {how} at {} s{of}.", wayhop_report::plain(r.summary.simulated_s));
    }
    text
}

/// Which text of a scenario each run had. Runs of several seeds have a text each, which differ in it.
fn hashes(c: &Column) -> String {
    let all: BTreeSet<&str> = c.runs.iter().map(|r| r.manifest.scenario_sha256.as_str()).collect();
    match (all.len(), all.first()) {
        (1, Some(hash)) => format!(" SHA-256 of the scenario with all settings: {hash}."),
        (n, Some(_)) => {
            let inputs: BTreeSet<(&str, &str)> = c
                .runs
                .iter()
                .flat_map(|r| &r.manifest.inputs)
                .map(|i| (i.path.as_str(), i.sha256.as_str()))
                .collect();
            let told: Vec<String> = inputs.iter().map(|(path, hash)| format!("{path} {hash}")).collect();
            let files = if told.is_empty() {
                String::new()
            } else {
                format!(" Files, with their SHA-256: {}.", told.join(", "))
            };
            format!(
                " {n} versions of the scenario, one per seed or setting; the manifests have their SHA-256.{files}"
            )
        }
        _ => String::new(),
    }
}

/// How a run was made, by the name of its world: `simulated`.
pub fn world_in_words(name: &str) -> String {
    match name {
        "sim" => "simulated",
        "emu" | "emulation" => "emulated",
        other => other,
    }
    .to_owned()
}

/// `1 to 10`, or each.
fn seeds(c: &Column) -> String {
    let all: Vec<u64> = c.runs.iter().map(|r| r.manifest.seed).collect();
    match (all.first(), all.last()) {
        (Some(a), Some(b)) if all.len() > 2 && all.windows(2).all(|w| w[1].checked_sub(w[0]) == Some(1)) => {
            format!("{a} to {b}")
        }
        _ => all.iter().map(u64::to_string).collect::<Vec<_>>().join(", "),
    }
}

fn value(scenario: &str, way: &str) -> Option<String> {
    let table: Table = scenario.parse().ok()?;
    let mut parts = way.split('.');
    let mut at = table.get(parts.next()?)?;
    for part in parts {
        at = at.get(part)?;
    }
    match at {
        Value::String(s) => Some(s.clone()),
        Value::Table(_) | Value::Array(_) => None,
        other => Some(other.to_string()),
    }
}
