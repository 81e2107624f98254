//! Results for people and programs.

use std::fmt::Write as _;

use serde_json::{Value, json};
use wayhop_report::{Estimate, columns};

use crate::execute::Outcome;
use crate::results::Results;

/// Two tables for a terminal: the cells, and the differences.
pub fn text(outcome: &Outcome) -> String {
    let r = &outcome.results;
    let mut out = format!("{} of {} runs", outcome.done, outcome.runs);
    if outcome.found > 0 {
        _ = write!(out, ", {} of them done before", outcome.found);
    }
    out.push_str("; mean and half of its 95 % interval\n\n");
    let mut rows = vec![[&r.axes[..], &["runs".to_owned()], &short(&r.metrics)[..]].concat()];
    for cell in &r.cells {
        rows.push([&cell.labels[..], &[cell.runs.to_string()], &estimates(&cell.estimates)[..]].concat());
    }
    out += &columns(&rows, r.axes.len());
    if let Some(axis) = &r.compared {
        let first = r.differences.first().map_or("", |d| d.against.as_str());
        _ = write!(out, "\ndifferences to {axis} {first}, in pairs; * where the interval excludes zero\n\n");
        let mut rows = vec![[&r.axes[..], &short(&r.metrics)[..]].concat()];
        for d in &r.differences {
            let mut cells = estimates(&d.estimates);
            for (text, e) in cells.iter_mut().zip(&d.estimates) {
                let sure = e.and_then(|e| e.ci95).is_some_and(|[low, high]| low > 0.0 || high < 0.0);
                text.push(if sure { '*' } else { ' ' });
            }
            rows.push([&d.labels[..], &cells[..]].concat());
        }
        out += &columns(&rows, r.axes.len());
    }
    // A label comes from a file, and a terminal obeys control characters.
    out.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}

/// Most figures are totals: that need not be said.
fn short(metrics: &[String]) -> Vec<String> {
    let last = |m: &String| {
        let parts: Vec<&str> = m.split('.').collect();
        let skip = usize::from(parts.first() == Some(&"totals"));
        parts[skip..].join(".")
    };
    metrics.iter().map(last).collect()
}

fn estimates(list: &[Option<Estimate>]) -> Vec<String> {
    let one = |e: &Option<Estimate>| match e {
        None => "-".to_owned(),
        Some(Estimate { mean, ci95: None, .. }) => number(*mean),
        Some(Estimate { mean, ci95: Some([low, high]), .. }) => {
            format!("{} \u{b1}{}", number(*mean), number((high - low) / 2.0))
        }
    };
    list.iter().map(one).collect()
}

/// Four significant digits or so, without an exponent.
fn number(v: f64) -> String {
    match v.abs() {
        a if a >= 1000.0 || v == 0.0 => format!("{v:.0}"),
        a if a >= 100.0 => format!("{v:.1}"),
        a if a >= 10.0 => format!("{v:.2}"),
        a if a >= 1.0 => format!("{v:.3}"),
        _ => format!("{v:.4}"),
    }
}

/// One object.
pub fn json(name: &str, outcome: &Outcome) -> Value {
    let r = &outcome.results;
    let place = |labels: &[String]| -> Value {
        r.axes
            .iter()
            .cloned()
            .zip(labels.iter().map(|l| Value::from(l.as_str())))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let figures = |list: &[Option<Estimate>]| -> Value {
        let one = |e: &Option<Estimate>| {
            e.map_or(Value::Null, |e| json!({ "mean": e.mean, "ci95": e.ci95, "values": e.runs }))
        };
        r.metrics.iter().cloned().zip(list.iter().map(one)).collect::<serde_json::Map<_, _>>().into()
    };
    let cells = r
        .cells
        .iter()
        .map(|c| json!({ "at": place(&c.labels), "runs": c.runs, "metrics": figures(&c.estimates) }));
    let differences = r
        .differences
        .iter()
        .map(|d| json!({ "at": place(&d.labels), "against": d.against, "metrics": figures(&d.estimates) }));
    json!({
        "sweep": name,
        "runs": outcome.runs,
        "done": outcome.done,
        "found": outcome.found,
        "compared": r.compared,
        "cells": cells.collect::<Vec<_>>(),
        "differences": differences.collect::<Vec<_>>(),
    })
}

/// The cells as CSV (RFC 4180, with `\n` line ends), a line for each cell and figure.
pub fn table_csv(r: &Results) -> String {
    let cells = r.cells.iter().map(|c| (&c.labels[..], &c.estimates[..]));
    csv(r, &[], cells.map(|(l, e)| (l, Vec::new(), e)))
}

/// The differences as CSV.
pub fn differences_csv(r: &Results) -> String {
    let rows = r.differences.iter().map(|d| (&d.labels[..], vec![d.against.clone()], &d.estimates[..]));
    csv(r, &["against"], rows)
}

fn csv<'a>(
    r: &Results,
    more: &[&str],
    rows: impl Iterator<Item = (&'a [String], Vec<String>, &'a [Option<Estimate>])>,
) -> String {
    let head = r.axes.iter().map(String::as_str).chain(more.iter().copied());
    let line = |cells: Vec<String>| cells.iter().map(|c| quoted(c)).collect::<Vec<_>>().join(",") + "\n";
    let fixed = ["metric", "mean", "ci95_low", "ci95_high", "values"];
    let mut out = line(head.chain(fixed).map(str::to_owned).collect());
    for (labels, more, list) in rows {
        for (metric, e) in r.metrics.iter().zip(list) {
            let bound = |k: usize| e.and_then(|e| e.ci95).map_or_else(String::new, |c| c[k].to_string());
            let mean = e.map_or_else(String::new, |e| e.mean.to_string());
            let values = e.map_or(0, |e| e.runs).to_string();
            out += &line([labels, &more, &[metric.clone(), mean, bound(0), bound(1), values]].concat());
        }
    }
    out
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}
