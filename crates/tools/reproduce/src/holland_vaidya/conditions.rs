//! Figure 3, and the profiles of Figures 4 to 53: the paths that movement allowed the connection, and its throughput.

use wayhop_report::{Axis, Figure, Mark, Panel, Plot, Row, Section, Series};
use wayhop_scenario::Resolved;
use wayhop_topology::{ChainThroughput, FlowTopology, Pair, survey};

use super::paper;
use super::plan::{BASE_MPS, Mechanism, SPEEDS_MPS, duration_s};
use super::transfer::Transfers;

/// How a column of Figure 3 is taken from a pattern.
type ColumnValue = fn(&FlowTopology) -> f64;

/// The columns of Figure 3, each with its name as a quantity and its head in the table of every pattern.
const COLUMNS: [(&str, &str, &str, ColumnValue); 11] = [
    ("path_changes", "path_changes", "path changes", |t| t.path_changes() as f64),
    ("hop_changes", "hop_changes", "hop changes", |t| t.hop_changes() as f64),
    ("partitions", "partitions", "partitions", |t| t.partitions() as f64),
    ("pct_1hop", "at_1_hop_pct", "% at 1 hop", |t| at(t, 1)),
    ("pct_2", "at_2_hops_pct", "% at 2", |t| at(t, 2)),
    ("pct_3", "at_3_hops_pct", "% at 3", |t| at(t, 3)),
    ("pct_4", "at_4_hops_pct", "% at 4", |t| at(t, 4)),
    ("pct_5", "at_5_hops_pct", "% at 5", |t| at(t, 5)),
    ("pct_6", "at_6_hops_pct", "% at 6", |t| at(t, 6)),
    ("pct_more", "farther_pct", "% farther", farther),
    ("pct_none", "no_path_pct", "% no path", |t| 100.0 * t.unreachable_share().unwrap_or(0.0)),
];

pub(crate) fn heads() -> [&'static str; COLUMNS.len()] {
    COLUMNS.map(|(_, _, head, _)| head)
}

fn farther(t: &FlowTopology) -> f64 {
    100.0 * t.hop_share().iter().skip(6).fold(0.0, |sum, s| sum + s)
}

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
    pub(crate) fn new(pattern: u64, scenario: &Resolved) -> Option<Self> {
        let flow = scenario.flows.first()?;
        let (src, dst) = (flow.src.0, flow.dst.0);
        let pair = Pair { src, dst, from: flow.start, until: scenario.duration };
        let range_m = scenario.radio().nominal_range_m();
        let found = survey(&scenario.tracks, &scenario.outages, range_m, scenario.duration, &[pair]);
        Some(Self { pattern, topology: found.flows.into_iter().next()? })
    }

    /// The columns of Figure 3 behind the expected throughput.
    pub(crate) fn cells(&self) -> [f64; COLUMNS.len()] {
        COLUMNS.map(|(.., of)| of(&self.topology))
    }

    /// The expected throughput over these chains, kb/s.
    pub(crate) fn expected_kbps(&self, chains: &ChainThroughput) -> Option<f64> {
        Some(chains.expected_bps(&self.topology)? / 1e3)
    }
}

pub(crate) fn section(all: &[Conditions]) -> Section {
    let rows = COLUMNS.into_iter().map(|(column, quantity, _, of)| {
        row(column, quantity).with(all.iter().map(|c| Some(of(&c.topology))))
    });
    Section::new(
        "Figure 3: network conditions",
        "What movement and a range of 250 m allowed nodes 1 and 2, computed from the exact times at which links appear \
         and disappear. A path change is counted when the hop count changes, or when the last shortest path that \
         existed since the previous change breaks (docs/concepts/topology.md). The paper's patterns are not published, \
         so ours are drawn by its rules. Two samples are compared, so the paper's means have intervals too, given in \
         the notes. All patterns are in patterns.html and patterns.csv beside this page.",
    )
    .rows(rows.collect())
}

fn row(column: &str, quantity: &str) -> Row {
    let row = Row::new("Figure 3", "mean of the patterns", quantity, paper::mean_of(column));
    row.note(paper::interval_in_words(column))
}

/// The figure of one pattern: distance in hops with its path changes, and the throughput at each speed.
pub(crate) fn figure(c: &Conditions, runs: &Transfers) -> Figure {
    let mut panels = vec![Panel::new("(a) distance", distance(c))];
    for (letter, speed) in ('b'..).zip(SPEEDS_MPS) {
        let Some(t) = runs.of(c.pattern, speed, Mechanism::Reno) else { continue };
        panels.push(Panel::new(&format!("({letter}) {speed} m/s"), throughput(speed, &t.acknowledged)));
    }
    Figure::new(
        &format!("Pattern {}", c.pattern),
        "The shortest path in hops over time; ticks above it mark path changes. Below: throughput of TCP Reno per \
                  second.",
        panels,
    )
}

fn distance(c: &Conditions) -> Plot {
    let mut points = Vec::new();
    let mut most = 1.0_f64;
    for (step, end) in c.topology.intervals() {
        let hops = step.hops.map_or(f64::NAN, f64::from);
        most = most.max(hops);
        points.extend([[step.from.as_secs_f64(), hops], [end.as_secs_f64(), hops]]);
    }
    let top = most + 0.6;
    let ticks = c.topology.steps.iter().skip(1).map(|s| [s.from.as_secs_f64(), top]).collect();
    Plot::new(
        Axis::new("time (s)").from_to(0.0, duration_s(BASE_MPS)),
        Axis::new("distance (hops)").from_to(0.0, most + 1.0),
    )
    .with(Series::new("shortest path", Mark::Line, 0, points))
    .with(Series::new("path change", Mark::Plus, 6, ticks))
}

fn throughput(speed_mps: u32, acknowledged: &[u32]) -> Plot {
    let kbps = |(s, octets): (usize, &u32)| [s as f64 + 0.5, f64::from(*octets) * 8.0 / 1e3];
    let points = acknowledged.iter().enumerate().map(kbps).collect();
    Plot::new(
        Axis::new("time (s)").from_to(0.0, duration_s(speed_mps)),
        Axis::new("throughput (kb/s)").from_to(0.0, 1_500.0),
    )
    .with(Series::new("", Mark::Line, 0, points))
}
