//! Distributions of times.

use wayhop_report::{Distribution, Figure, cdf};

use crate::column::Column;
use crate::runs::Runs;
use crate::words::{grouped, unfinished};

/// Every packet that arrived.
pub(crate) fn latency(runs: &Runs<'_>) -> Option<Figure> {
    let all: Vec<(String, Distribution)> = runs
        .traffic()
        .map(|(c, traffic)| {
            let mut all = Distribution::default();
            for t in traffic {
                all.merge(&t.latency_ms);
            }
            (runs.legend(c), all)
        })
        .collect();
    let caption = format!(
        "Cumulative distribution of the one-way latency of every packet that arrived, first copies, all flows but pings, on a \
         logarithmic axis{}: {}. Packets that never arrived are in no line. Steps are thinned to values 0.14 % apart, less than a pixel; \
         at each the share is exact.{}",
        pooled(runs),
        counts(runs, &all, ["packet", "packets"]),
        unfinished(runs),
    );
    drawn("Latency", "latency (ms)", "packets that arrived", &all, &caption)
}

/// Every search that found a route.
pub(crate) fn searches(runs: &Runs<'_>) -> Option<Figure> {
    let took = |c: &Column| -> Distribution {
        let all = c.runs.iter().flat_map(|r| r.searches.iter().flatten());
        all.filter_map(|s| Some(s.took?.as_secs_f64() * 1e3)).collect()
    };
    let all: Vec<_> = runs.columns.iter().map(|c| (runs.legend(c), took(c))).collect();
    let caption = format!(
        "Cumulative distribution of the times from a search's first request to its route, on a logarithmic axis{}: {}. Searches that \
         found no route are in no line.{}",
        pooled(runs),
        counts(runs, &all, ["search", "searches"]),
        unfinished(runs),
    );
    drawn("Searches for routes", "search (ms)", "searches that found a route", &all, &caption)
}

fn pooled(runs: &Runs<'_>) -> &'static str {
    if runs.columns.iter().any(|c| c.runs.len() > 1) { ", all runs of a line together" } else { "" }
}

fn counts(runs: &Runs<'_>, all: &[(String, Distribution)], what: [&str; 2]) -> String {
    let of = |(c, (_, d)): (&Column, &(String, Distribution))| match runs.columns.len() {
        1 => format!("{} {}", grouped(d.count()), what[usize::from(d.count() != 1)]),
        _ => format!("{} of {}", grouped(d.count()), c.name),
    };
    runs.columns.iter().zip(all).map(of).collect::<Vec<_>>().join(", ")
}

fn drawn(name: &str, x: &str, y: &str, all: &[(String, Distribution)], caption: &str) -> Option<Figure> {
    let has_any = all.iter().any(|(_, d)| d.count() > 0);
    has_any.then(|| Figure::of(name, caption, cdf(x, y, all)))
}
