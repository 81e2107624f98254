//! The figures of a run's summary, by the way to them: `totals.drops.NO_ROUTE`, `flows.0.latency_ms.mean`.

use serde_json::{Value, json};
use wayhop_core::{DropReason, nearest};
use wayhop_scenario::{DtnPlan, FlowConfig, FlowKind, Resolved};
use wayhop_topology::ChainThroughput;
use wayhop_trace::{
    BundleFlowSummary, BundleSummary, ContactSummary, DelayS, FlowSummary, LatencyMs, OverheadFrames,
    Rfc2501, Summary, TcpSummary, Topology, Totals, Transmissions,
};

/// Objects of counts, in which what did not happen has no key.
const COUNTS: [&[&str]; 3] = [&["totals", "drops"], &["totals", "by_type"], &["bundles", "dropped"]];
/// Shares of a flow's time by number of hops: the list ends with the longest path that there was.
const SHARES: &str = "hop_share";

/// The number at the end of a way such as `flows.0.goodput_bps`; `None` where the run has none: the figure is null, as a
/// latency is if nothing arrived. What is counted and did not happen is 0.
pub(crate) fn figure(summary: &Value, way: &str) -> Option<f64> {
    let parts: Vec<&str> = way.split('.').collect();
    let mut here = summary;
    for (depth, part) in parts.iter().enumerate() {
        let is_last = depth + 1 == parts.len();
        here = match here {
            Value::Array(list) => match list.get(part.parse::<usize>().ok()?) {
                Some(value) => value,
                None if is_last && !list.is_empty() && parts[depth - 1] == SHARES => return Some(0.0),
                None => return None,
            },
            Value::Object(map) => match map.get(*part) {
                Some(value) => value,
                None if is_last && COUNTS.contains(&&parts[..depth]) => return Some(0.0),
                None => return None,
            },
            _ => return None,
        };
    }
    here.as_f64()
}

/// A summary of the scenario's runs in which everything that can be told is told. What it has no number for, no run has.
pub(crate) fn specimen(scenario: &Resolved, topology: bool, chains: Option<&ChainThroughput>) -> Value {
    let geometry = || Topology {
        hop_share: vec![1.0],
        unreachable_share: Some(1.0),
        expected_bps: chains.map(|_| 1.0),
        ..Topology::default()
    };
    let flow = |f: &FlowConfig| FlowSummary {
        tcp: matches!(f.kind, FlowKind::Tcp(_)).then(|| TcpSummary {
            completed_s: Some(1.0),
            answers: Some(1),
            ..TcpSummary::default()
        }),
        topology: (topology && !f.is_to_all()).then(geometry),
        sent: Some(1),
        received: Some(1),
        dropped: Some(1),
        held: Some(1),
        delivery_ratio: Some(1.0),
        received_bytes: Some(1),
        goodput_bps: Some(1.0),
        latency_ms: Some(LatencyMs::default()),
        hops_mean: Some(1.0),
        ..FlowSummary::default()
    };
    let flows = scenario.flows.iter().map(flow).collect();
    let bundles = scenario.dtn.as_ref().map(full_bundles);
    let summary = Summary { flows, totals: full_totals(), bundles, ..Summary::default() };
    serde_json::to_value(summary).unwrap_or_default()
}

/// A summary of bundles with a value for every figure.
fn full_bundles(dtn: &DtnPlan) -> BundleSummary {
    let (ratio, delay) = (Some(1.0), Some(DelayS::default()));
    let flow = BundleFlowSummary { delivery_ratio: ratio, delay_s: delay, ..BundleFlowSummary::default() };
    BundleSummary {
        delivery_ratio: ratio,
        delay_s: delay,
        overhead: Some(1.0),
        contacts: Some(ContactSummary {
            bytes_sd: Some(1.0),
            bytes_variation: Some(1.0),
            ..ContactSummary::default()
        }),
        flows: vec![flow; dtn.flows.len()],
        ..BundleSummary::default()
    }
}

/// Totals in which everything that can be told is told.
pub(crate) fn full_totals() -> Totals {
    let times = Some(LatencyMs::default());
    let mut totals = Totals {
        dropped: Some(1),
        held: Some(1),
        delivery_ratio: Some(1.0),
        goodput_bps: Some(1.0),
        latency_ms: times,
        round_trip_ms: times,
        hops_mean: Some(1.0),
        received_bytes: Some(1),
        routing_header_bytes: Some(1),
        transmissions: Some(Transmissions::default()),
        overhead_frames: Some(OverheadFrames::default()),
        normalised_routing_load: Some(1.0),
        routing_bytes_per_byte: Some(1.0),
        normalised_mac_load: Some(1.0),
        rfc2501: Rfc2501 {
            data_bits_per_bit: Some(1.0),
            control_bits_per_bit: Some(1.0),
            packets_per_packet: Some(1.0),
        },
        ..Totals::default()
    };
    totals.set_drops(&[1; DropReason::ALL.len()]);
    totals.by_type = wayhop_protocols::message_names().map(|name| (name.to_owned(), 1)).collect();
    totals
}

/// All figures of the totals that the scenario's runs can have, but those of single causes and kinds of messages.
pub fn totals(scenario: &Resolved) -> Vec<String> {
    let mut all = Vec::new();
    ways(&json!({ "totals": full_totals() }), "", &mut all);
    let pings = scenario.flows.iter().filter(|f| matches!(f.kind, FlowKind::Ping { .. })).count();
    let one_way = scenario.flows.len() - pings;
    let is_of_none = |way: &String| {
        pings == 0 && way.starts_with("totals.round_trip_ms.")
            || one_way == 0 && pings > 0 && way.starts_with("totals.latency_ms.")
    };
    all.retain(|way| !is_count(way) && !is_of_none(way));
    all
}

/// The way to a figure from the top of the summary: the totals' figures need not say that they are.
pub(crate) fn full_name(figure: &str) -> String {
    let first = figure.split('.').next().unwrap_or_default();
    let totals = serde_json::to_value(Totals::default()).unwrap_or_default();
    if totals.get(first).is_some() { format!("totals.{figure}") } else { figure.to_owned() }
}

/// Whether a run like this [`specimen`] may have a number there.
pub(crate) fn is_known(specimen: &Value, way: &str) -> bool {
    let leaf = || way.split('.').try_fold(specimen, |here, part| here.get(part));
    if is_count(way) { leaf().is_some() } else { figure(specimen, way).is_some() }
}

pub(crate) fn is_count(way: &str) -> bool {
    COUNTS.iter().any(|c| way.rsplit_once('.').is_some_and(|(map, _)| map == c.join(".")))
}

/// The way that was probably meant: by another name that the figure has had, or by the nearest spelling.
pub(crate) fn meant(specimen: &Value, way: &str) -> Option<String> {
    let (before, last) = way.rsplit_once('.').unwrap_or(("totals", way));
    let named = todays_name(last).map(|name| format!("{before}.{name}"));
    if let Some(way) = named.filter(|way| is_known(specimen, way)) {
        return Some(way);
    }
    let mut all = Vec::new();
    ways(specimen, "", &mut all);
    // The totals' figures go by their short names, too.
    let short = all.iter().filter_map(|a| a.strip_prefix("totals."));
    nearest(way, all.iter().map(String::as_str).chain(short)).map(str::to_owned)
}

/// The name of a figure that tables and comparisons called otherwise before version 0.1.0.
fn todays_name(old: &str) -> Option<String> {
    let same_place = match old {
        "delivered_pct" => Some("delivery_ratio"),
        "goodput_kbps" => Some("goodput_bps"),
        "hops" => Some("hops_mean"),
        "packets" => Some("routing_packets"),
        "bytes" => Some("routing_bytes"),
        _ => None,
    };
    let (times, statistic) =
        old.strip_suffix("_ms").and_then(|rest| rest.rsplit_once('_')).unwrap_or_default();
    same_place.map(str::to_owned).or_else(|| (!times.is_empty()).then(|| format!("{times}_ms.{statistic}")))
}

fn ways(value: &Value, way: &str, all: &mut Vec<String>) {
    let below = |part: &str| if way.is_empty() { part.to_owned() } else { format!("{way}.{part}") };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, v)| ways(v, &below(key), all)),
        Value::Array(list) => list.iter().enumerate().for_each(|(i, v)| ways(v, &below(&i.to_string()), all)),
        Value::Number(_) => all.push(way.to_owned()),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_and_did_not_happen_is_0_and_what_is_undefined_is_nothing() {
        let run = json!({
            "totals": { "drops": { "NO_ROUTE": 3 }, "by_type": {}, "latency_ms": null },
            "flows": [{ "topology": { "hop_share": [0.5, 0.5] } }, { "topology": { "hop_share": [] } }],
        });
        for (way, expected) in [
            ("totals.drops.NO_ROUTE", Some(3.0)),
            ("totals.drops.QUEUE_FULL", Some(0.0)),
            ("totals.by_type.rreq", Some(0.0)),
            ("totals.latency_ms.mean", None),
            ("totals.nothing", None),
            ("flows.0.topology.hop_share.1", Some(0.5)),
            ("flows.0.topology.hop_share.2", Some(0.0)),
            ("flows.1.topology.hop_share.0", None),
            ("flows.7.sent", None),
        ] {
            assert_eq!(figure(&run, way), expected, "{way}");
        }
    }

    #[test]
    fn a_name_that_a_figure_has_had_suggests_todays() {
        let times = Some(LatencyMs::default());
        let totals = Totals { latency_ms: times, round_trip_ms: times, ..Totals::default() };
        let totals =
            Totals { delivery_ratio: Some(1.0), goodput_bps: Some(1.0), hops_mean: Some(1.0), ..totals };
        let flows = vec![FlowSummary { latency_ms: times, ..FlowSummary::default() }];
        let specimen = serde_json::to_value(Summary { totals, flows, ..Summary::default() }).unwrap();
        for (old, new) in [
            ("totals.delivered_pct", "totals.delivery_ratio"),
            ("delivered_pct", "totals.delivery_ratio"),
            ("totals.goodput_kbps", "totals.goodput_bps"),
            ("totals.latency_mean_ms", "totals.latency_ms.mean"),
            ("totals.round_trip_p95_ms", "totals.round_trip_ms.p95"),
            ("flows.0.latency_max_ms", "flows.0.latency_ms.max"),
            ("totals.hops", "totals.hops_mean"),
            ("totals.packets", "totals.routing_packets"),
            ("totals.recieved", "totals.received"),
        ] {
            assert_eq!(meant(&specimen, old).as_deref(), Some(new), "{old}");
        }
        assert_eq!(meant(&specimen, "totals.zzzzzzzzzzzzzzzzzzzzzzzzzzzzz_q_ms"), None);
    }
}
