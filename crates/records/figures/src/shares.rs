//! Figures of counts: by cause, by type, by hops.

use std::collections::BTreeMap;

use wayhop_report::{Axis, Estimate, Figure, Plot, Spread, by_name, lines};
use wayhop_trace::{Summary, ratio};

use crate::runs::{Runs, estimate};
use crate::words::{left_out, means};

pub(crate) fn overhead(runs: &Runs<'_>) -> Option<Figure> {
    let of = |s: &Summary| s.totals.by_type.clone();
    let plot = named(runs, Axis::new("transmissions per run").within(0.0, f64::INFINITY), of, |s, kind| {
        Some(s.totals.by_type.get(kind).copied().unwrap_or(0) as f64)
    })?;
    let caption = format!(
        "{} Routing messages by type; each hop of a message counts once, without MAC retries.",
        means(runs)
    );
    Some(Figure::of("Overhead", &caption, plot))
}

/// Cause of packets that were held when the run ended.
const HELD: &str = "held at the end";

pub(crate) fn losses(runs: &Runs<'_>) -> Option<Figure> {
    // A lab does not tell what became of each packet.
    let knows = |s: &Summary| s.totals.dropped.is_some() && s.totals.sent > 0;
    let of = |s: &Summary| {
        let mut all = if knows(s) { s.totals.drops.clone() } else { BTreeMap::new() };
        all.extend(s.totals.held.filter(|h| *h > 0 && knows(s)).map(|h| (HELD.to_owned(), h)));
        all
    };
    let plot = named(runs, Axis::new("packets sent (%)").within(0.0, 100.0), of, |s, cause| {
        let n = if cause == HELD { s.totals.held? } else { s.totals.drops.get(cause).copied().unwrap_or(0) };
        if knows(s) { ratio(n, s.totals.sent).map(|r| 100.0 * r) } else { None }
    })?;
    let all: Vec<&Summary> = runs.columns.iter().flat_map(|c| &c.runs).map(|r| &r.summary).collect();
    let unknown = all.iter().filter(|s| !knows(s)).count();
    let caption = format!(
        "{}{} Share of the packets sent that were lost, by the cause that ended their last copy, or were still in transit \
         at the end of the run.",
        means(runs),
        left_out(unknown, all.len(), "the fate of packets")
    );
    Some(Figure::of("Losses", &caption, plot))
}

/// A mark for each name that a run has, the largest at the top.
fn named(
    runs: &Runs<'_>,
    x: Axis,
    of: impl Fn(&Summary) -> BTreeMap<String, u64>,
    value: impl Fn(&Summary, &str) -> Option<f64>,
) -> Option<Plot> {
    let mut sizes: BTreeMap<String, u64> = BTreeMap::new();
    for run in runs.columns.iter().flat_map(|c| &c.runs) {
        for (name, n) in of(&run.summary) {
            *sizes.entry(name).or_default() += n;
        }
    }
    let mut names: Vec<String> = sizes.keys().filter(|n| sizes[*n] > 0).cloned().collect();
    names.sort_by_key(|n| std::cmp::Reverse(sizes[n]));
    let by_name_and_column: Vec<Vec<Option<Estimate>>> =
        names.iter().map(|n| runs.estimates(|r| value(&r.summary, n))).collect();
    let column = |i: usize| by_name_and_column.iter().map(|all| all[i]).collect();
    let all: Vec<_> = runs.columns.iter().enumerate().map(|(i, c)| (runs.legend(c), column(i))).collect();
    (!names.is_empty()).then(|| by_name(x, &names, &all))
}

/// The least share of packets that is drawn, per cent: a pixel.
const LEAST_PCT: f64 = 0.2;

pub(crate) fn hops(runs: &Runs<'_>) -> Option<Figure> {
    let share = |hops: &[u64], h: usize| {
        let all: u64 = hops.iter().sum();
        ratio(hops.get(h - 1).copied().unwrap_or(0), all).map(|r| 100.0 * r)
    };
    let longest = runs.traffic().flat_map(|(_, t)| t).map(|t| t.hops.len()).max().unwrap_or(0);
    let is_seen = |h: &usize| {
        runs.traffic().flat_map(|(_, t)| t).any(|t| share(&t.hops, *h).is_some_and(|s| s >= LEAST_PCT))
    };
    let most = (1..=longest).rev().find(is_seen).unwrap_or(0);
    let all: Vec<_> = runs
        .traffic()
        .map(|(c, traffic)| {
            let at = |h: usize| (h as f64, estimate(traffic.iter().map(|t| share(&t.hops, h))));
            (runs.legend(c), (1..=most).map(at).collect::<Vec<_>>())
        })
        .collect();
    let without = runs.traffic().flat_map(|(_, t)| t).filter(|t| t.hops.is_empty()).count();
    let count = runs.columns.iter().map(|c| c.runs.len()).sum();
    let farther = if longest > most {
        format!(
            " Hop counts from {} to {longest} have less than {LEAST_PCT} % in every run and are not drawn.",
            most + 1
        )
    } else {
        String::new()
    };
    let caption = format!(
        "{}{} Share of the packets delivered, without pings, by the hop count of their first copy (from its time to \
         live).{farther}",
        means(runs),
        left_out(without, count, "the share")
    );
    let (x, y) = (
        Axis::new("hops").whole().from_to(0.5, most as f64 + 0.5),
        Axis::new("packets delivered (%)").within(0.0, 100.0),
    );
    (most > 0).then(|| Figure::of("Hops", &caption, lines(x, y, &all, Spread::Bars)))
}
