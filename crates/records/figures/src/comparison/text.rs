//! A comparison as text and as JSON.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::json;
use wayhop_core::version;
use wayhop_report::{Document, Estimate, plain, signed};
use wayhop_trace::PartialRecord;

use super::flows::places;
use super::rows::{ColumnDifference, FigureRow};
use crate::column::Column;

/// Differences between scenarios that are listed one by one.
const MOST_KEYS: usize = 12;
const WIDEST_NAME: usize = 24;

/// The lines above the figures: what each column is. The first cell names the line.
pub(super) fn heads(columns: &[Column]) -> Vec<Vec<String>> {
    let line = |name: &str, of: &dyn Fn(&Column) -> String| {
        std::iter::once(name.to_owned()).chain(columns.iter().map(of)).collect::<Vec<_>>()
    };
    let name = |c: &Column| harmless(&c.name).chars().take(WIDEST_NAME).collect();
    vec![
        line("", &name),
        line("world", &|c| c.each(|r| &r.summary.world).join(", ")),
        line("protocol", &|c| c.each(|r| &r.summary.protocol).join(", ")),
        line("runs", &|c| c.runs.len().to_string()),
        line("on time", &verdict),
    ]
}

/// Whether the column's runs kept up with real time; "-" for simulations.
fn verdict(c: &Column) -> String {
    let all: Vec<&str> =
        c.runs.iter().filter_map(|r| Some(r.summary.lateness_us.as_ref()?.verdict.as_str())).collect();
    let late = all.iter().filter(|v| **v != "ok").count();
    match (all.len(), late) {
        (0, _) => "-".to_owned(),
        (_, 0) => "ok".to_owned(),
        (1, _) => "degraded".to_owned(),
        (n, late) => format!("degraded {late} of {n}"),
    }
}

/// Notes for the reader: what else differs.
pub fn remarks(columns: &[Column]) -> Vec<String> {
    let unfinished =
        |c: &Column| format!("{}: {} of its runs did not finish", c.path.display(), c.unfinished());
    let mut remarks: Vec<String> = columns.iter().filter(|c| c.unfinished() > 0).map(unfinished).collect();
    for r in columns.iter().flat_map(|c| &c.runs) {
        let what = |record: &PartialRecord| {
            format!("{}: the record is partial: {}", r.dir.path().display(), record.phrases().join("; "))
        };
        remarks.extend(r.manifest.record.as_ref().filter(|r| !r.is_whole()).map(what));
    }
    let versions = columns.iter().flat_map(|c| &c.runs).map(|r| r.summary.wayhop.as_str());
    if let Some(different) = version::different(versions) {
        remarks.push(format!("the runs come from different versions: {different}"));
    }
    let scenarios: Vec<_> = columns.iter().map(Column::scenario).collect();
    let keys: BTreeSet<&String> = scenarios.iter().flat_map(|s| s.keys()).collect();
    let differ: Vec<&String> =
        keys.into_iter().filter(|k| scenarios.iter().any(|s| s.get(*k) != scenarios[0].get(*k))).collect();
    for key in differ.iter().take(MOST_KEYS) {
        let values: Vec<&str> = scenarios.iter().map(|s| s.get(*key).map_or("-", String::as_str)).collect();
        remarks.push(format!("the scenarios differ: {key} = {}", values.join(" | ")));
    }
    if let Some(more) = differ.len().checked_sub(MOST_KEYS).filter(|n| *n > 0) {
        remarks.push(format!("{more} more keys differ"));
    }
    let flows = columns.iter().flat_map(|c| &c.runs).map(|r| r.summary.flows.len()).max().unwrap_or(0);
    if flows > 0 && places(columns).is_empty() {
        remarks.push("the flows are not the same in all runs; only their totals are compared".to_owned());
    }
    remarks
}

/// The rows as a table for a terminal, with the notes below.
pub fn text(columns: &[Column], rows: &[FigureRow], remarks: &[String]) -> String {
    let heads: Vec<_> = heads(columns).iter().map(|cells| spaced(cells, "")).collect();
    let line = |r: &FigureRow| [vec![format!("  {}", r.quantity)], values(r)].concat();
    let lines: Vec<Vec<String>> = heads.iter().cloned().chain(rows.iter().map(line)).collect();
    let mut out = String::new();
    for (i, line) in wayhop_report::columns(&lines, 1).lines().enumerate() {
        // What rows are about stands above the first of them, and may be longer than their names.
        if let Some(k) = i.checked_sub(heads.len())
            && (k == 0 || rows[k].about != rows[k - 1].about)
        {
            let _ = writeln!(out, "{}", harmless(&rows[k].about));
        }
        let _ = writeln!(out, "{line}");
    }
    for r in remarks {
        let _ = writeln!(out, "note: {}", harmless(r));
    }
    out
}

/// The cells of a line of [`heads`], with `difference` behind each column's but the first.
pub(super) fn spaced(cells: &[String], difference: &str) -> Vec<String> {
    let others = cells[2..].iter().flat_map(|c| [c.clone(), difference.to_owned()]);
    cells[..2].iter().cloned().chain(others).collect()
}

/// The means of a row, each but the first with its difference.
pub(super) fn values(r: &FigureRow) -> Vec<String> {
    let others = (1..r.values.len()).flat_map(|i| [value(r.mean(i)), difference(r.difference(i).as_ref())]);
    std::iter::once(value(r.mean(0))).chain(others).collect()
}

/// A mean, with the number of runs that have it unless all do.
fn value((e, runs): (Option<Estimate>, usize)) -> String {
    let of = e.map_or(0, |e| e.runs);
    e.map_or_else(|| "-".to_owned(), |e| plain(e.mean) + &half(&e)) + &partial(of, runs)
}

fn difference(d: Option<&ColumnDifference>) -> String {
    let Some(d) = d else { return String::new() };
    let mark = if d.is_sure { " *" } else { "" };
    let partial = if d.is_paired { partial(d.estimate.runs, d.of) } else { String::new() };
    signed(d.estimate.mean) + &half(&d.estimate) + &partial + mark
}

fn partial(of: usize, all: usize) -> String {
    if of > 0 && of < all { format!(" ({of} of {all})") } else { String::new() }
}

fn half(e: &Estimate) -> String {
    e.ci95.map_or_else(String::new, |[low, high]| format!(" \u{b1}{}", plain((high - low) / 2.0)))
}

/// All of it as one object.
pub fn json(columns: &[Column], rows: &[FigureRow], remarks: &[String]) -> Document {
    let estimate = |(e, all): (Option<Estimate>, usize)| {
        e.map(|e| json!({"mean": e.mean, "ci95": e.ci95, "runs": e.runs, "of": all}))
    };
    let difference = |d: Option<ColumnDifference>| {
        d.map(|ColumnDifference { estimate: e, of, is_paired, is_sure }| {
            json!({"mean": e.mean, "ci95": e.ci95, "runs": e.runs, "of": of, "paired": is_paired, "sure": is_sure})
        })
    };
    let column = |c: &Column| {
        json!({
            "path": c.path,
            "world": c.each(|r| &r.summary.world).join(", "),
            "protocol": c.each(|r| &r.summary.protocol).join(", "),
            "runs": c.runs.len(),
            "seeds": c.runs.iter().map(|r| r.summary.seed).collect::<Vec<_>>(),
            "on_time": verdict(c),
        })
    };
    let row = |r: &FigureRow| {
        let all = 0..columns.len();
        json!({
            "about": r.about,
            "quantity": r.quantity,
            "values": all.clone().map(|i| estimate(r.mean(i))).collect::<Vec<_>>(),
            "differences": all.skip(1).map(|i| difference(r.difference(i))).collect::<Vec<_>>(),
        })
    };
    json!({
        "runs": columns.iter().map(column).collect::<Vec<_>>(),
        "rows": rows.iter().map(row).collect::<Vec<_>>(),
        "notes": remarks,
    })
    .into()
}

/// Names come from files, and a terminal obeys control characters.
fn harmless(text: &str) -> String {
    text.replace(char::is_control, " ")
}
