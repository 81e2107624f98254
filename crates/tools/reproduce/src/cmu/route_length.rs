//! Table V: how many hops the routes of requests and replies had.

use wayhop_report::{Row, Section};

use super::paper;
use super::ping::Ping;

const LONGEST: usize = 4;

pub(crate) fn section(runs: &[Ping]) -> Section {
    // Of requests that got a reply, as in the paper.
    let requests = |p: &Ping| -> Vec<usize> {
        p.replies.keys().filter_map(|seq| p.request_hops.get(seq).copied()).collect()
    };
    let replies = |p: &Ping| -> Vec<usize> { p.replies.values().map(|(_, hops)| *hops).collect() };
    let mut rows = Vec::new();
    for (who, name, hops) in [
        ("echo_request", "echo request", &requests as &dyn Fn(&Ping) -> Vec<usize>),
        ("echo_reply", "echo reply", &replies),
    ] {
        let lengths: Vec<Vec<usize>> = runs.iter().map(hops).collect();
        let printed = |n: usize| paper::cell(paper::ROUTE_LENGTH, who, &n.to_string());
        for n in 1..=LONGEST {
            let count = |l: &Vec<usize>| Some(l.iter().filter(|h| **h == n).count() as f64);
            let quantity = format!("routes_of_{n}_{}", if n == 1 { "hop" } else { "hops" });
            rows.push(Row::new("Table V", name, &quantity, printed(n)).with(lengths.iter().map(count)));
        }
        let longer = |l: &Vec<usize>| Some(l.iter().filter(|h| **h > LONGEST).count() as f64);
        rows.push(Row::new("Table V", name, "routes_of_more_hops", 0.0).with(lengths.iter().map(longer)));
        let all: f64 = (1..=LONGEST).filter_map(printed).sum();
        let two_or_three = printed(2).zip(printed(3)).map(|(a, b)| 100.0 * (a + b) / all);
        let share = |l: &Vec<usize>| {
            let n = l.iter().filter(|h| matches!(h, 2 | 3)).count();
            (!l.is_empty()).then(|| 100.0 * n as f64 / l.len() as f64)
        };
        rows.push(
            Row::new("Table V", name, "two_or_three_hops_pct", two_or_three)
                .with(lengths.iter().map(share))
                .note("Computed from the table's counts."),
        );
    }
    Section::new("Table V: route lengths", "For pings whose reply reached E1.").rows(rows)
}
