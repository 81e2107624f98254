//! `wayhop presets`.

use std::ffi::OsStr;
use std::fmt::Write as _;

use clap::ValueEnum as _;
use clap::builder::PossibleValue;
use clap_complete::{ArgValueCompleter, CompletionCandidate};
use serde::Serialize;
use serde_json::{Map, Value};
use wayhop_core::nearest;
use wayhop_report::columns;
use wayhop_scenario::{Preset, presets};

use crate::failure::{Failure, json_line, put, usage};
use crate::reproduce::Paper;

pub(crate) const EXAMPLES: &str = "\
Profiles are named PROTOCOL/PROFILE. PROTOCOL alone is its default profile, and PROFILE alone works if only one protocol has it. \
The output for one preset can be pasted into a scenario.

Examples:
  wayhop presets
  wayhop presets 80211g
  wayhop presets aodv/rfc >> scenario.toml";

#[derive(Debug, clap::Args)]
pub(crate) struct PresetsArgs {
    /// Preset whose values to print, as TOML
    #[arg(add = ArgValueCompleter::new(names_starting_with))]
    name: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

fn names_starting_with(current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy().into_owned();
    let fit = presets().into_iter().filter(|p| p.name.starts_with(&current));
    fit.map(|p| CompletionCandidate::new(p.name).help(Some(p.about.into()))).collect()
}

/// What is printed with `--json`.
#[derive(Serialize)]
struct PresetListing<'a> {
    wayhop: &'static str,
    presets: Vec<PresetEntry<'a>>,
}

#[derive(Serialize)]
struct PresetEntry<'a> {
    name: &'a str,
    of: &'a str,
    about: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Map<String, Value>>,
}

pub(crate) fn list(a: &PresetsArgs) -> Result<(), Failure> {
    let all = presets();
    let text = match &a.name {
        Some(name) => {
            let preset = find(&all, name)?;
            if a.json { json(std::iter::once(preset), true)? } else { preset.toml() }
        }
        None if a.json => json(all.iter(), false)?,
        None => table(&all),
    };
    put(text)
}

/// The preset of this name, of the protocol of this name, or with the only profile of this name.
fn find<'a>(all: &'a [Preset], given: &str) -> Result<&'a Preset, Failure> {
    // No preset has capitals.
    let name = &*given.to_ascii_lowercase();
    if let Some(preset) = all.iter().find(|p| p.name == name || (p.of == name && name != "radio")) {
        return Ok(preset);
    }
    let profiles: Vec<&Preset> =
        all.iter().filter(|p| p.name.split_once('/').is_some_and(|(_, profile)| profile == name)).collect();
    let names = |some: &[&Preset]| some.iter().map(|p| &*p.name).collect::<Vec<_>>().join(", ");
    match profiles[..] {
        [one] => return Ok(one),
        [] => {}
        _ => return Err(usage!("{name:?} is ambiguous: give one of {}", names(&profiles))),
    }
    if papers().iter().any(|(paper, _)| paper == name) {
        return Err(usage!(
            "{name:?} is a paper, not a preset; to repeat its experiments: wayhop reproduce {name}"
        ));
    }
    let remedy = match nearest(name, all.iter().map(|p| &*p.name)) {
        Some(meant) => format!("did you mean {meant}?"),
        None => "list them with: wayhop presets".to_owned(),
    };
    Err(usage!("no preset {name:?}; {remedy}"))
}

fn json<'a>(of: impl Iterator<Item = &'a Preset>, with_values: bool) -> Result<String, Failure> {
    let entry = |p: &'a Preset| {
        let values = || -> Result<Map<String, Value>, serde_json::Error> {
            p.values().map(|(key, v)| Ok((key.to_owned(), serde_json::to_value(v)?))).collect()
        };
        let values = with_values.then(values).transpose().map_err(Failure::run)?;
        Ok(PresetEntry { name: &p.name, of: p.of, about: &p.about, values })
    };
    let presets = of.map(entry).collect::<Result<_, Failure>>()?;
    let listed = PresetListing { wayhop: wayhop_core::version::full(), presets };
    json_line(&listed)
}

fn table(all: &[Preset]) -> String {
    let mut text = String::new();
    let mut section = |title: &str, rows: Vec<Vec<String>>| {
        let gap = if text.is_empty() { "" } else { "\n" };
        _ = writeln!(text, "{gap}{title}");
        for line in columns(&rows, 2).lines() {
            _ = writeln!(text, "  {line}");
        }
    };
    let row = |p: &Preset| vec![p.name.clone(), p.about.clone()];
    let mut rest = all;
    while let Some(first) = rest.first() {
        let (these, others) = rest.split_at(rest.iter().take_while(|p| p.of == first.of).count());
        let title = match first.of {
            "radio" => "Radios (--radio NAME, radio.preset)".to_owned(),
            "tcp" => "TCP (profile of a flow; the first is the default)".to_owned(),
            protocol => {
                format!("Protocol {protocol} (--profile, protocol.profile; the first is the default)")
            }
        };
        section(&title, these.iter().map(row).collect());
        rest = others;
    }
    let papers = papers().into_iter().map(|(name, about)| vec![name, about]);
    section("Papers (wayhop reproduce NAME)", papers.collect());
    text
}

/// The papers whose experiments can be repeated, with their descriptions.
fn papers() -> Vec<(String, String)> {
    let papers = Paper::value_variants().iter().filter_map(Paper::to_possible_value);
    let about = |v: &PossibleValue| v.get_help().map(ToString::to_string).unwrap_or_default();
    papers.map(|v| (v.get_name().to_owned(), about(&v))).collect()
}
