//! Figure 3: the paths that movement allowed the connection.

use wayhop_report::{Estimate, Row, Section, plain};
use wayhop_scenario::Resolved;
use wayhop_topology::{ChainThroughput, FlowTopology, Pair, survey};

use super::paper;

/// How a column of Figure 3 is taken from a pattern.
type ColumnValue = fn(&FlowTopology) -> f64;

/// The columns of Figure 3 with the name of each as a quantity.
const COLUMNS: [(&str, &str, ColumnValue); 11] = [
    ("path_changes", "path_changes", |t| t.path_changes() as f64),
    ("hop_changes", "hop_changes", |t| t.hop_changes() as f64),
    ("partitions", "partitions", |t| t.partitions() as f64),
    ("pct_1hop", "at_1_hop_pct", |t| at(t, 1)),
    ("pct_2", "at_2_hops_pct", |t| at(t, 2)),
    ("pct_3", "at_3_hops_pct", |t| at(t, 3)),
    ("pct_4", "at_4_hops_pct", |t| at(t, 4)),
    ("pct_5", "at_5_hops_pct", |t| at(t, 5)),
    ("pct_6", "at_6_hops_pct", |t| at(t, 6)),
    ("pct_more", "farther_pct", |t| 100.0 * t.hop_share().iter().skip(6).fold(0.0, |sum, s| sum + s)),
    ("pct_none", "no_path_pct", |t| 100.0 * t.unreachable_share().unwrap_or(0.0)),
];

/// The heads of [`cells`].
pub(crate) const HEADS: [&str; 11] = [
    "path changes",
    "hop changes",
    "partitions",
    "% at 1 hop",
    "% at 2",
    "% at 3",
    "% at 4",
    "% at 5",
    "% at 6",
    "% farther",
    "% no path",
];

fn at(t: &FlowTopology, hops: usize) -> f64 {
    100.0 * t.hop_share().get(hops - 1).copied().unwrap_or(0.0)
}

/// One pattern's conditions at the speed that it is drawn for.
#[derive(Clone, Debug)]
pub(crate) struct Conditions {
    /// Its seed.
    pub(crate) pattern: u64,
    /// The endpoints' shortest paths over time.
    pub(crate) topology: FlowTopology,
}

impl Conditions {
    /// Of this pattern, from its scenario.
    pub(crate) fn new(pattern: u64, scenario: &Resolved) -> Option<Self> {
        let flow = scenario.flows.first()?;
        let (src, dst) = (flow.src.0, flow.dst.0);
        let pair = Pair { src, dst, from: flow.start, until: scenario.duration };
        let range_m = scenario.radio().nominal_range_m();
        let found = survey(&scenario.tracks, &scenario.outages, range_m, scenario.duration, &[pair]);
        Some(Self { pattern, topology: found.flows.into_iter().next()? })
    }

    /// The columns of Figure 3 behind the expected throughput.
    pub(crate) fn cells(&self) -> [f64; 11] {
        COLUMNS.map(|(_, _, of)| of(&self.topology))
    }

    /// The expected throughput over these chains, kb/s.
    pub(crate) fn expected_kbps(&self, chains: &ChainThroughput) -> Option<f64> {
        Some(chains.expected_bps(&self.topology)? / 1e3)
    }
}

/// The section of Figure 3, with means over the patterns.
pub(crate) fn section(all: &[Conditions]) -> Section {
    let mut rows = Vec::new();
    for (column, quantity, of) in COLUMNS {
        let ours = all.iter().map(|c| Some(of(&c.topology)));
        rows.push(row(column, quantity).with(ours));
    }
    Section {
        heading: "Figure 3: network conditions".to_owned(),
        text: vec![
            "What movement and a range of 250 m allowed nodes 1 and 2, computed from the exact times at which links appear \
             and disappear. A path change is counted when the hop count changes, or when the last shortest path that \
             existed since the previous change breaks (docs/concepts/topology.md). The paper's patterns are not published, \
             so ours are drawn by its rules. Two samples are compared, so the paper's means have intervals too, given in \
             the notes. All patterns are in patterns.html and patterns.csv beside this page."
                .to_owned(),
        ],
        rows,
        ..Section::default()
    }
}

fn row(column: &str, quantity: &str) -> Row {
    let row = Row::new("Figure 3", "mean of the patterns", quantity, paper::mean_of(column));
    match paper::estimate(column) {
        Some(Estimate { mean, ci95: Some([low, high]), .. }) => row.note(format!(
            "The paper: {}, interval {} to {} from the spread of its patterns.",
            plain(mean),
            plain(low),
            plain(high)
        )),
        _ => row,
    }
}
