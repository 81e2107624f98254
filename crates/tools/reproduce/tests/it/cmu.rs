//! The whole reproduction, with one seed.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use wayhop_report::rows_json;
use wayhop_reproduce::{Options, Outcome, cmu};

use crate::{figures_written, row};

fn reproduce(dir: &Path, threads: usize) -> Outcome {
    let options = Options { first_seed: 1, seeds: 1, threads, keep_runs: false };
    cmu::reproduce(&options, dir, &AtomicBool::new(false), |_| ()).expect("the scenarios run")
}

/// What no run can give; the note of each row says why.
const WITHOUT_OURS: [(&str, &str); 7] = [
    ("Section 6.2", "one hop"),
    ("Section 6.5.3", "tcpdump keeps whole packets"),
    ("Section 9.1", "one hop lab, without DSR"),
    ("Section 9.1", "base station to node"),
    ("Section 9.1", "one hop outdoor, 5 MB, the slowest"),
    ("Section 9.1", "one hop outdoor, 5 MB, without the slowest"),
    ("Section 9.2", "two hop lab, 1 MB, the slowest"),
];

#[test]
fn every_number_of_the_paper_has_a_row_and_the_counts_hold_together() {
    let dir = tempfile::tempdir().expect("a directory");
    let outcome = reproduce(dir.path(), 2);
    let rows = &outcome.rows;
    assert!(outcome.complete);
    for r in rows {
        // One seed has no standard deviation over seeds.
        let lacks =
            WITHOUT_OURS.contains(&(r.artefact.as_str(), r.row.as_str())) || r.quantity == "goodput_sd_mbps";
        assert_eq!(r.ours.is_none(), lacks, "{r:?}");
        assert!(r.ours.is_some() || !r.note.is_empty(), "{r:?}");
        assert!(r.ours.is_none_or(f64::is_finite), "{r:?}");
    }
    for table in ["Table I", "Table II", "Table III", "Table IV"] {
        for row in ["T1", "T2", "T3", "T4", "T5", "Total"] {
            assert!(
                rows.iter().any(|r| r.artefact == table && r.row == row && r.paper.is_some()),
                "{table}, {row}"
            );
        }
    }
    for (row, paper) in [("all links", 4.0), ("links of E1 and E2", 220.0)] {
        assert!(
            rows.iter().any(|r| r.artefact == "Section 2" && r.row == row && r.paper == Some(paper)),
            "{row}"
        );
    }
    let deviations = rows.iter().filter(|r| r.quantity == "goodput_sd_mbps" && r.paper.is_some()).count();
    assert_eq!(deviations, 5);
    // What went to each first hop, and directly, is all that E1 transmitted (as in the paper's own tables).
    let ours = |artefact, who, quantity| row(rows, artefact, who, quantity).ours.expect("a number");
    let total = |artefact, quantity| ours(artefact, "Total", quantity);
    let e1 = |quantity| ours("Section 8.2", "E1 to E2", quantity);
    let direct = ours("Section 8.3", "E1 to E2 directly", "requests_sent");
    let sum = total("Table I", "packets_sent") + total("Table IV", "retransmissions") + direct;
    assert_eq!(sum, e1("requests_transmitted"));
    assert_eq!(
        e1("requests_transmitted") - e1("unique_requests_transmitted"),
        e1("retransmitted_or_duplicate")
    );
    assert!(total("Table II", "packets_received") >= total("Table I", "packets_received"));
    assert!(total("Table I", "packets_received") >= total("Table III", "passive_acks"));

    let figures = figures_written(&outcome, dir.path());
    assert_eq!(figures, 8, "Figures 7, 8, 11, 12, 13, 14, 15 with 16, and these with TCP");
    let text = std::fs::read_to_string(dir.path().join("rows.json")).expect("rows");
    assert_eq!(text, format!("{}\n", rows_json("cmu", rows)));
    let csv = std::fs::read_to_string(dir.path().join("rows.csv")).expect("rows");
    assert_eq!(csv.lines().count(), rows.len() + 1);
}

#[test]
fn the_rows_do_not_depend_on_the_number_of_jobs() {
    let dir = tempfile::tempdir().expect("a directory");
    assert_eq!(reproduce(dir.path(), 1).rows, reproduce(dir.path(), 3).rows);
}

#[test]
fn an_interrupted_reproduction_keeps_what_is_done() {
    let dir = tempfile::tempdir().expect("a directory");
    let stop = AtomicBool::new(false);
    let options = Options { first_seed: 1, seeds: 3, threads: 1, keep_runs: false };
    let all = cmu::runs(&options);
    let outcome =
        cmu::reproduce(&options, dir.path(), &stop, |n| stop.store(n == all / 3, Ordering::Relaxed))
            .expect("runs");
    assert!(!outcome.complete);
    assert!(outcome.rows.iter().all(|r| r.seeds <= 1));
    assert!(outcome.rows.iter().any(|r| r.seeds == 1));
    assert!(
        outcome
            .page
            .html()
            .expect("a page")
            .contains(&format!("interrupted; {} of {all} runs are missing", all - all / 3))
    );
}
