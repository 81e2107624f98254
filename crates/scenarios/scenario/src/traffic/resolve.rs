//! From the scenario's traffic entries to flows, and the length of a run that does not set it.

use wayhop_core::{NodeId, Time};
use wayhop_document::Result;
use wayhop_simulator_files::MAX_DURATION_S;
use wayhop_transport::tcp::App;
use wayhop_transport::{DEFAULT_PORT, FlowConfig, FlowKind};

use super::kind::{Flows, MAX_FLOWS, Network, Times, TrafficEntry};
use crate::file::Scenario;
use crate::movement::Movement;
use crate::nodes::Placement;

/// How many ports there are from [`DEFAULT_PORT`] upwards.
const PORTS: usize = 65_536 - DEFAULT_PORT as usize;

/// A flow of an ns-2 traffic file; TCP's with this padding.
fn padded(flow: &FlowConfig, padding: u8) -> FlowConfig {
    let mut flow = flow.clone();
    if let FlowKind::Tcp(config) = &mut flow.kind {
        config.padding = padding;
    }
    flow
}

pub(crate) fn flows(placed: &Placement<'_>, seed: u64) -> Result<Vec<FlowConfig>> {
    let (scenario, doc) = (placed.scenario, placed.doc());
    let tcp_padding = scenario.protocol.tcp_padding();
    let network = Network {
        nodes: placed.tracks.len(),
        find: &|node, key| placed.find(node, key),
        has_ipv6: placed.ipv6.is_some(),
        moves_as_in_ns2: matches!(scenario.movement, Some(Movement::Ns2 { .. })),
        tcp_padding,
        seed,
    };
    let from_files: Vec<FlowConfig> = placed.ns2_flows.iter().map(|f| padded(f, tcp_padding)).collect();
    let mut flows = Flows::new(&from_files);
    for (k, traffic) in scenario.traffic.iter().enumerate() {
        let entry = TrafficEntry::new(k, doc, &network);
        traffic.kind().flows(&entry, &mut flows)?;
        if flows.made.len() > MAX_FLOWS {
            return Err(doc.error(&entry.key, format!("more than {MAX_FLOWS} flows"), "reduce their number"));
        }
    }
    // A movement file may hold traffic lines as well.
    flows.add_ns2();
    let mut out = flows.made;
    // Each flow has its own port, so that it can be told apart in captures and in real networks.
    for (k, flow) in out.iter_mut().enumerate() {
        flow.src_port = DEFAULT_PORT + (k % PORTS) as u16;
        flow.dst_port = flow.src_port;
    }
    Ok(out)
}

/// A warning about flows that differ only in their number, probably duplicates.
pub(crate) fn twins(flows: &[FlowConfig], names: &[String]) -> Option<String> {
    /// The most flows with the same ends and times that are compared with each: a bound on the work.
    const NEAR: usize = 16;
    let same = |a: &FlowConfig, b: &FlowConfig| {
        FlowConfig { src_port: b.src_port, dst_port: b.dst_port, ..a.clone() } == *b
    };
    let mut order: Vec<usize> = (0..flows.len()).collect();
    order.sort_by_key(|&i| (flows[i].src, flows[i].dst, flows[i].start, flows[i].stop, i));
    let mut pairs = Vec::new();
    for (k, &i) in order.iter().enumerate() {
        let earlier = order[k.saturating_sub(NEAR)..k].iter().find(|&&j| same(&flows[j], &flows[i]));
        pairs.extend(earlier.map(|&j| (j, i)));
    }
    let &(first, second) = pairs.iter().min_by_key(|p| p.1)?;
    // A flow to all has no node at its end.
    let name = |id: NodeId| names.get(id.index()).map_or("all nodes", String::as_str);
    Some(format!(
        "{} of {} flows duplicate another one, for example flow {second} (from {} to {}, like flow {first}); all are sent",
        pairs.len(),
        flows.len(),
        name(flows[first].src),
        name(flows[first].dst)
    ))
}

/// Time for packets that are under way when the last flow stops to arrive, seconds.
const GRACE_S: f64 = 10.0;
/// The run's length where nothing ever moves or stops, seconds; that of Broch and others (1998).
const USUAL_S: f64 = 900.0;
/// Time for a flow that would begin after the end of the run, seconds.
const LATE_START_S: f64 = 100.0;

/// The length of a run. `last_move` is the time of the last move of ns-2 files, and `from_files` are their flows.
pub(crate) fn default_duration(
    scenario: &Scenario,
    last_move: Option<Time>,
    from_files: &[FlowConfig],
) -> Time {
    let written = scenario.traffic.iter().filter_map(|t| t.kind().times());
    let read = from_files.iter().map(|f| (f.start.as_secs_f64(), f.stop.map(Time::as_secs_f64)));
    let flows: Vec<Times> = written.chain(read).collect();
    let ends = !flows.is_empty() && flows.iter().all(|f| f.1.is_some()) && scenario.programs.is_empty();
    let moves = last_move.map(rounded_up).filter(|s| *s > 0.0);
    let mut seconds = moves.unwrap_or(if ends { 0.0 } else { USUAL_S });
    let last = |times: &mut dyn Iterator<Item = f64>| times.filter(|s| s.is_finite()).fold(0.0, f64::max);
    let last_stop = last(&mut flows.iter().filter_map(|f| f.1));
    if last_stop > seconds {
        seconds = last_stop + GRACE_S;
    }
    let last_start = last(&mut flows.iter().filter(|f| f.1.is_none()).map(|f| f.0));
    if last_start >= seconds {
        seconds = last_start + LATE_START_S;
    }
    // Times out of range have messages of their own.
    Time::from_secs_f64(seconds.clamp(1e-9, MAX_DURATION_S))
}

/// To two digits: 1763 s to 1800 s.
fn rounded_up(moment: Time) -> f64 {
    let seconds = moment.as_secs_f64();
    let mut unit = 1.0;
    while seconds > 100.0 * unit {
        unit *= 10.0;
    }
    (seconds / unit).ceil() * unit
}

/// A warning that the default duration cuts off traffic.
pub(crate) fn cut_off(flows: &[FlowConfig], end: Time) -> Option<String> {
    let goes_on = |f: &FlowConfig| match (f.stop, f.max_packets, &f.kind) {
        (Some(stop), _, _) => stop > end,
        (None, Some(n), FlowKind::Cbr { interval, .. } | FlowKind::Ping { interval }) => {
            f.start.as_secs_f64() + interval.as_secs_f64() * n as f64 > end.as_secs_f64()
        }
        (None, None, FlowKind::Trace(s)) => s.packets().last().is_some_and(|p| f.start + p.after > end),
        (None, _, FlowKind::Tcp(c)) => !matches!(c.app, App::Bulk { bytes: Some(_) }),
        _ => true,
    };
    let first = flows.iter().position(goes_on)?;
    let count = flows.iter().filter(|f| goes_on(f)).count();
    Some(format!(
        "stopping at {} s with {count} of {} flows still active, for example flow {first}; set --duration or \
         duration_s",
        end.as_secs_f64(),
        flows.len()
    ))
}
