//! The figures that are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use wayhop_report::{Estimate, FEWEST_RUNS, percentile};
use wayhop_trace::{LatencyMs, Totals};

use crate::column::{Column, ColumnRun};

use super::flows::{Figures, FlowPlace, places};

/// Flows with rows of their own; the rest is in the totals.
const MOST_FLOWS: usize = 20;

/// One figure of every column.
pub struct FigureRow {
    /// What it is about: `flow 0`, `all flows`, `routing`, `searches`, `clock`.
    pub about: String,
    /// As the summary calls it, by the way to it from the flow or the totals: `latency_ms.p50`.
    pub quantity: String,
    /// One value a run, by column, in the order of its runs; `None` of a run that has none.
    pub values: Vec<Vec<Option<f64>>>,
    /// By column, whether its runs and those of the first are pairs: the runs that share a place in both share their seed.
    paired: Rc<[bool]>,
}

/// A column's difference to the first.
pub struct ColumnDifference {
    /// The difference, with its interval.
    pub estimate: Estimate,
    /// Of how many pairs there are, or of how many runs.
    pub of: usize,
    /// Whether it is of runs with the same seeds.
    pub is_paired: bool,
    /// Whether its interval leaves out zero, and is of enough runs to tell.
    pub is_sure: bool,
}

impl FigureRow {
    /// Whether it is about one flow.
    pub fn is_of_flow(&self) -> bool {
        self.about.starts_with("flow ")
    }
    /// The mean of a column, and how many runs there are.
    pub fn mean(&self, column: usize) -> (Option<Estimate>, usize) {
        let values = &self.values[column];
        (Estimate::of(&values.iter().copied().flatten().collect::<Vec<_>>()), values.len())
    }
    /// A column's difference to the first.
    pub fn difference(&self, column: usize) -> Option<ColumnDifference> {
        let (ours, first) = (&self.values[column], &self.values[0]);
        if self.paired[column] {
            let both = ours.iter().zip(first).filter_map(|(a, b)| Some((a.as_ref()?, b.as_ref()?)));
            let (a, b): (Vec<f64>, Vec<f64>) = both.unzip();
            let estimate = Estimate::of_differences(&a, &b)?;
            let is_sure = estimate.is_sure();
            return Some(ColumnDifference { estimate, of: ours.len(), is_paired: true, is_sure });
        }
        let [a, b] = [ours, first].map(|v| v.iter().copied().flatten().collect::<Vec<f64>>());
        let estimate = Estimate::of_difference(&a, &b)?;
        let is_sure = estimate.is_sure() && a.len().min(b.len()) >= FEWEST_RUNS;
        Some(ColumnDifference { estimate, of: ours.len() + first.len(), is_paired: false, is_sure })
    }
}

/// Whether the runs of two columns, which are in the order of their seeds, are pairs.
fn are_pairs(a: &Column, b: &Column) -> bool {
    let seeds = |c: &Column| c.runs.iter().map(|r| r.summary.seed).collect::<Vec<_>>();
    let (ours, theirs) = (seeds(a), seeds(b));
    ours == theirs && ours.windows(2).all(|two| two[0] != two[1])
}

/// All rows in which any column has a value.
pub fn rows(columns: &[Column]) -> Vec<FigureRow> {
    let paired = columns.iter().map(|c| are_pairs(c, &columns[0])).collect();
    let mut rows = Rows { columns, paired, list: Vec::new() };
    rows.totals();
    rows.routing();
    rows.searches();
    rows.clock();
    rows.flows();
    rows.list.retain(|r| r.values.iter().flatten().any(Option::is_some));
    rows.list
}

struct Rows<'a> {
    columns: &'a [Column],
    paired: Rc<[bool]>,
    list: Vec<FigureRow>,
}

impl Rows<'_> {
    fn add(&mut self, about: &str, quantity: &str, value: impl Fn(&ColumnRun) -> Option<f64>) {
        let of = |c: &Column| c.runs.iter().map(|r| value(r).filter(|v| v.is_finite())).collect();
        self.push(about, quantity, self.columns.iter().map(of).collect());
    }

    fn push(&mut self, about: &str, quantity: &str, values: Vec<Vec<Option<f64>>>) {
        let paired = Rc::clone(&self.paired);
        self.list.push(FigureRow { about: about.to_owned(), quantity: quantity.to_owned(), values, paired });
    }

    fn flows(&mut self) {
        for places in places(self.columns).into_iter().take(MOST_FLOWS) {
            let about = places[0][0].about(&self.columns[0].runs[0]);
            let of = |value: &dyn Fn(&ColumnRun, FlowPlace) -> Option<f64>| {
                let run = |(r, place): (&ColumnRun, &FlowPlace)| value(r, *place).filter(|v| v.is_finite());
                let column = |(c, places): (&Column, &Vec<FlowPlace>)| {
                    c.runs.iter().zip(places).map(run).collect::<Vec<_>>()
                };
                self.columns.iter().zip(&places).map(column).collect::<Vec<_>>()
            };
            let figure = |part: fn(Figures) -> Option<f64>| of(&|r, place| place.figures(r).and_then(part));
            let values = [
                ("sent", figure(|f| f.sent)),
                ("delivery_ratio", figure(|f| f.delivery_ratio)),
                ("held", figure(|f| f.held)),
                ("latency_ms.p50", figure(|f| f.latency_ms.map(|l| l.p50))),
                ("latency_ms.p95", figure(|f| f.latency_ms.map(|l| l.p95))),
                ("latency_ms.max", figure(|f| f.latency_ms.map(|l| l.max))),
                ("latency_ms.mean", figure(|f| f.latency_ms.map(|l| l.mean))),
                ("hops_mean", figure(|f| f.hops_mean)),
                ("goodput_bps", figure(|f| f.goodput_bps)),
                (
                    "first_search_ms",
                    of(&|r, place| r.first_search(place.flow).map(|s| s.as_secs_f64() * 1e3)),
                ),
            ];
            for (quantity, values) in values {
                self.push(&about, quantity, values);
            }
        }
    }

    fn times(&mut self, about: &str, name: &str, of: impl Fn(&ColumnRun) -> Option<LatencyMs>) {
        self.add(about, &format!("{name}.p50"), |r| of(r).map(|l| l.p50));
        self.add(about, &format!("{name}.p95"), |r| of(r).map(|l| l.p95));
        self.add(about, &format!("{name}.max"), |r| of(r).map(|l| l.max));
        self.add(about, &format!("{name}.mean"), |r| of(r).map(|l| l.mean));
    }

    fn totals(&mut self) {
        let about = "all flows";
        // Where kernels forward, what programs sent is not 0 but unknown.
        let knows = |r: &ColumnRun| r.summary.flows.iter().any(|f| f.sent.is_some());
        self.add(about, "sent", |r| knows(r).then_some(r.summary.totals.sent as f64));
        self.add(about, "delivery_ratio", |r| r.summary.totals.delivery_ratio);
        self.add(about, "held", |r| {
            r.summary.totals.held.filter(|_| !r.summary.flows.is_empty()).map(|n| n as f64)
        });
        self.times(about, "latency_ms", |r| r.summary.totals.latency_ms);
        self.times(about, "round_trip_ms", |r| r.summary.totals.round_trip_ms);
        self.add(about, "hops_mean", |r| r.summary.totals.hops_mean);
        self.add(about, "goodput_bps", |r| r.summary.totals.goodput_bps);
    }

    fn routing(&mut self) {
        type Load = fn(&Totals) -> Option<f64>;
        self.add("routing", "routing_packets", |r| Some(r.summary.totals.routing_packets as f64));
        self.add("routing", "routing_bytes", |r| Some(r.summary.totals.routing_bytes as f64));
        let loads: [(&str, Load); 6] = [
            ("normalised_routing_load", |t| t.normalised_routing_load),
            ("routing_bytes_per_byte", |t| t.routing_bytes_per_byte),
            ("normalised_mac_load", |t| t.normalised_mac_load),
            ("rfc2501.data_bits_per_bit", |t| t.rfc2501.data_bits_per_bit),
            ("rfc2501.control_bits_per_bit", |t| t.rfc2501.control_bits_per_bit),
            ("rfc2501.packets_per_packet", |t| t.rfc2501.packets_per_packet),
        ];
        for (name, of) in loads {
            self.add("routing", name, |r| of(&r.summary.totals));
        }
        self.counts("messages", "by_type", |t| &t.by_type);
        self.counts("drops", "drops", |t| &t.drops);
    }

    /// A row for each kind that a run has counted.
    fn counts(&mut self, about: &str, map: &str, of: fn(&Totals) -> &BTreeMap<String, u64>) {
        let counts = self.columns.iter().flat_map(|c| &c.runs).map(|r| of(&r.summary.totals));
        for kind in counts.flat_map(BTreeMap::keys).collect::<BTreeSet<_>>() {
            self.add(about, &format!("{map}.{kind}"), |r| {
                Some(of(&r.summary.totals).get(kind).copied().unwrap_or(0) as f64)
            });
        }
    }

    fn searches(&mut self) {
        fn took(r: &ColumnRun) -> Option<Vec<f64>> {
            let mut all: Vec<f64> =
                r.searches.as_ref()?.iter().filter_map(|s| Some(s.took?.as_secs_f64() * 1e3)).collect();
            all.sort_by(f64::total_cmp);
            Some(all)
        }
        let about = "searches";
        self.add(about, "answered", |r| took(r).map(|t| t.len() as f64));
        self.add(about, "failed", |r| {
            let all = r.searches.as_ref()?;
            Some(all.iter().filter(|s| s.took.is_none()).count() as f64)
        });
        self.add(about, "search_ms.p50", |r| percentile(&took(r)?, 0.5));
        self.add(about, "search_ms.p95", |r| percentile(&took(r)?, 0.95));
        self.add(about, "search_ms.max", |r| percentile(&took(r)?, 1.0));
    }

    fn clock(&mut self) {
        self.add("clock", "lateness_us.p99", |r| r.summary.lateness_us.as_ref().map(|l| l.p99));
        self.add("clock", "lateness_us.late_share", |r| r.summary.lateness_us.as_ref().map(|l| l.late_share));
    }
}
