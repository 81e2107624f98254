//! The study on results made by hand.

use std::sync::atomic::AtomicBool;

use wayhop_report::Row;
use wayhop_trace::{Observer as _, TcpEvent};

use super::plan::{Job, SPEEDS_MPS};
use super::*;
use crate::testing::{self, at, find};

fn row<'a>(s: &'a Section, row: &str, quantity: &str) -> &'a Row {
    find(&s.rows, row, quantity)
}

fn conditions_at(pattern: u64, speed_mps: u32, mechanism: Mechanism) -> Conditions {
    let dir = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let runs = Runs::new(dir.path(), FILES, false, &stop).unwrap();
    let job = Job::Pattern { pattern, speed_mps, mechanism };
    Conditions::new(pattern, &job.resolve(&runs).unwrap()).unwrap()
}

fn conditions(patterns: u64) -> Vec<Conditions> {
    (1..=patterns).map(|pattern| conditions_at(pattern, 2, Mechanism::Reno)).collect()
}

#[test]
fn a_pattern_has_the_same_conditions_at_every_speed() {
    for pattern in [1, 2] {
        let at = SPEEDS_MPS.map(|speed_mps| conditions_at(pattern, speed_mps, Mechanism::Elfn).cells());
        for other in &at[1..] {
            for (a, b) in at[0].iter().zip(other) {
                assert!((a - b).abs() < 0.01, "pattern {pattern}: {at:?}");
            }
        }
    }
}

fn transfer(kbps: f64) -> Transfer {
    Transfer { kbps, ..Transfer::default() }
}

#[test]
fn gains_are_taken_pattern_by_pattern() {
    let all = conditions(3);
    let mut runs = Transfers::default();
    for (pattern, reno, elfn) in [(1, 100.0, 130.0), (2, 900.0, 930.0), (3, 500.0, 530.0)] {
        runs.add(pattern, 10, Mechanism::Reno, transfer(reno));
        runs.add(pattern, 10, Mechanism::Elfn, transfer(elfn));
    }
    // Without its pair a run says nothing.
    runs.add(3, 20, Mechanism::Elfn, transfer(1.0));
    let section = mechanisms::section(&all, &runs, &[Mechanism::Elfn]).unwrap();
    let gain = row(&section, "ELFN, window kept, 10 m/s", "gain_kbps");
    assert_eq!((gain.ours, gain.ci95, gain.seeds), (Some(30.0), Some([30.0, 30.0]), 3));
    assert!((row(&section, "ELFN, window kept, 10 m/s", "gain_pct").ours.unwrap() - 6.0).abs() < 1e-9);
    assert_eq!(row(&section, "ELFN, window kept, 20 m/s", "gain_kbps").ours, None);
}

#[test]
fn a_figure_of_gains_holds_every_gain_and_no_empty_panel() {
    let all = conditions(1);
    let mut runs = Transfers::default();
    runs.add(1, 10, Mechanism::Reno, transfer(100.0));
    runs.add(1, 10, Mechanism::Elfn, transfer(720.0));
    let section = mechanisms::section(&all, &runs, &[Mechanism::Elfn]).unwrap();
    let [told] = &section.figures[0].panels[..] else { panic!("pacing was not run") };
    assert_eq!(told.plot.y.range, Some([-700.0, 700.0]));
    runs.add(1, 10, Mechanism::Pacing, transfer(90.0));
    let section = mechanisms::section(&all, &runs, &[Mechanism::Elfn, Mechanism::Pacing]).unwrap();
    assert_eq!(section.figures[0].panels.len(), 2);
    let table = PatternTable::new(&all, &runs, &[Mechanism::Elfn], None);
    let csv = table.csv();
    let head = csv.lines().next().unwrap();
    assert!(head.contains("% at 2,") && head.ends_with("\"ELFN, window kept, 30 m/s (kb/s)\""), "{head}");
}

#[test]
fn a_pattern_that_never_leaves_one_hop_has_its_point() {
    let all = conditions(1);
    let mut runs = Transfers::default();
    runs.add(1, 2, Mechanism::Reno, transfer(1_353.0));
    let always = wayhop_topology::ChainThroughput::new(vec![1_353e3]);
    let section = throughput::section(&all, &runs, always.as_ref());
    let plot = &section.figures[0].panels[0].plot;
    let point = plot.series[1].points[0];
    for (at, range) in point.into_iter().zip([plot.x.range, plot.y.range]) {
        let [low, high] = range.unwrap();
        assert!((low..=high).contains(&at), "{point:?}");
    }
}

fn patterns_from(first_seed: u64, seeds: u64) -> crate::Options {
    crate::Options { first_seed, seeds, threads: 1, keep_runs: false }
}

#[test]
fn the_report_says_of_how_many_patterns_it_is() {
    let options = Options { runs: patterns_from(1, 2), mechanisms: vec![], profiles: vec![] };
    let found = Results { conditions: conditions(2), ..Results::default() };
    let lead = found.outcome(&options, std::path::Path::new("r")).page.lead;
    assert!(lead.contains("on 2 patterns of movement"), "{lead}");
}

#[test]
fn the_share_of_the_expected_throughput_is_of_equation_1() {
    let all = conditions(1);
    let mut found = Results { conditions: all, ..Results::default() };
    for (k, kbps) in [1_353.0, 671.0, 446.0, 270.0, 182.0, 161.0, 142.0, 142.0].into_iter().enumerate() {
        found.chains[k].push(kbps);
    }
    let cells = found.conditions[0].cells();
    // Equation 1 by hand, from the shares in per cent.
    let by_hand: f64 =
        cells[3..10].iter().zip([13.53, 6.71, 4.46, 2.70, 1.82, 1.61, 1.42]).map(|(p, t)| p * t).sum();
    found.transfers.add(1, 2, Mechanism::Reno, transfer(by_hand / 2.0));
    let chains = chains::throughput(&found.chains);
    let section = throughput::section(&found.conditions, &found.transfers, chains.as_ref());
    let share = row(&section, "2 m/s", "share_of_expected_pct").ours.unwrap();
    assert!((share - 50.0).abs() < 0.01, "{share}");
}

#[test]
fn seconds_have_what_was_acknowledged_in_them() {
    let mut s = Seconds::new(3.0);
    for (ms, acked) in [(100, 0), (900, 1_460), (950, 1_460), (2_100, 4_380), (2_200, 4_380), (9_000, 9_000)]
    {
        s.tcp(&TcpEvent { time: at(ms), acked, ..testing::tcp("ack") });
    }
    let t = Transfer::new(&wayhop_trace::Summary::default(), s, 0.0);
    assert_eq!(t.acknowledged, [1_460, 0, 2_920]);
}

#[test]
fn the_profile_has_the_distance_and_a_panel_a_speed() {
    let all = conditions(1);
    let mut runs = Transfers::default();
    runs.add(1, 2, Mechanism::Reno, Transfer { acknowledged: vec![1_000; 1_800], ..Transfer::default() });
    let figure = conditions::figure(&all[0], &runs);
    let [distance, throughput] = &figure.panels[..] else { panic!("{:?}", figure.panels.len()) };
    let ticks = &distance.plot.series[1].points;
    assert_eq!(ticks.len() as f64, all[0].cells()[0]);
    assert!(throughput.plot.series[0].points.iter().all(|p| (p[1] - 8.0).abs() < 1e-9));
}

#[test]
fn the_command_says_what_was_chosen() {
    let (runs_of_50, mechanisms) = (patterns_from(1, 50), Mechanism::ALL.to_vec());
    let mut options = Options { runs: runs_of_50, mechanisms, profiles: vec![1, 2, 3] };
    assert_eq!(options.command(), "wayhop reproduce holland-vaidya --seeds 50");
    assert_eq!(runs(&options), 8 * 5 + 50 * 4 * (8 + 2));
    options.mechanisms = vec![Mechanism::TcpF, Mechanism::Elfn];
    (options.runs.first_seed, options.profiles) = (7, vec![9]);
    assert_eq!(
        options.command(),
        "wayhop reproduce holland-vaidya --seeds 50 --first-seed 7 --mechanisms elfn,tcp-f --pattern 9"
    );
    options.mechanisms.clear();
    assert!(options.command().contains("--mechanisms none"));
}
