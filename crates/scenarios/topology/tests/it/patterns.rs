//! Against another program's results for patterns that another generator made (`data/README.md`).

use std::path::Path;

use wayhop_core::Time;
use wayhop_scenario::Scenario;
use wayhop_topology::{ChainThroughput, FlowTopology, Pair, survey};

fn data(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// The paper's chains of 1 to 7 hops, as its table of patterns implies them.
fn chains() -> ChainThroughput {
    ChainThroughput::parse("hops,kbps\n1,1353\n2,671\n3,446\n4,270\n5,182\n6,161\n>6,142\n").unwrap()
}

fn from_1_to_2(pattern: u32) -> FlowTopology {
    let file = data(&format!("p{pattern:02}.tcl.gz"));
    let r = Scenario::from_ns2(&file, None, &["duration_s=1800".to_owned()]).unwrap().resolve().unwrap();
    let pair = Pair { src: 1, dst: 2, from: Time::ZERO, until: r.duration };
    survey(&r.tracks, &[], 250.0, r.duration, &[pair]).flows.remove(0)
}

#[test]
fn changes_partitions_and_hop_shares_are_those_of_another_program() {
    let table = std::fs::read_to_string(data("patterns.tsv")).unwrap();
    let mut patterns = 0;
    for line in table.lines().skip(1) {
        let row: Vec<f64> = line.split('\t').map(|v| v.parse().unwrap()).collect();
        let [pattern, expected_kbps, paths, hops, partitions] = row[..5] else { panic!("{line}") };
        let t = from_1_to_2(pattern as u32);
        let ours = [t.path_changes(), t.hop_changes(), t.partitions()].map(|n| n as f64);
        assert_eq!(ours, [paths, hops, partitions], "pattern {pattern}");
        // Per cent to one decimal: 1 to 6 hops, more, none.
        let share = t.hop_share();
        let mut percent: Vec<f64> = (0..6).map(|k| share.get(k).copied().unwrap_or(0.0)).collect();
        percent.extend([share.iter().skip(6).sum(), t.unreachable_share().unwrap()]);
        for (k, (ours, theirs)) in percent.iter().zip(&row[5..]).enumerate() {
            assert!((100.0 * ours - theirs).abs() < 0.051, "pattern {pattern}, column {k}: {ours} {theirs}");
        }
        let expected = chains().expected_bps(&t).unwrap() / 1e3;
        assert!((expected - expected_kbps).abs() < 0.3, "pattern {pattern}: {expected} {expected_kbps} kb/s");
        patterns += 1;
    }
    assert_eq!(patterns, 6);
}
