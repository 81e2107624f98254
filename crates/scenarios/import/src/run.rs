//! A recorded run, usually from the field, as a scenario: tracks, traffic, and links.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use rustc_hash::FxHashMap;
use toml::{Table, Value};
use wayhop_core::{Addr, Position, Time};
use wayhop_document::{Error, Result};
use wayhop_trace::{ConversationEnds, HopKind, PositionEvent, RunDir, Summary, Tables, is_for_all};
use wayhop_world::Geodetic;

use crate::flows::{Departure, SentTraffic, add};
use crate::links::{HOLD_S, macfilter};
use crate::notes::Notes;
use crate::run_settings::carry_over;
use crate::run_tcp::SentByTcp;
use crate::track::{Point, Track};
use crate::tracks::scenario;
use crate::{ImportedScenario, counted, table};

/// The ending of the links file's name, after the scenario's name.
const LINKS: &str = ".macfilter";

/// A scenario from a run of any mode, merged or not: its nodes with their names and addresses, their positions, what
/// programs and flows sent, and a macfilter's file of the links on which frames were received. Fails if the run's
/// tables cannot be read, or do not say what identifies packets.
pub fn run(dir: &RunDir) -> Result<ImportedScenario> {
    read(dir).map_err(|e| e.in_file(dir.path()))
}

fn read(dir: &RunDir) -> Result<ImportedScenario> {
    let unreadable = |e: wayhop_trace::Error| Error::new(e.to_string(), "use a complete run");
    let summary = dir.summary().map_err(unreadable)?;
    let tables = Tables::of(dir, summary.protocol.clone());
    let nodes = tables.nodes().map_err(unreadable)?;
    let mut legs: Vec<Vec<PositionEvent>> = vec![Vec::new(); nodes.len()];
    let foreign = || "a node that is missing in the table `nodes`".to_owned();
    tables
        .positions(&mut |p| {
            legs.get_mut(p.node.index()).ok_or_else(foreign)?.push(p);
            Ok(())
        })
        .map_err(unreadable)?;
    let end = Time::from_secs_f64(summary.simulated_s.clamp(0.0, 1e9));
    let mut unplaced = 0;
    let tracks: Vec<Track> = nodes
        .iter()
        .zip(&legs)
        .map(|(n, legs)| {
            unplaced += usize::from(legs.is_empty());
            Track { name: n.name.clone(), points: points(legs, end, &summary.world), ..Track::default() }
        })
        .collect();
    let origin = summary.origin.map(|o| Geodetic { lat: o.latitude_deg, lon: o.longitude_deg, alt: 0.0 });
    let mut imported = scenario(tracks, origin, Some(0.0), Notes::of([dir.path()]))?;
    if unplaced > 0 {
        imported.remarks.push(counted(
            unplaced,
            "node has no positions and is placed at the origin",
            "nodes have no positions and are placed at the origin",
        ));
    }
    let keys = &mut imported.table;
    keys.insert("duration_s".into(), Value::Float(summary.simulated_s));
    keys.insert("seed".into(), Value::Integer(summary.seed.cast_signed().max(0)));
    let manifest = dir.manifest().map_err(unreadable)?;
    imported.remarks.extend(carry_over(keys, &manifest, &summary));
    let single = nodes.iter().enumerate().map(|(i, n)| {
        let mut one = table([("id", (i as i64).into())]);
        // A name that is its number is none.
        if n.name.parse::<u64>().is_err() && !n.name.trim().is_empty() {
            one.insert("name".into(), n.name.clone().into());
        }
        one.insert("address".into(), n.addr.to_string().into());
        Value::from(one)
    });
    let mut all = table([("node", Value::Array(single.collect()))]);
    if nodes.iter().any(|n| n.addr6.is_some()) {
        all.insert("ipv6".into(), true.into());
    }
    keys.insert("nodes".into(), all.into());
    let mut by_address: FxHashMap<Addr, usize> = FxHashMap::default();
    for (i, n) in nodes.iter().enumerate() {
        by_address.insert(n.addr.into(), i);
        by_address.extend(n.addr6.map(|a| (Addr::from(a), i)));
    }
    let (seen, heard) = traffic(&tables, &by_address).map_err(unreadable)?;
    add_flows(&mut imported, &seen, &by_address, &gateways(&summary));
    let addresses: Vec<Ipv4Addr> = nodes.iter().map(|n| n.addr).collect();
    imported.files.push((LINKS.to_owned(), macfilter(&addresses, &heard).to_string()));
    imported.remarks.push(links_remark(&imported.table));
    Ok(imported)
}

/// Adds what was sent to the scenario. Flows of hosts outside begin or end at their gateways.
fn add_flows(
    imported: &mut ImportedScenario,
    seen: &SentTraffic,
    by_address: &FxHashMap<Addr, usize>,
    gateways: &FxHashMap<Addr, usize>,
) {
    let outside = |e: &&ConversationEnds| [e.source, e.destination].iter().any(|a| gateways.contains_key(a));
    let by_gateway = seen.packets.keys().filter(outside).count();
    add(imported, seen, &|a| match by_address.get(&a).or_else(|| gateways.get(&a)) {
        Some(node) => Some(Some(*node)),
        None => is_for_all(a).then_some(None),
    });
    if by_gateway > 0 {
        imported.remarks.push(counted(
            by_gateway,
            "conversation with a host outside the mesh: its flow begins or ends at the gateway, without the path outside",
            "conversations with hosts outside the mesh: their flows begin or end at the gateway, without the path outside",
        ));
    }
}

/// The gateways by which hosts outside were reached, by the hosts' addresses.
fn gateways(summary: &Summary) -> FxHashMap<Addr, usize> {
    let ends = summary.flows.iter().flat_map(|f| [(&f.src_address, f.src), (&f.dst_address, f.dst)]);
    let gateway = |(address, node): (&Option<String>, u32)| {
        Some((address.as_ref()?.parse().ok()?, (node != u32::MAX).then_some(node as usize)?))
    };
    ends.filter_map(gateway).collect()
}

/// How to use the file of links: a lab does not accept TCP flows.
fn links_remark(scenario: &Table) -> String {
    let flows = scenario.get("traffic").and_then(Value::as_array);
    let is_tcp = |f: &&Value| f.get("kind").and_then(Value::as_str) == Some("tcp");
    let tcp = flows.map_or(0, |flows| flows.iter().filter(is_tcp).count());
    let to_do = if tcp == 0 {
        String::new()
    } else {
        let which = counted(tcp, "flow of kind tcp", "flows of kind tcp");
        format!(
            "  without its {which}, which a lab does not support: remove them from NAME.toml, or all flows with `--set traffic=[]`, and run iperf3 in `[[programs]]`"
        )
    };
    format!(
        "NAME{LINKS} has the links on which frames were received, each for {HOLD_S} s before and after a frame; use it with `wayhop lab NAME.toml --macfilter NAME{LINKS}`{to_do}"
    )
}

/// The positions of a node: at the beginning of each leg and, where legs are exact, at the end of the last one. In the
/// field a leg begins with a fix, and its end is only estimated.
fn points(legs: &[PositionEvent], end: Time, world: &str) -> Vec<Point> {
    let mut by_time: BTreeMap<Time, Position> = BTreeMap::new();
    for leg in legs {
        // Of two legs that begin at the same time the later row applies.
        by_time.insert(leg.time, leg.at);
    }
    if let Some(last) = legs.iter().max_by_key(|l| l.time).filter(|_| world != "field") {
        let until = last.until.min(end);
        if until > last.time {
            let s = until.since(last.time).as_secs_f64();
            let (p, v) = (last.at, last.velocity);
            by_time.insert(until, Position::new(p.x + v.x * s, p.y + v.y * s, p.z + v.z * s));
        }
    }
    if by_time.is_empty() {
        by_time.insert(Time::ZERO, Position::default());
    }
    let point = |(at, place): (Time, Position)| Point { at_s: at.as_nanos() as f64 / 1e9, place, line: 0 };
    by_time.into_iter().filter(|(at, _)| *at <= end).map(point).collect()
}

type ReceiptTimes = BTreeMap<(usize, usize), Vec<f64>>;

/// What was sent, and who heard whom when.
fn traffic(
    tables: &Tables<'_>,
    nodes: &FxHashMap<Addr, usize>,
) -> Result<(SentTraffic, ReceiptTimes), wayhop_trace::Error> {
    let mut seen = SentTraffic::default();
    let mut originated: FxHashMap<(wayhop_core::PacketId, Time), wayhop_trace::Identity> =
        FxHashMap::default();
    tables.identities(&mut |i| {
        if i.kind == HopKind::Originate {
            originated.insert((i.packet, i.time), i.identity);
        }
        Ok(())
    })?;
    let mut heard = ReceiptTimes::new();
    let mut sent = SentByTcp::default();
    tables.packets(&mut |h| {
        let at_s = h.time.as_nanos() as f64 / 1e9;
        match h.kind {
            HopKind::Originate if !h.class.is_control() => {
                if let Some(identity) = originated.get(&(h.packet, h.time)) {
                    let ends = ConversationEnds::new(h.source, h.destination, identity);
                    sent.add(ends, &h, identity.payload);
                    seen.packets.entry(ends).or_default().push(Departure { at_s, payload: identity.payload });
                }
            }
            HopKind::Receive => {
                if let Some(from) = nodes.get(&h.peer).filter(|from| **from != h.node.index()) {
                    let times = heard.entry((*from, h.node.index())).or_default();
                    // One frame a second is enough to show a link.
                    if times.last().is_none_or(|last| at_s - last >= 1.0) {
                        times.push(at_s);
                    }
                }
            }
            _ => {}
        }
        Ok(())
    })?;
    seen.streams = sent.streams(tables)?;
    Ok((seen, heard))
}
