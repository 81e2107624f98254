//! A comparison as a page.

use wayhop_report::{Axis, Figure, Mark, Panel, Plot, Series, Sheet};

use super::column::Column;
use super::rows::Row;
use super::show::{difference, heads, value};

/// The page: the table, and how long flows and searches took.
pub(super) fn html(columns: &[Column], rows: &[Row], remarks: &[String]) -> Result<String, String> {
    let figure = Figure {
        name: "Times".to_owned(),
        caption: "Quantiles of the one-way latency of all flows but pings, the mean over the runs of each column in which \
                  something arrived; and the times of the \
                  searches for routes, of all its runs together."
            .to_owned(),
        panels: vec![
            Panel { title: "latency of flows".to_owned(), plot: latencies(columns) },
            Panel { title: "searches for routes".to_owned(), plot: searches(columns) },
        ],
    };
    let (head, body) = table(columns, rows);
    let paths: Vec<String> = columns.iter().map(|c| c.path.display().to_string()).collect();
    Sheet {
        title: "Runs side by side".to_owned(),
        lead: "Differences are to the first, of pairs with the same seed if both sides have the same seeds, else of the means with \
               Welch's interval. Intervals are of 95 %; a * marks one of five runs or more that leaves out zero. (3 of 10): \
               only 3 of the 10 runs have the figure, and the mean is of those."
            .to_owned(),
        command: format!("wayhop compare {}", paths.join(" ")),
        head,
        body,
        words: 2,
        notes: remarks.to_vec(),
        figures: vec![figure],
    }
    .html()
}

fn table(columns: &[Column], rows: &[Row]) -> (Vec<String>, Vec<Vec<String>>) {
    let mut heads = heads(columns);
    let names = heads.remove(0);
    let mut head = vec![String::new(), String::new(), names[1].clone()];
    head.extend(names[2..].iter().flat_map(|n| [n.clone(), "difference".to_owned()]));
    let mut body: Vec<Vec<String>> = Vec::new();
    for h in heads {
        let mut line = vec![String::new(), h[0].clone(), h[1].clone()];
        line.extend(h[2..].iter().flat_map(|c| [c.clone(), String::new()]));
        body.push(line);
    }
    for r in rows {
        let mut line = vec![r.about.clone(), r.quantity.clone(), value(r.mean(0))];
        for i in 1..columns.len() {
            line.extend([value(r.mean(i)), difference(r.difference(i).as_ref())]);
        }
        body.push(line);
    }
    (head, body)
}

fn latencies(columns: &[Column]) -> Plot {
    let mut plot = Plot::new(Axis::new("latency (ms)"), Axis::new("packets (%)").from_to(0.0, 100.0));
    for (i, c) in columns.iter().enumerate() {
        let mean = |of: &dyn Fn(&wayhop_trace::LatencyMs) -> f64| {
            let all: Vec<f64> =
                c.runs.iter().filter_map(|r| r.summary.totals.latency_ms.as_ref().map(of)).collect();
            wayhop_report::mean(&all).unwrap_or(f64::NAN)
        };
        let points = vec![
            [mean(&|l| l.p50), 50.0],
            [mean(&|l| l.p95), 95.0],
            [mean(&|l| l.p99), 99.0],
            [mean(&|l| l.max), 100.0],
        ];
        plot = plot.with(Series::new(&c.name, Mark::Line, i.min(5), points));
    }
    plot
}

fn searches(columns: &[Column]) -> Plot {
    let mut plot = Plot::new(Axis::new("search (ms)"), Axis::new("searches (%)").from_to(0.0, 100.0));
    for (i, c) in columns.iter().enumerate() {
        let all = c.runs.iter().flat_map(|r| r.searches.iter().flatten());
        let mut took: Vec<f64> = all.filter_map(|s| Some(s.took?.as_secs_f64() * 1e3)).collect();
        took.sort_by(f64::total_cmp);
        let n = took.len() as f64;
        let points = took.iter().enumerate().map(|(k, t)| [*t, 100.0 * (k + 1) as f64 / n]).collect();
        plot = plot.with(Series::new(&c.name, Mark::Steps, i.min(5), points));
    }
    plot
}
