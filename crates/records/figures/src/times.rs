//! Distributions of times.

use wayhop_report::{Distribution, Figure, cdf, cdf_of};

use crate::column::Column;
use crate::runs::Runs;
use crate::traffic::Traffic;
use crate::words::{grouped, shortfalls};

/// Every packet that arrived, as shares of those or of all that were sent.
pub(crate) fn latency(runs: &Runs<'_>) -> Option<Figure> {
    let arrived = |traffic: &[Traffic]| {
        let mut all = Distribution::default();
        for t in traffic {
            all.merge(&t.latency_ms);
        }
        all
    };
    let over_sent = runs.choices.over_sent;
    let of = |(c, traffic): (&Column, &[Traffic])| {
        let arrived = arrived(traffic);
        let all = if over_sent {
            // Sent one way, each once for every node that it is for.
            let flows = c.runs.iter().flat_map(|r| &r.summary.flows);
            flows.filter(|f| f.kind != "ping").filter_map(|f| f.sent).sum()
        } else {
            arrived.count()
        };
        (runs.legend(c), arrived, all)
    };
    let all: Vec<(String, Distribution, u64)> = runs.traffic().map(of).collect();
    let (what, lost) = if over_sent {
        ("sent", "A line ends at the share that arrived")
    } else {
        ("that arrived", "Lost packets are not included")
    };
    let caption = format!(
        "Over packets {what}{}. One-way latency of first copies, all flows but pings: {}. {lost}.{}",
        pooled(runs),
        counts(runs, all.iter().map(|(_, _, n)| *n), ["packet", "packets"]),
        shortfalls(runs),
    );
    let has_any = all.iter().any(|(_, d, _)| d.count() > 0);
    has_any.then(|| Figure::of("Latency", &caption, cdf_of("latency (ms)", &format!("packets {what}"), &all)))
}

/// Every search that found a route.
pub(crate) fn searches(runs: &Runs<'_>) -> Option<Figure> {
    let took = |c: &Column| -> Distribution {
        let all = c.runs.iter().flat_map(|r| r.searches.iter().flatten());
        all.filter_map(|s| Some(s.took?.as_secs_f64() * 1e3)).collect()
    };
    let all: Vec<_> = runs.columns.iter().map(|c| (runs.legend(c), took(c))).collect();
    let caption = format!(
        "Over searches that found a route{}: {}. Times are from the first request of a search to its route. Failed \
         searches are not included.{}",
        pooled(runs),
        counts(runs, all.iter().map(|(_, d)| d.count()), ["search", "searches"]),
        shortfalls(runs),
    );
    let has_any = all.iter().any(|(_, d)| d.count() > 0);
    let plot = || cdf("search (ms)", "searches that found a route", &all);
    has_any.then(|| Figure::of("Searches for routes", &caption, plot()))
}

fn pooled(runs: &Runs<'_>) -> &'static str {
    if runs.columns.iter().any(|c| c.runs.len() > 1) { ", all runs of a line combined" } else { "" }
}

fn counts(runs: &Runs<'_>, all: impl Iterator<Item = u64>, what: [&str; 2]) -> String {
    let of = |(c, n): (&Column, u64)| match runs.columns.len() {
        1 => format!("{} {}", grouped(n), what[usize::from(n != 1)]),
        _ => format!("{} of {}", grouped(n), c.name),
    };
    runs.columns.iter().zip(all).map(of).collect::<Vec<_>>().join(", ")
}
