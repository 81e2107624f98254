//! Which flows of several runs correspond, and their figures.
//!
//! A ping of programs is two flows of its run, requests and answers; here it is one, like a
//! scenario's ping: the answers, and the round trip.

use std::collections::BTreeMap;

use wayhop_trace::{FlowSummary, LatencyMs};

use crate::column::{Column, ColumnRun};

/// What a flow of one run has in common with the same one of another: kind and ends. Ports that programs take at random differ, so
/// that of a server and the place among flows alike tell conversations apart.
type Same = (String, [u32; 2], [Option<String>; 2], Option<u16>, usize);

/// A flow, or the two of a program's ping.
#[derive(Copy, Clone)]
pub(super) struct FlowPlace {
    /// Where it is in the summary's list.
    pub(super) flow: usize,
    answers: Option<usize>,
}

/// The flows that are the same in all runs of all columns, so that their figures mean the same, with the place of each in each run. None if
/// the scenarios' flows differ; of programs', those that all runs have. Runs of programs and runs of a scenario that was imported from one
/// have their order in common.
pub(super) fn places(columns: &[Column]) -> Vec<Vec<Vec<FlowPlace>>> {
    let runs = || columns.iter().flat_map(|c| &c.runs);
    let own = |r: &ColumnRun| r.summary.flows.iter().filter(|f| !f.is_of_programs()).count();
    let Some(first) = runs().next() else { return Vec::new() };
    let recreated = runs().any(|r| own(r) > 0) && runs().any(|r| own(r) == 0 && !r.summary.flows.is_empty());
    let all: Vec<Vec<Vec<(Same, FlowPlace)>>> = columns
        .iter()
        .map(|c| c.runs.iter().map(|r| flows_of(&r.summary.flows, recreated)).collect())
        .collect();
    let scenarios = |flows: &[(Same, FlowPlace)], r: &ColumnRun| {
        flows.iter().take(own(r)).map(|(same, _)| same.clone()).collect::<Vec<_>>()
    };
    let wanted = scenarios(&all[0][0], first);
    if !recreated && !runs().zip(all.iter().flatten()).all(|(r, flows)| scenarios(flows, r) == wanted) {
        return Vec::new();
    }
    let by_run =
        |flows: &Vec<(Same, FlowPlace)>| flows.iter().cloned().collect::<BTreeMap<Same, FlowPlace>>();
    let places: Vec<Vec<BTreeMap<Same, FlowPlace>>> =
        all.iter().map(|c| c.iter().map(by_run).collect()).collect();
    let place = |(same, _): &(Same, FlowPlace)| -> Option<Vec<Vec<FlowPlace>>> {
        places.iter().map(|c| c.iter().map(|run| run.get(same).copied()).collect()).collect()
    };
    all[0][0].iter().filter_map(place).collect()
}

/// The flows of a run, in order; by their ends alone if programs' are compared with a scenario's.
fn flows_of(all: &[FlowSummary], recreated: bool) -> Vec<(Same, FlowPlace)> {
    let mut before: BTreeMap<Same, usize> = BTreeMap::new();
    let mut list = Vec::new();
    for (i, f) in all.iter().enumerate() {
        // A scenario's TCP flow acknowledges by itself.
        let acknowledges = recreated && f.is_of_programs() && f.kind == "tcp" && f.received_bytes == Some(0);
        if acknowledges || f.answered.is_none() && request_of(all, f).is_some() {
            continue;
        }
        let answers = f.answered.and_then(|_| all.iter().position(|a| is_answer(a, f)));
        let same = if recreated { by_ends(f) } else { by_service(f) };
        let place = before.entry(same.clone()).or_default();
        *place += 1;
        list.push(((same.0, same.1, same.2, same.3, *place - 1), FlowPlace { flow: i, answers }));
    }
    list
}

fn by_service(f: &FlowSummary) -> Same {
    let addresses = [f.src_address.clone(), f.dst_address.clone()];
    // By which gateway a host outside is reached may differ from run to run.
    let node = |node, address: &Option<String>| if address.is_some() { u32::MAX } else { node };
    let ends = [node(f.src, &addresses[0]), node(f.dst, &addresses[1])];
    (kind(f).to_owned(), ends, addresses, service(f), 0)
}

/// An imported flow has no port that says anything, begins or ends at the gateway, and may have another rhythm than its kind tells.
fn by_ends(f: &FlowSummary) -> Same {
    let transport = match kind(f) {
        kind @ ("ping" | "tcp") => kind,
        kind if f.is_of_programs() => kind,
        _ => "udp",
    };
    (transport.to_owned(), [f.src, f.dst], [None, None], None, 0)
}

fn kind(f: &FlowSummary) -> &str {
    if f.answered.is_some() { "ping" } else { &f.kind }
}

fn is_answer(answers: &FlowSummary, requests: &FlowSummary) -> bool {
    let (a, r) = (answers, requests);
    let address = |a: &Option<String>, node: u32| a.clone().unwrap_or_else(|| node.to_string());
    a.answered.is_none()
        && a.protocol == r.protocol
        && a.src_port == r.src_port
        && address(&a.src_address, a.src) == address(&r.dst_address, r.dst)
        && address(&a.dst_address, a.dst) == address(&r.src_address, r.src)
}

fn request_of<'a>(all: &'a [FlowSummary], f: &FlowSummary) -> Option<&'a FlowSummary> {
    let is_echo = matches!(f.protocol, Some(1 | 58)) && f.src_port.is_some();
    all.iter().filter(|_| is_echo).find(|r| r.answered.is_some() && is_answer(f, r))
}

/// The lower port of a conversation: a server's, as a rule. Identifiers of echoes are random.
fn service(f: &FlowSummary) -> Option<u16> {
    f.src_port.min(f.dst_port).filter(|_| f.kind != "icmp")
}

/// A flow's end: a node, or an address that no node has.
fn end(node: u32, address: Option<&str>) -> String {
    address.map_or_else(|| node.to_string(), str::to_owned)
}

impl FlowPlace {
    pub(super) fn about(self, r: &ColumnRun) -> String {
        let f = &r.summary.flows[self.flow];
        let to = if f.is_to_all() { "all".to_owned() } else { end(f.dst, f.dst_address.as_deref()) };
        let port = service(f).map(|p| format!(" port {p}")).unwrap_or_default();
        format!("flow {} {} {}-{to}{port}", f.id, kind(f), end(f.src, f.src_address.as_deref()))
    }

    /// A figure of it: a ping's counts what came back, and the round trip.
    pub(super) fn figures(self, r: &ColumnRun) -> Option<Figures> {
        let f = r.summary.flows.get(self.flow)?;
        let base = Figures {
            sent: f.sent.map(|n| n as f64),
            delivery_ratio: f.delivery_ratio,
            held: f.held.map(|n| n as f64),
            latency_ms: f.latency_ms,
            hops_mean: f.hops_mean,
            goodput_bps: f.goodput_bps,
        };
        let Some(answered) = f.answered else { return Some(base) };
        let answers = self.answers.and_then(|i| r.summary.flows.get(i));
        Some(Figures {
            delivery_ratio: f.sent.filter(|n| *n > 0).map(|n| answered as f64 / n as f64),
            held: base.held.map(|n| n + answers.and_then(|a| a.held).unwrap_or(0) as f64),
            latency_ms: f.round_trip_ms,
            hops_mean: answers.and_then(|a| a.hops_mean),
            goodput_bps: answers.and_then(|a| a.goodput_bps),
            ..base
        })
    }
}

#[derive(Copy, Clone)]
pub(super) struct Figures {
    pub(super) sent: Option<f64>,
    pub(super) delivery_ratio: Option<f64>,
    pub(super) held: Option<f64>,
    pub(super) latency_ms: Option<LatencyMs>,
    pub(super) hops_mean: Option<f64>,
    pub(super) goodput_bps: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(kind: &str, [src, dst]: [u32; 2], protocol: u8, port: u16) -> FlowSummary {
        let ports = Some(port);
        let kind = kind.to_owned();
        let protocol = Some(protocol);
        FlowSummary { kind, src, dst, protocol, src_port: ports, dst_port: ports, ..FlowSummary::default() }
    }

    fn names(flows: &[FlowSummary], recreated: bool) -> Vec<(String, [u32; 2], usize)> {
        let all = flows_of(flows, recreated);
        all.into_iter().map(|((kind, ends, _, _, place), _)| (kind, ends, place)).collect()
    }

    #[test]
    fn a_field_run_and_the_scenario_that_it_became_have_the_same_flows() {
        let field = [
            FlowSummary { received_bytes: Some(900), ..program("tcp", [0, 3], 6, 5201) },
            FlowSummary { answered: Some(9), ..program("icmp", [0, 3], 1, 77) },
            FlowSummary { received_bytes: Some(0), ..program("tcp", [3, 0], 6, 5201) },
            program("icmp", [3, 0], 1, 77),
            program("udp", [0, 3], 17, 5201),
            program("udp", [0, 3], 17, 6000),
        ];
        let own = |kind: &str| FlowSummary { kind: kind.to_owned(), dst: 3, ..FlowSummary::default() };
        let scenario = ["tcp", "ping", "trace", "cbr"].map(own);
        let expected = [("tcp", 0), ("ping", 0), ("udp", 0), ("udp", 1)];
        let expected = expected.map(|(kind, place)| (kind.to_owned(), [0, 3], place));
        assert_eq!(names(&field, true), expected);
        assert_eq!(names(&scenario, true), expected);
        // Two runs of programs are compared by ports, too, with all directions; a ping is one flow in any case.
        assert_eq!(names(&field, false).len(), 5);
        assert_eq!(flows_of(&field, false)[1].1.answers, Some(3));
    }
}
