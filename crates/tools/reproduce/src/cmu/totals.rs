//! Sections 8.1 to 8.3: the ping test as a whole, and the direct link.

use std::collections::BTreeSet;

use wayhop_report::{Row, Section};

use super::links::loss_pct;
use super::paper::number;
use super::ping::Ping;

fn unique(p: &Ping) -> usize {
    p.transmissions.iter().map(|t| t.seq).collect::<BTreeSet<_>>().len()
}

pub(crate) fn section(runs: &[Ping]) -> Section {
    let row = |artefact, quantity, paper, value: fn(&Ping) -> Option<f64>| {
        Row::new(artefact, "E1 to E2", quantity, number(paper)).with(runs.iter().map(value))
    };
    Section::new(
        "Sections 8.1 and 8.2: the ping test",
        "Five cars drive between E1 and E2, and E1 pings E2 every 300 ms for 1000 s over whatever route DSR finds.",
    )
    .rows(vec![
        row("Section 8.1", "requests_originated", "originated", |p| Some(p.originated as f64)),
        row("Section 8.1", "loss_pct", "loss_pct", |p| loss_pct(p.replies.len(), p.originated))
            .note("Requests without a reply at E1; with 3013 replies to 3343 requests 9.87 %, which the paper rounds \
                   to 10."),
        row("Section 8.2", "requests_transmitted", "transmitted", |p| Some(p.transmissions.len() as f64)),
        row("Section 8.2", "unique_requests_transmitted", "originated", |p| Some(unique(p) as f64)),
        row("Section 8.2", "retransmitted_or_duplicate", "duplicates", |p| {
            Some((p.transmissions.len() - unique(p)) as f64)
        }),
        row("Section 8.2", "recycled", "recycled", |p| {
            Some(p.transmissions.iter().filter(|t| t.recycled).count() as f64)
        })
        .note("Withdrawn because the first hop was unreachable, and sent again: through another first hop, or through \
               the same one after three transmissions."),
    ])
}

pub(crate) fn direct_section(runs: &[Ping]) -> Section {
    let direct = |p: &Ping| {
        let e2 = p.target();
        let all = p.transmissions.iter().filter(|t| t.first_hop == e2).count();
        let first: Vec<u16> =
            p.transmissions.iter().filter(|t| t.first_hop == e2 && t.first).map(|t| t.seq).collect();
        let answered = first.iter().filter(|s| p.replies.contains_key(s)).count();
        (all, first.len(), answered)
    };
    let row = |quantity, paper, value: fn((usize, usize, usize)) -> Option<f64>| {
        Row::new("Section 8.3", "E1 to E2 directly", quantity, number(paper))
            .with(runs.iter().map(|p| value(direct(p))))
    };
    Section::new(
        "Section 8.3: the direct link of 671 m",
        "Now and then E1 reaches E2 without a car between them, far beyond the radio's 250 m.",
    )
    .rows(vec![
        row("requests_sent", "direct_sent", |(all, ..)| Some(all as f64)),
        row("originations", "direct_originations", |(_, first, _)| Some(first as f64)),
        row("replies", "direct_replies", |(.., answered)| Some(answered as f64)),
        row("loss_pct", "direct_loss_pct", |(_, first, answered)| loss_pct(answered, first)),
    ])
}
