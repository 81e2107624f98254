//! Results for people and programs.

use std::fmt::Write as _;

use serde_json::{Value, json};
use wayhop_report::{Document, Estimate, FEWEST_RUNS, columns, quoted};

use crate::prepared::SweepOutcome;
use crate::results::{Cell, Results};

/// What a terminal shows: the cells, and the differences; without axes, a line for each figure.
pub fn text(outcome: &SweepOutcome) -> String {
    let r = &outcome.results;
    let mut out = format!("{} of {} runs", outcome.done, outcome.runs);
    if outcome.found > 0 {
        _ = write!(out, ", {} of them from earlier", outcome.found);
    }
    let mut is_partial = false;
    if r.axes.is_empty() {
        out.push_str("; means with 95 % intervals\n\n");
        out += &figures(r, &mut is_partial);
    } else {
        out.push_str("; mean and half of its 95 % interval\n\n");
        out += &cells(r, &mut is_partial);
    }
    if is_partial {
        out += "\n(n of m): only n of the m runs or pairs have the figure, and the mean is over those; a run in which \
                nothing arrived has no latency\n";
    }
    // A label comes from a file, and a terminal obeys control characters.
    out.chars().map(|c| if c.is_control() && c != '\n' { ' ' } else { c }).collect()
}

fn figures(r: &Results, is_partial: &mut bool) -> String {
    let head = ["figure", "mean", "95 % interval", "runs"].map(str::to_owned).to_vec();
    let mut rows = vec![head];
    for cell in &r.cells {
        for ((name, e), &n) in short(&r.metrics).into_iter().zip(&cell.estimates).zip(&cell.counted) {
            let mean = e.map_or_else(|| "-".to_owned(), |e| number(e.mean));
            let interval = e.and_then(|e| e.ci95);
            let interval = interval
                .map_or_else(|| "-".to_owned(), |[low, high]| format!("{} to {}", number(low), number(high)));
            *is_partial |= n < cell.runs;
            let runs = if n < cell.runs { format!("({n} of {})", cell.runs) } else { n.to_string() };
            rows.push(vec![name, mean, interval, runs]);
        }
    }
    columns(&rows, 1)
}

fn cells(r: &Results, is_partial: &mut bool) -> String {
    let mut rows = vec![[&r.axes[..], &["runs".to_owned()], &short(&r.metrics)[..]].concat()];
    for cell in &r.cells {
        let counts = cell.counted.iter().map(|&n| (n, cell.runs));
        let figures = estimates(&cell.estimates, counts, is_partial);
        rows.push([&cell.labels[..], &[cell.runs.to_string()], &figures[..]].concat());
    }
    let mut out = columns(&rows, r.axes.len());
    let Some(axis) = &r.compared else { return out };
    let first = r.differences.first().map_or("", |d| d.against.as_str());
    _ = write!(
        out,
        "\ndifferences to {axis} {first}, in pairs; * where the interval of {FEWEST_RUNS} pairs or more excludes zero\n\n"
    );
    let mut rows = vec![[&r.axes[..], &short(&r.metrics)[..]].concat()];
    for d in &r.differences {
        let counts = d.estimates.iter().map(|e| (e.map_or(0, |e| e.runs), d.pairs));
        let mut cells = estimates(&d.estimates, counts, is_partial);
        for (text, e) in cells.iter_mut().zip(&d.estimates) {
            text.push(if e.is_some_and(Estimate::is_sure) { '*' } else { ' ' });
        }
        rows.push([&d.labels[..], &cells[..]].concat());
    }
    out + &columns(&rows, r.axes.len())
}

/// Most figures are totals: that need not be said.
fn short(metrics: &[String]) -> Vec<String> {
    metrics.iter().map(|m| m.strip_prefix("totals.").unwrap_or(m).to_owned()).collect()
}

/// The estimates as text, each with how many of how many runs it is of, if not of all.
fn estimates(
    list: &[Option<Estimate>],
    counts: impl Iterator<Item = (usize, usize)>,
    is_partial: &mut bool,
) -> Vec<String> {
    let one = |e: &Option<Estimate>| match e {
        None => "-".to_owned(),
        Some(Estimate { mean, ci95: None, .. }) => number(*mean),
        Some(Estimate { mean, ci95: Some([low, high]), .. }) => {
            format!("{} \u{b1}{}", number(*mean), number((high - low) / 2.0))
        }
    };
    let of = |(e, (n, all)): (&Option<Estimate>, (usize, usize))| {
        *is_partial |= n < all;
        one(e) + &if n < all { format!(" ({n} of {all})") } else { String::new() }
    };
    list.iter().zip(counts).map(of).collect()
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
pub fn json(name: &str, outcome: &SweepOutcome) -> Document {
    let r = &outcome.results;
    let place = |labels: &[String]| -> Value { r.axes.iter().cloned().zip(labels.iter().cloned()).collect() };
    let figure = |e: &Option<Estimate>| {
        let (mean, ci95) = (e.map(|e| e.mean), e.and_then(|e| e.ci95));
        json!({ "mean": mean, "ci95": ci95, "values": e.map_or(0, |e| e.runs) })
    };
    let by_metric = |figures: Vec<Value>| -> Value { r.metrics.iter().cloned().zip(figures).collect() };
    let of_cell = |c: &Cell| {
        let mut figures: Vec<Value> = c.estimates.iter().map(figure).collect();
        for (f, n) in figures.iter_mut().zip(&c.counted) {
            f["runs"] = (*n).into();
        }
        by_metric(figures)
    };
    let cells =
        r.cells.iter().map(|c| json!({ "at": place(&c.labels), "runs": c.runs, "metrics": of_cell(c) }));
    let differences = r.differences.iter().map(|d| {
        let metrics = by_metric(d.estimates.iter().map(figure).collect());
        json!({ "at": place(&d.labels), "against": d.against, "pairs": d.pairs, "metrics": metrics })
    });
    json!({
        "sweep": name,
        "runs": outcome.runs,
        "done": outcome.done,
        "found": outcome.found,
        "recorded_bytes": outcome.recorded_bytes,
        "compared": r.compared,
        "cells": cells.collect::<Vec<_>>(),
        "differences": differences.collect::<Vec<_>>(),
    })
    .into()
}

/// The cells as CSV (RFC 4180, with `\n` line ends), a line for each cell and figure.
pub fn table_csv(r: &Results) -> String {
    let rows = r.cells.iter().map(|c| {
        let counts = c.counted.iter().map(|&n| (n, c.runs)).collect();
        (&c.labels[..], Vec::new(), &c.estimates[..], counts)
    });
    csv(r, &[], ["runs_with_figure", "runs"], rows)
}

/// The differences as CSV.
pub fn differences_csv(r: &Results) -> String {
    let rows = r.differences.iter().map(|d| {
        let counts = d.estimates.iter().map(|e| (e.map_or(0, |e| e.runs), d.pairs)).collect();
        (&d.labels[..], vec![d.against.clone()], &d.estimates[..], counts)
    });
    csv(r, &["against"], ["pairs_with_figure", "pairs"], rows)
}

fn csv<'a>(
    r: &Results,
    more: &[&str],
    counted: [&str; 2],
    rows: impl Iterator<Item = (&'a [String], Vec<String>, &'a [Option<Estimate>], Vec<(usize, usize)>)>,
) -> String {
    let head = r.axes.iter().map(String::as_str).chain(more.iter().copied());
    let line = |cells: Vec<String>| cells.iter().map(|c| quoted(c)).collect::<Vec<_>>().join(",") + "\n";
    let fixed = ["metric", "mean", "ci95_low", "ci95_high", "values"];
    let mut out = line(head.chain(fixed).chain(counted).map(str::to_owned).collect());
    for (labels, more, list, counts) in rows {
        for ((metric, e), (n, all)) in r.metrics.iter().zip(list).zip(counts) {
            let bound = |k: usize| e.and_then(|e| e.ci95).map_or_else(String::new, |c| c[k].to_string());
            let mean = e.map_or_else(String::new, |e| e.mean.to_string());
            let values = e.map_or(0, |e| e.runs).to_string();
            let figures = [mean, bound(0), bound(1), values, n.to_string(), all.to_string()];
            out += &line([labels, &more, std::slice::from_ref(metric), &figures].concat());
        }
    }
    out
}
