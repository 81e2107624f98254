//! Building a story from the tables' rows.

use std::collections::{BTreeMap, BTreeSet};

use super::attempts::frames;
use super::names::Names;
use super::read::{MOST_ROWS, rows};
use super::steps::{Step, Story};
use crate::tables::Cell as _;
use crate::{Error, RunDir};

/// Which packet.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum PacketQuery {
    /// The one with this number in the run.
    Packet(u64),
    /// The ones of a flow with this number in it: a request and its reply have the same.
    OfFlow {
        /// The flow's index in the scenario.
        flow: u32,
        /// The number in the flow, from 0.
        seq: u64,
    },
}

/// The stories of the packets that are meant: none if the run has no such packet.
pub fn stories(run: &RunDir, wanted: PacketQuery) -> Result<Vec<Story>, Error> {
    let names = Names::read(run)?;
    let packets = match wanted {
        PacketQuery::Packet(packet) => BTreeSet::from([i64::try_from(packet).unwrap_or(i64::MAX)]),
        PacketQuery::OfFlow { flow, seq } => numbers(run, flow, seq)?,
    };
    let told = packets.into_iter().map(|packet| story(run, packet, &names));
    told.filter_map(Result::transpose).collect()
}

fn numbers(run: &RunDir, flow: u32, seq: u64) -> Result<BTreeSet<i64>, Error> {
    let mut found = BTreeSet::new();
    let seq = i64::try_from(seq).unwrap_or(i64::MAX);
    rows(run, "packets", &[("flow", flow.into(), flow.into()), ("seq", seq, seq)], |row| {
        found.insert(row.number("packet")?);
        (found.len() <= MOST_ROWS).then_some(())
    })?;
    Ok(found)
}

/// A row of `packets`, as far as a story needs it.
struct EventRow {
    time_ns: i64,
    node: u32,
    what: String,
    peer: Option<String>,
    text: String,
}

fn story(run: &RunDir, packet: i64, names: &Names) -> Result<Option<Story>, Error> {
    let mut story: Option<Story> = None;
    let mut events: Vec<EventRow> = Vec::new();
    rows(run, "packets", &[("packet", packet, packet)], |row| {
        let event = row.text("event")?;
        if story.is_none() {
            story = Some(Story {
                packet: row.int("packet")?,
                flow: row.int("flow"),
                seq: row.int("seq"),
                class: row.text("class")?.to_owned(),
                source: row.text("source")?.to_owned(),
                destination: row.text("destination")?.to_owned(),
                source_node: names.number(row.text("source")?),
                destination_node: names.number(row.text("destination")?),
                nodes: 1,
                ..Story::default()
            });
        }
        let peer = row.text("peer").map(str::to_owned);
        let (bytes, ttl, reason) = (row.number("bytes")?, row.number("ttl")?, row.text("reason"));
        let node = row.int("node")?;
        let outside = [row.text("source")?, row.text("destination")?];
        let text = match (event, outside.map(|a| names.is_elsewhere(a, node))) {
            ("originate", [true, _]) => {
                format!("came into the mesh at the gateway {}: {bytes} bytes", names.of(node))
            }
            ("deliver", [_, true]) => format!("left the mesh at the gateway {}", names.of(node)),
            _ => event_words(event, bytes, ttl, peer.as_deref().map(|p| names.at(p)), reason),
        };
        events.push(EventRow { time_ns: row.number("time_ns")?, node, what: event.to_owned(), peer, text });
        (events.len() <= MOST_ROWS).then_some(())
    })?;
    let Some(mut story) = story else { return Ok(None) };
    story.has_receptions = run.has("receptions");
    let on_air = if story.has_receptions { frames(run, packet, names)? } else { Vec::new() };
    let mut steps = Vec::new();
    steps.extend(decisions(run, packet, names)?);
    end(run, &mut story, events.last())?;
    steps.extend(remarks(run, &events, &story, names)?);
    // A frame on the air tells more than the row `transmit` of the same moment.
    let is_told = |e: &EventRow| {
        e.what == "transmit" && on_air.iter().any(|(at, f)| *at == e.time_ns && f.node == e.node)
    };
    for e in events.iter().filter(|e| !is_told(e)) {
        steps.push((e.time_ns, step(e.time_ns, e.node, names, &e.what, e.text.clone())));
    }
    steps.extend(on_air);
    steps.sort_by_key(|(at, s)| (*at, rank(&s.what)));
    story.steps = steps.into_iter().map(|(_, s)| s).collect();
    Ok(Some(story))
}

/// The order of what happens at the same time: a packet comes, something is remarked and decided, it goes on or ends.
fn rank(what: &str) -> u8 {
    match what {
        "originate" | "receive" => 0,
        "remark" => 1,
        "decision" => 2,
        _ => 3,
    }
}

fn step(time_ns: i64, node: u32, names: &Names, what: &str, text: String) -> Step {
    Step {
        time_s: time_ns as f64 / 1e9,
        node,
        node_name: names.of(node),
        what: what.to_owned(),
        text,
        attempt: None,
        at: Vec::new(),
    }
}

fn event_words(event: &str, bytes: i64, ttl: i64, peer: Option<String>, reason: Option<&str>) -> String {
    let peer = peer.unwrap_or_else(|| "no node".to_owned());
    match event {
        "originate" => format!("an application sends it: {bytes} bytes"),
        "send" => format!("to the interface queue, for {peer}: {bytes} bytes, TTL {ttl}"),
        "forward" => format!("forwarded to the interface queue, for {peer}: {bytes} bytes, TTL {ttl}"),
        "transmit" => format!("on the air to {peer}"),
        "receive" => format!("received from {peer}"),
        "deliver" => "delivered to its application".to_owned(),
        "recall" => format!("taken back out of the interface queue for {peer}"),
        "drop" => format!("dropped: {}", reason.unwrap_or("for an unknown reason")),
        other => other.to_owned(),
    }
}

/// What protocols decided about the packet.
fn decisions(run: &RunDir, packet: i64, names: &Names) -> Result<Vec<(i64, Step)>, Error> {
    let mut all = Vec::new();
    if run.leaves_out("sends") {
        return Ok(all);
    }
    rows(run, "sends", &[("packet", packet, packet)], |row| {
        let (time_ns, node, decision) = (row.number("time_ns")?, row.int("node")?, row.text("decision")?);
        let hops = row.number("hops")?;
        let next = row.text("next_hop").map(|a| names.at(a));
        let text = match (decision, next) {
            ("waits", _) => "waits for a route".to_owned(),
            (_, Some(next)) => {
                let from = match decision {
                    "cached" => "a route from the cache",
                    "discovered" => "the route that was discovered",
                    "forwarded" => "the route in its header",
                    "salvaged" => "salvaged: another route from the cache",
                    "flow" => "the route of its flow",
                    "retransmitted" => "sent again",
                    other => other,
                };
                let plural = if hops == 1 { "" } else { "s" };
                format!("{from}, {hops} hop{plural}, by {next}")
            }
            (other, None) => other.to_owned(),
        };
        all.push((time_ns, step(time_ns, node, names, "decision", text)));
        (all.len() <= MOST_ROWS).then_some(())
    })?;
    Ok(all)
}

/// What protocols remarked while they had the packet: on discoveries of its destination, and on links that it was to take.
fn remarks(
    run: &RunDir,
    events: &[EventRow],
    story: &Story,
    names: &Names,
) -> Result<Vec<(i64, Step)>, Error> {
    let destination = story.destination.as_str();
    let (Some(first), Some(last)) = (events.first(), events.last()) else { return Ok(Vec::new()) };
    let mut stays: BTreeMap<u32, (i64, i64)> = BTreeMap::new();
    for e in events {
        stays.entry(e.node).or_insert((e.time_ns, e.time_ns)).1 = e.time_ns;
    }
    // A packet still in transit stays where it was last seen.
    let until = if story.outcome.as_deref() == Some("held") { i64::MAX } else { last.time_ns };
    if let Some(stay) = stays.get_mut(&last.node) {
        stay.1 = until;
    }
    let mut all = Vec::new();
    if run.leaves_out("events") {
        return Ok(all);
    }
    rows(run, "events", &[("time_ns", first.time_ns, until)], |row| {
        let (time_ns, node) = (row.number("time_ns")?, row.int("node")?);
        let (what, about) = (row.text("what")?, row.text("about")?);
        if !stays.get(&node).is_some_and(|(from, until)| (*from..=*until).contains(&time_ns)) {
            return Some(());
        }
        let next_hop = || {
            let sent = events.iter().filter(|e| e.node == node && e.time_ns <= time_ns);
            sent.filter(|e| matches!(e.what.as_str(), "send" | "forward"))
                .filter_map(|e| e.peer.as_deref())
                .next_back()
        };
        let about_it = match what {
            "discovery_start" | "discovery_done" | "discovery_failed" | "repair_start" => {
                about == destination
            }
            "link_broken" => next_hop() == Some(about),
            _ => false,
        };
        if about_it {
            let text = remark_words(what, &names.at(about), row.number("value")?);
            all.push((time_ns, step(time_ns, node, names, "remark", text)));
        }
        (all.len() <= MOST_ROWS).then_some(())
    })?;
    Ok(all)
}

fn remark_words(what: &str, about: &str, value: i64) -> String {
    match what {
        "discovery_start" => format!("asks for a route to {about}"),
        "discovery_done" => {
            format!("has a route to {about}, {:.3} ms after it first asked", value as f64 / 1e3)
        }
        "discovery_failed" => format!("found no route to {about}"),
        "repair_start" => format!("repairs its route to {about}"),
        _ => format!("the link to {about} is broken"),
    }
}

fn end(run: &RunDir, story: &mut Story, last: Option<&EventRow>) -> Result<(), Error> {
    let (Some(flow), Some(seq)) = (story.flow, story.seq) else {
        if last.is_some_and(|e| e.what == "drop") {
            story.outcome = Some("dropped".to_owned());
        }
        return Ok(());
    };
    let seq = i64::try_from(seq).unwrap_or(i64::MAX);
    let mut ends = Vec::new();
    if run.leaves_out("outcomes") {
        return Ok(());
    }
    rows(run, "outcomes", &[("flow", flow.into(), flow.into()), ("seq", seq, seq)], |row| {
        let reason = row.text("reason").map(str::to_owned);
        ends.push((row.text("outcome")?.to_owned(), reason, row.int("nodes")?));
        Some(())
    })?;
    // A packet to all may have arrived at some: what is asked for is a loss.
    ends.sort_by_key(|(outcome, ..)| outcome == "delivered");
    if let Some((outcome, reason, nodes)) = ends.into_iter().next() {
        (story.outcome, story.reason, story.nodes) = (Some(outcome), reason, nodes);
    }
    Ok(())
}
