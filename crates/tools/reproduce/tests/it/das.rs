//! The whole reproduction of the AODV testbed, with two seeds.

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use wayhop_report::{Figure, Plot, Row};
use wayhop_reproduce::{Options, Outcome, das};

use crate::figures_written;

fn reproduce(dir: &Path, seeds: u64, threads: usize) -> Outcome {
    let options = Options { first_seed: 1, seeds, threads, keep_runs: false };
    das::reproduce(&options, dir, &AtomicBool::new(false), |_| ()).expect("the scenarios run")
}

/// Both seeds, made once for all tests.
fn outcome() -> &'static Outcome {
    static OUTCOME: OnceLock<Outcome> = OnceLock::new();
    OUTCOME.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a directory");
        let outcome = reproduce(dir.path(), 2, 2);
        assert!(outcome.complete);
        assert_eq!(figures_written(&outcome, dir.path()), 7, "Tables 2 to 5, and Figures 2 to 4");
        outcome
    })
}
fn rows() -> &'static [Row] {
    &outcome().rows
}
fn figure(name: &str) -> &'static Figure {
    let mut figures = outcome().page.sections.iter().flat_map(|s| &s.figures);
    figures.find(|f| f.name == name).unwrap_or_else(|| panic!("no {name}"))
}
fn points<'a>(plot: &'a Plot, series: &str) -> &'a [[f64; 2]] {
    &plot.series.iter().find(|s| s.name == series).unwrap_or_else(|| panic!("no series {series}")).points
}

fn row(artefact: &str, row: &str, quantity: &str) -> &'static Row {
    crate::row(rows(), artefact, row, quantity)
}
fn ours(artefact: &str, of: &str, quantity: &str) -> f64 {
    row(artefact, of, quantity).ours.unwrap_or_else(|| panic!("{artefact}, {of}, {quantity}"))
}
fn received(hops: usize, load: &str) -> f64 {
    ours(["Table 4", "Table 5"][hops - 3], load, "received_pct")
}

/// One test, as each one runs in a process of its own, and the reproduction takes longer than all that is asked of it.
#[test]
fn the_paper_is_reproduced() {
    every_number_of_the_paper_has_a_row_of_ours_or_a_reason();
    the_cards_send_and_receive_what_table_1_says();
    a_hop_more_takes_what_the_paper_measured_within_a_quarter();
    latency_under_load_rises_with_repeated_requests();
    the_knee_is_where_the_paper_has_it();
    losses_are_at_the_first_two_links_and_the_shares_make_a_whole();
    figure_3_ends_with_the_whole_file_after_the_time_that_the_goodput_says();
    figure_4_has_every_segment_and_acknowledges_every_second_over_one_hop();
}

fn every_number_of_the_paper_has_a_row_of_ours_or_a_reason() {
    for r in rows() {
        assert_eq!(r.ours.is_some(), !r.runs.is_empty(), "{r:?}");
        let is_far = r.difference_pct().is_some_and(|pct| pct.abs() > 25.0);
        assert!(!is_far || !r.note.is_empty(), "a large miss without a word: {r:?}");
        assert!(r.ci95.is_none_or(|[low, _]| low >= 0.0), "{r:?}");
        assert!(r.ours.is_none_or(f64::is_finite), "{r:?}");
        assert!(r.ours.is_some() || !r.note.is_empty(), "{r:?}");
    }
    let without: Vec<&Row> = rows().iter().filter(|r| r.paper.is_some() && r.ours.is_none()).collect();
    // FTP; and over one hop, where no node is hidden, no route is lost by itself.
    assert!(
        without.iter().all(|r| r.artefact == "Figure 3" || (r.artefact == "Table 3" && r.row == "1 hop"))
    );
    // 9 loads of Tables 4 (7 columns) and 5 (9), all printed.
    let printed = |table| rows().iter().filter(|r| r.artefact == table && r.paper.is_some()).count();
    assert_eq!((printed("Table 4"), printed("Table 5")), (63, 81));
}

fn the_cards_send_and_receive_what_table_1_says() {
    for card in ["PCMCIA", "ISA"] {
        for quantity in ["max_send_mbps", "max_received_mbps", "transmit_mtu_ms"] {
            let r = row("Table 1", card, quantity);
            let (ours, paper) = (r.ours.unwrap(), r.paper.unwrap());
            assert!((ours / paper - 1.0).abs() < 0.03, "{card} {quantity}: {ours} instead of {paper}");
        }
    }
}

fn a_hop_more_takes_what_the_paper_measured_within_a_quarter() {
    let r = row("Table 2", "per hop after the first", "latency_ms");
    let (per_hop, paper) = (r.ours.unwrap(), r.paper.unwrap());
    assert!((per_hop / paper - 1.0).abs() < 0.25, "{per_hop} ms instead of {paper} ms");
    for hops in HOPS {
        let r = row("Table 2", hops, "latency_ms");
        assert!((r.ours.unwrap() / r.paper.unwrap() - 1.0).abs() < 0.15, "{r:?}");
    }
    // The desktop's card is why the first hop is short.
    assert!(
        ours("Section 4.1", "1 hop from a laptop", "latency_ms")
            > ours("Table 2", "1 hop", "latency_ms") + 1.0
    );
}

fn latency_under_load_rises_with_repeated_requests() {
    let latency = |hops| ours("Table 3", hops, "latency_ms");
    assert!(latency("2 hops") < 100.0, "{}", latency("2 hops"));
    assert!(latency("4 hops") > 2.0 * ours("Table 2", "4 hops", "latency_ms"));
    assert!(ours("Table 3", "4 hops", "repeated_pct") > 0.0);
}

fn the_knee_is_where_the_paper_has_it() {
    for hops in [3, 4] {
        assert!(received(hops, "0.1 Mb/s") > 97.0 && received(hops, "0.2 Mb/s") > 97.0);
        assert!(received(hops, "0.4 Mb/s") < 92.0);
        assert_eq!(ours("Figure 2", &format!("{hops} hops"), "max_error_free_mbps"), 0.2);
    }
    assert!(received(3, "0.9 Mb/s") < 70.0 && received(4, "0.9 Mb/s") < 50.0);
    for load in ["0.5 Mb/s", "0.7 Mb/s", "0.9 Mb/s"] {
        assert!(received(4, load) < received(3, load), "{load}");
    }
    // "Almost ideal."
    assert!(ours("Figure 2", "1 hop", "max_received_mbps") > 0.89);
    assert!(ours("Figure 2", "2 hops", "max_received_mbps") > 0.8);
}

fn losses_are_at_the_first_two_links_and_the_shares_make_a_whole() {
    for (table, hops) in [("Table 4", 3), ("Table 5", 4)] {
        for tenths in 1..=9 {
            let load = format!("0.{tenths} Mb/s");
            let mut sum = ours(table, &load, "received_pct");
            let (mut first_two, mut lost) = (0.0, 0.0);
            for n in 1..=hops {
                let node = ours(table, &load, &format!("node_{n}_drops_pct"));
                let link = ours(table, &load, &format!("link_{n}_to_{}_lost_pct", n + 1));
                sum += node + link;
                lost += node + link;
                first_two += if n <= 2 { node + link } else { 0.0 };
            }
            assert!((sum - 100.0).abs() < 1e-6, "{table}, {load}: {sum}");
            assert!(tenths < 3 || first_two > 0.85 * lost, "{table}, {load}: {first_two} of {lost}");
        }
    }
}

const HOPS: [&str; 4] = ["1 hop", "2 hops", "3 hops", "4 hops"];

fn figure_3_ends_with_the_whole_file_after_the_time_that_the_goodput_says() {
    let plot = &figure("Figure 3").panels[0].plot;
    for hops in HOPS {
        let line = points(plot, hops);
        assert!(line.windows(2).all(|w| w[0][0] < w[1][0] && w[0][1] < w[1][1]), "{hops}: never back");
        let [seconds, megabytes] = *line.last().expect("points");
        assert!((megabytes - 14.0).abs() < 1e-9, "{hops}: {megabytes} MB");
        // The row is the mean of two runs, the line the first of them.
        let kbytes_per_s = 14e3 / seconds;
        let row = row("Figure 3", hops, "received_kbytes_per_s");
        let [low, high] = row.ci95.expect("two seeds");
        assert!((low..=high).contains(&kbytes_per_s), "{hops}: {kbytes_per_s} KB/s, {row:?}");
    }
}

fn figure_4_has_every_segment_and_acknowledges_every_second_over_one_hop() {
    let panels = &figure("Figure 4").panels;
    assert_eq!(panels.iter().map(|p| p.title.as_str()).collect::<Vec<_>>(), HOPS);
    for p in panels {
        let sent = points(&p.plot, "data sent");
        // 25,000 octets in segments of 1460.
        assert!((17..=18).contains(&sent.len()), "{}: {} segments", p.title, sent.len());
        let acks = points(&p.plot, "acknowledgement received");
        assert!(acks.len() <= sent.len() + 1, "{}: {} acknowledgements", p.title, acks.len());
        // What is acknowledged was sent before.
        for [at, octet] in acks {
            let before = sent.iter().filter(|[_, first]| first < octet);
            assert!(before.clone().all(|[t, _]| t < at), "{}: acknowledged before it was sent", p.title);
        }
    }
    // "In TCP Reno normally alternate packets are acknowledged"; the stretch may begin between two.
    let one_hop = points(&panels[0].plot, "acknowledgement received").len();
    assert!((8..=10).contains(&one_hop), "{one_hop} acknowledgements");
}

#[test]
fn rows_do_not_depend_on_jobs_and_an_interruption_keeps_whole_seeds() {
    let dir = tempfile::tempdir().expect("a directory");
    // Commands name the seeds that were asked for.
    let without_runs =
        |rows: Vec<Row>| -> Vec<Row> { rows.into_iter().map(|r| Row { runs: vec![], ..r }).collect() };
    let one = without_runs(reproduce(dir.path(), 1, 3).rows);
    let stop = AtomicBool::new(false);
    let options = Options { first_seed: 1, seeds: 3, threads: 1, keep_runs: false };
    let per_seed = das::runs(&options) / 3;
    let raise = |n| stop.store(n == per_seed, Ordering::Relaxed);
    let outcome = das::reproduce(&options, dir.path(), &stop, raise).expect("runs");
    assert!(!outcome.complete);
    assert!(outcome.page.html().expect("a page").contains("runs are missing"));
    let stopped = without_runs(outcome.rows);
    let differs = one.iter().zip(&stopped).find(|(a, b)| a != b);
    assert!(differs.is_none() && one.len() == stopped.len(), "{differs:?}");
}
