//! Throughput of static chains: the T of equation 1.

use wayhop_report::{Axis, Estimate, Figure, Mark, Row, Section, Series, Spread, lines, mean};
use wayhop_topology::ChainThroughput;

use super::paper;
use super::plan::MAX_HOPS;
use crate::table::hops_in_words;

/// The throughput of each chain, by hops, kb/s, seed by seed.
pub(crate) type Chains = [Vec<f64>; MAX_HOPS];

/// For equation 1, as far as there are chains.
pub(crate) fn throughput(chains: &Chains) -> Option<ChainThroughput> {
    ChainThroughput::new(chains.iter().map_while(|runs| Some(mean(runs)? * 1e3)).collect())
}

pub(crate) fn section(chains: &Chains) -> Section {
    let mut rows = Vec::new();
    for (hops, runs) in (1..).zip(chains) {
        let row = Row::new("Equation 1", &hops_in_words(hops), "chain_kbps", paper::chain_kbps(hops));
        let note = if hops > 6 {
            "The paper's is its figure for all chains of more than six hops."
        } else {
            "The paper prints none; its expected throughputs imply them."
        };
        rows.push(row.with(runs.iter().copied().map(Some)).note(note));
    }
    let all: Vec<(f64, Option<Estimate>)> =
        (1..).zip(chains).map(|(h, runs)| (f64::from(h), Estimate::of(runs))).collect();
    let printed = (1..=MAX_HOPS).filter_map(|h| Some([h as f64, paper::chain_kbps(h)?])).collect();
    let axes = (Axis::new("hops").from_to(0.0, 10.0), Axis::new("throughput (kb/s)").from_to(0.0, 1_500.0));
    let printed = Series::new("paper", Mark::Cross, 6, printed);
    let plot = lines(axes.0, axes.1, &[("ours".to_owned(), all)], Spread::Bars).with(printed);
    Section::new(
        "Static chains",
        "TCP Reno over DSR from one end of a chain to the other, neighbours 180 m apart, 300 s. The paper does not \
         give its node spacing; from 200 m a frame is sensed over only two hops, and chains of three hops have hidden \
         nodes and half the throughput. Ours are lower for two reasons. Up to three hops by the same 3 to 4 %: the \
         simulator of 1998 took less time for each exchange of frames; of what, is known in part. From four hops on: \
         after a search for a route without an answer DSR waits 2 s here, as in ns-2.35, whose chains carry as much as \
         these, and 0.5 s in the papers of 1998 (docs/concepts/reproductions.md).",
    )
    .rows(rows)
    .figures([Figure::of("Chains", "Throughput by chain length, means over seeds with 95 % intervals.", plot)])
}
