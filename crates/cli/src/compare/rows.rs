//! The figures that are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use wayhop_figures::{Column, Run};
use wayhop_report::{Estimate, FEWEST_RUNS, percentile};
use wayhop_trace::{FlowSummary, LatencyMs, Summary, Totals};

/// What it costs to deliver, of a run's totals.
type Load = fn(&Totals) -> Option<f64>;

/// Flows with rows of their own; the rest is in the totals.
const MOST_FLOWS: usize = 20;

/// One figure of every column.
pub(crate) struct Row {
    /// What it is about: `flow 0`, `all flows`, `routing`, `searches`, `clock`.
    pub(super) about: String,
    /// As the summary calls it, by the way to it from the flow or the totals: `latency_ms.p50`.
    pub(super) quantity: String,
    /// One value a run, by column, in the order of its runs; `None` of a run that has none.
    pub(super) values: Vec<Vec<Option<f64>>>,
    /// By column, whether its runs and those of the first are pairs: the runs that share a place in both share their seed.
    paired: Rc<[bool]>,
}

/// A column's difference to the first.
pub(super) struct Difference {
    pub(super) estimate: Estimate,
    /// Of how many pairs there are, or of how many runs.
    pub(super) of: usize,
    /// Whether it is of runs with the same seeds.
    pub(super) is_paired: bool,
    /// Whether its interval leaves out zero, and is of enough runs to tell.
    pub(super) is_sure: bool,
}

impl Row {
    /// Whether it is about one flow.
    pub(super) fn is_of_flow(&self) -> bool {
        self.about.starts_with("flow ")
    }
    /// The mean of a column, and how many runs there are.
    pub(super) fn mean(&self, column: usize) -> (Option<Estimate>, usize) {
        let values = &self.values[column];
        (Estimate::of(&values.iter().copied().flatten().collect::<Vec<_>>()), values.len())
    }
    /// A column's difference to the first.
    pub(super) fn difference(&self, column: usize) -> Option<Difference> {
        let (ours, first) = (&self.values[column], &self.values[0]);
        if self.paired[column] {
            let both = ours.iter().zip(first).filter_map(|(a, b)| Some((a.as_ref()?, b.as_ref()?)));
            let (a, b): (Vec<f64>, Vec<f64>) = both.unzip();
            let estimate = Estimate::of_differences(&a, &b)?;
            let is_sure = estimate.is_sure();
            return Some(Difference { estimate, of: ours.len(), is_paired: true, is_sure });
        }
        let [a, b] = [ours, first].map(|v| v.iter().copied().flatten().collect::<Vec<f64>>());
        let estimate = Estimate::of_difference(&a, &b)?;
        let is_sure = estimate.is_sure() && a.len().min(b.len()) >= FEWEST_RUNS;
        Some(Difference { estimate, of: ours.len() + first.len(), is_paired: false, is_sure })
    }
}

/// Whether the runs of two columns, which are in the order of their seeds, are pairs.
fn are_pairs(a: &Column, b: &Column) -> bool {
    let seeds = |c: &Column| c.runs.iter().map(|r| r.summary.seed).collect::<Vec<_>>();
    let (ours, theirs) = (seeds(a), seeds(b));
    ours == theirs && ours.windows(2).all(|two| two[0] != two[1])
}

/// All rows in which any column has a value.
pub(super) fn rows(columns: &[Column]) -> Vec<Row> {
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

/// The rows of all flows together and of routing.
pub(crate) fn totals(columns: &[Column]) -> Vec<Row> {
    let mut all = rows(columns);
    all.retain(|r| !r.is_of_flow());
    all
}

/// What a flow of one run has in common with the same one of another: kind and ends. Ports that programs take at random differ, so
/// that of a server and the place among flows alike tell conversations apart.
type Same = (String, [u32; 2], [Option<String>; 2], Option<u16>, usize);

/// The flows of a run, in order.
fn flows_of(r: &Run) -> Vec<Same> {
    let mut before: BTreeMap<Same, usize> = BTreeMap::new();
    let one = |f: &FlowSummary| {
        let addresses = [f.src_address.clone(), f.dst_address.clone()];
        // By which gateway a host outside is reached may differ from run to run.
        let node = |node, address: &Option<String>| if address.is_some() { u32::MAX } else { node };
        let ends = [node(f.src, &addresses[0]), node(f.dst, &addresses[1])];
        let same = (f.kind.clone(), ends, addresses, service(f), 0);
        let place = before.entry(same.clone()).or_default();
        *place += 1;
        (same.0, same.1, same.2, same.3, *place - 1)
    };
    r.summary.flows.iter().map(one).collect()
}

/// The lower port of a conversation: a server's, as a rule. Identifiers of echoes are random.
fn service(f: &FlowSummary) -> Option<u16> {
    f.src_port.min(f.dst_port).filter(|_| f.kind != "icmp")
}

/// How many flows are the same in all runs of all columns.
pub(super) fn common_flows(columns: &[Column]) -> usize {
    places(columns).len()
}

/// The flows that are the same in all runs of all columns, so that their figures mean the same, with the place of each in the list of
/// each run. None if the scenarios' flows differ; of programs', those that all runs have.
fn places(columns: &[Column]) -> Vec<Vec<Vec<usize>>> {
    let all: Vec<Vec<Vec<Same>>> = columns.iter().map(|c| c.runs.iter().map(flows_of).collect()).collect();
    let own = |r: &Run| r.summary.flows.iter().filter(|f| !f.is_of_programs()).count();
    let mut runs = columns.iter().flat_map(|c| &c.runs).zip(all.iter().flatten());
    let Some((first, flows)) = runs.next() else { return Vec::new() };
    if !runs.all(|(r, f)| own(r) == own(first) && f[..own(r)] == flows[..own(first)]) {
        return Vec::new();
    }
    let places: Vec<Vec<BTreeMap<&Same, usize>>> =
        all.iter().map(|c| c.iter().map(|flows| flows.iter().zip(0..).collect()).collect()).collect();
    let place = |same: &Same| -> Option<Vec<Vec<usize>>> {
        places.iter().map(|c| c.iter().map(|run| run.get(same).copied()).collect()).collect()
    };
    flows.iter().filter_map(place).collect()
}

/// A flow's end: a node, or an address that no node has.
fn end(node: u32, address: Option<&str>) -> String {
    address.map_or_else(|| node.to_string(), str::to_owned)
}

struct Rows<'a> {
    columns: &'a [Column],
    paired: Rc<[bool]>,
    list: Vec<Row>,
}

impl Rows<'_> {
    fn add(&mut self, about: &str, quantity: &str, value: impl Fn(&Run) -> Option<f64>) {
        let of = |c: &Column| c.runs.iter().map(|r| value(r).filter(|v| v.is_finite())).collect();
        let values = self.columns.iter().map(of).collect();
        let paired = Rc::clone(&self.paired);
        self.list.push(Row { about: about.to_owned(), quantity: quantity.to_owned(), values, paired });
    }

    fn flows(&mut self) {
        for places in places(self.columns).into_iter().take(MOST_FLOWS) {
            let f = &self.columns[0].runs[0].summary.flows[places[0][0]];
            let to = if f.is_to_all() { "all".to_owned() } else { end(f.dst, f.dst_address.as_deref()) };
            let port = service(f).map(|p| format!(" port {p}")).unwrap_or_default();
            let from = end(f.src, f.src_address.as_deref());
            let about = format!("flow {} {} {from}-{to}{port}", f.id, f.kind);
            let of = |value: &dyn Fn(&Run, usize) -> Option<f64>| {
                let run = |(r, i): (&Run, &usize)| value(r, *i).filter(|v| v.is_finite());
                let column = |(c, places): (&Column, &Vec<usize>)| {
                    c.runs.iter().zip(places).map(run).collect::<Vec<_>>()
                };
                self.columns.iter().zip(&places).map(column).collect::<Vec<_>>()
            };
            let flow = |r: &Run, i: usize| r.summary.flows.get(i).cloned();
            let ms = |part: fn(LatencyMs) -> f64| of(&|r, i| flow(r, i)?.latency_ms.map(part));
            let values = [
                ("sent", of(&|r, i| flow(r, i)?.sent.map(|n| n as f64))),
                ("delivery_ratio", of(&|r, i| flow(r, i)?.delivery_ratio)),
                ("held", of(&|r, i| flow(r, i)?.held.map(|n| n as f64))),
                ("latency_ms.p50", ms(|l| l.p50)),
                ("latency_ms.p95", ms(|l| l.p95)),
                ("latency_ms.max", ms(|l| l.max)),
                ("latency_ms.mean", ms(|l| l.mean)),
                ("hops_mean", of(&|r, i| flow(r, i)?.hops_mean)),
                ("first_search_ms", of(&|r, i| r.first_search(i).map(|s| s.as_secs_f64() * 1e3))),
            ];
            for (quantity, values) in values {
                let paired = Rc::clone(&self.paired);
                self.list.push(Row { about: about.clone(), quantity: quantity.to_owned(), values, paired });
            }
        }
    }

    fn times(&mut self, about: &str, name: &str, of: impl Fn(&Run) -> Option<LatencyMs>) {
        self.add(about, &format!("{name}.p50"), |r| of(r).map(|l| l.p50));
        self.add(about, &format!("{name}.p95"), |r| of(r).map(|l| l.p95));
        self.add(about, &format!("{name}.max"), |r| of(r).map(|l| l.max));
        self.add(about, &format!("{name}.mean"), |r| of(r).map(|l| l.mean));
    }

    fn totals(&mut self) {
        let about = "all flows";
        // Where kernels forward, what programs sent is not 0 but unknown.
        let knows = |r: &Run| r.summary.flows.iter().any(|f| f.sent.is_some());
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
        for kind in self.keys(|s| s.totals.by_type.keys().cloned().collect()) {
            self.add("messages", &format!("by_type.{kind}"), |r| {
                Some(r.summary.totals.by_type.get(&kind).copied().unwrap_or(0) as f64)
            });
        }
        for why in self.keys(|s| s.totals.drops.keys().cloned().collect()) {
            self.add("drops", &format!("drops.{why}"), |r| {
                Some(r.summary.totals.drops.get(&why).copied().unwrap_or(0) as f64)
            });
        }
    }

    fn keys(&self, of: impl Fn(&Summary) -> Vec<String>) -> BTreeSet<String> {
        self.columns.iter().flat_map(|c| &c.runs).flat_map(|r| of(&r.summary)).collect()
    }

    fn searches(&mut self) {
        fn took(r: &Run) -> Option<Vec<f64>> {
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
