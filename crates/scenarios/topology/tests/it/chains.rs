//! Chain throughputs and the expected throughput.

use proptest::prelude::*;
use wayhop_core::Time;
use wayhop_topology::{ChainThroughput, FlowTopology, Pair, PathInterval};

/// A flow of 1000 s with these per cent of the time at 1, 2, ... hops, and without a path for the rest.
fn flow(percent: &[f64]) -> FlowTopology {
    let mut steps = Vec::new();
    let mut from_s = 0.0;
    for (k, p) in percent.iter().enumerate() {
        steps.push(PathInterval { from: Time::from_secs_f64(from_s), hops: Some(k as u16 + 1) });
        from_s += 10.0 * p;
    }
    steps.push(PathInterval { from: Time::from_secs_f64(from_s), hops: None });
    let pair = Pair { src: 0, dst: 1, from: Time::ZERO, until: Time::from_secs_f64(1000.0) };
    FlowTopology { pair, steps }
}

#[test]
fn the_expected_throughput_is_that_of_the_papers_table() {
    // Holland and Vaidya 1999, Figure 3: patterns 2, 6, 22 and 24, their expected throughput and per cent of the time at
    // 1 to 6 and more hops; the chains are those that the table's rows have in common.
    let chains =
        ChainThroughput::new([1353.0, 671.0, 446.0, 270.0, 182.0, 161.0, 142.0].map(|k| k * 1e3).to_vec());
    let chains = chains.unwrap();
    for (kbps, percent) in [
        (853.9, [36.8, 45.5, 8.8, 4.4, 0.0, 0.0, 0.0]),
        (972.2, [52.2, 23.3, 24.5, 0.0, 0.0, 0.0, 0.0]),
        (541.3, [13.4, 24.8, 35.7, 5.7, 5.7, 3.9, 1.7]),
        (552.0, [15.0, 28.6, 15.8, 15.9, 18.3, 6.2, 0.0]),
    ] {
        let ours = chains.expected_bps(&flow(&percent)).unwrap() / 1e3;
        // The table's per cent are rounded to 0.1, of up to 1353 kb/s.
        assert!((ours - kbps).abs() < 1.5, "{ours} {kbps}");
    }
}

#[test]
fn longer_chains_carry_what_the_last_does_and_none_carries_nothing() {
    let c = ChainThroughput::parse("# measured\nhops, bps, runs\n1, 1000, 5\n2, 400, 5\n").unwrap();
    assert_eq!([0, 1, 2, 3, 99].map(|h| c.over(h)), [0.0, 1000.0, 400.0, 400.0, 400.0]);
    assert_eq!(ChainThroughput::parse(&c.to_csv()), Ok(c));
}

#[test]
fn a_wrong_file_is_refused_with_its_line() {
    for (text, message) in [
        ("", "line 1: the file is empty; start it with hops,kbps"),
        ("hops;kbps\n", "line 1: \"hops;kbps\" is not a header; write hops,kbps or hops,bps"),
        ("hops,kbps\n", "line 1: the file has no chains; add a line for each number of hops from 1 on"),
        (
            "hops,kbps\n1,5\n3,4\n",
            "line 3: found \"3\" where 2 hops are expected; list 1, 2, 3, ... hops in order",
        ),
        ("hops,kbps\n1,fast\n", "line 2: \"fast\" is not a throughput; give a number of at least 0"),
        ("hops,kbps\n1,-1\n", "line 2: \"-1\" is not a throughput; give a number of at least 0"),
        ("hops,kbps\n1,5\n>1,4\n3,1\n", "line 4: there is a line after the last one; remove it"),
    ] {
        assert_eq!(ChainThroughput::parse(text).unwrap_err().to_string(), message, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "(hops,k?bps\n)?([>0-9.,a#-]{0,9}\n){0,5}") {
        if let Ok(c) = ChainThroughput::parse(&text) {
            prop_assert!(!c.bps().is_empty() && c.bps().iter().all(|b| b.is_finite() && *b >= 0.0));
            prop_assert_eq!(ChainThroughput::parse(&c.to_csv()), Ok(c));
        }
    }
}
