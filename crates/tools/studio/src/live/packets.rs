//! Packets' events as they come over a control socket, in the frames that the page has of recorded runs.

use std::collections::BTreeMap;
use std::net::IpAddr;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};
use wayhop_control::{About, Event};
use wayhop_core::{Addr, from_hex};
use wayhop_protocols::{CLASSIFIER, classify};
use wayhop_trace::{Conversation, ConversationEnds, Identity};
use wayhop_wire::{ip, ipv4};

use crate::packets::{EVERYBODY, NOBODY, PacketEvent, PacketEvents};

/// Rows that wait for the next frame.
const MOST_ROWS: usize = 1 << 14;
const MOST_FLOWS: usize = 1_000;

/// The events since the last frame.
pub(crate) struct Packets {
    nodes: FxHashMap<IpAddr, i32>,
    waiting: PacketEvents,
    /// Up to when the last frame reached, nanoseconds; none before the first.
    until: Option<i64>,
    /// Events for which there was no room.
    lost: u64,
    /// What is known of each flow, by its number, as a summary has it.
    flows: BTreeMap<u32, Value>,
    /// The numbers of flows that no client has received yet.
    new_flows: Vec<u32>,
}

impl Packets {
    pub(crate) fn new(about: &About) -> Self {
        let nodes = (0..).zip(&about.nodes).map(|(i, n)| (n.address.into(), i)).collect();
        let (waiting, flows, new_flows) = (PacketEvents::default(), BTreeMap::new(), Vec::new());
        Self { nodes, waiting, until: None, lost: 0, flows, new_flows }
    }

    /// Takes an event of a packet. `node` is the number of its node's row.
    pub(crate) fn add(&mut self, node: i32, event: &Event) {
        let Event::Packet { time_s, event, packet, flow, seq, bytes, head, peer, reason, .. } = event else {
            return;
        };
        let waiting = &mut self.waiting;
        if waiting.rows.len() >= MOST_ROWS {
            self.lost += 1;
            return;
        }
        let known = |peer: &IpAddr| self.nodes.get(peer).copied().unwrap_or_else(|| nobody(*peer));
        let octets = octets(head, *bytes);
        let class = octets.as_deref().and_then(|o| classify(o).0).map_or("data", |class| class.name());
        waiting.rows.push(PacketEvent {
            // What comes late counts for the frame that is under way: frames follow each other in time.
            time_ns: (time_s * 1e9).max(self.until.unwrap_or(0) as f64),
            packet: *packet as f64,
            seq: seq.map_or(-1.0, f64::from),
            node,
            peer: peer.as_ref().map_or(NOBODY, known),
            flow: flow.map_or(-1, |f| f as i32),
            bytes: i32::try_from(*bytes).unwrap_or(-1),
            event: waiting.events.number(Some(event.as_bytes())),
            class: waiting.classes.number(Some(class.as_bytes())),
            reason: waiting.reasons.number(reason.as_deref().map(str::as_bytes)),
        });
        if let (Some(flow), Some(octets)) = (*flow, octets)
            && self.flows.len() < MOST_FLOWS
            && !self.flows.contains_key(&flow)
            && let Some(about) = self.about_flow(flow, &octets)
        {
            self.flows.insert(flow, about);
            self.new_flows.push(flow);
        }
    }

    fn about_flow(&self, flow: u32, octets: &[u8]) -> Option<Value> {
        let packet = ip::Packet::new_checked(octets).ok()?;
        let ends = ConversationEnds::new(packet.src, packet.dst, &Identity::of(octets, CLASSIFIER)?);
        let node = |a: Addr| self.nodes.get(&a.ip()).and_then(|n| u32::try_from(*n).ok());
        let conversation =
            Conversation { ends, packets: 0, first_ns: 0, last_ns: 0, arrived_ns: None, more: () };
        Some(json!(conversation.summary(flow, node(ends.source), node(ends.destination))))
    }

    pub(crate) fn flows(&self) -> Vec<&Value> {
        self.flows.values().collect()
    }

    /// Those that came to be known since the last question.
    pub(crate) fn new_flows(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.new_flows).iter().filter_map(|n| self.flows.get(n).cloned()).collect()
    }

    /// How many events were left out since the last question.
    pub(crate) fn lost(&mut self) -> u64 {
        std::mem::take(&mut self.lost)
    }

    /// The events up to a moment of the run, in the order of their times; complete but for those that are still on their way.
    pub(crate) fn frame(&mut self, time_s: f64, number: u64) -> Vec<u8> {
        let mut waiting = std::mem::take(&mut self.waiting);
        // Those of one moment stay as they came.
        waiting.rows.sort_by(|a, b| a.time_ns.total_cmp(&b.time_ns));
        let now = (time_s * 1e9) as i64;
        // What happened before anybody looked is not known.
        let from = self.until.or(waiting.rows.first().map(|r| r.time_ns as i64)).unwrap_or(now);
        let last = waiting.rows.last().map_or(now, |r| r.time_ns as i64 + 1);
        let until = from.max(last).max(now);
        self.until = Some(until);
        waiting.into_frame(from, until, Some(number))
    }
}

/// All in range, or somebody who is not a node of the run.
fn nobody(peer: IpAddr) -> i32 {
    let is_all = match peer {
        IpAddr::V4(a) => a.is_broadcast() || a.is_multicast(),
        IpAddr::V6(a) => a.is_multicast(),
    };
    if is_all { EVERYBODY } else { NOBODY }
}

/// A packet as far as its first octets tell it, as long as it is; none of what is no packet.
fn octets(head: &str, bytes: u32) -> Option<Vec<u8>> {
    let mut octets = from_hex(head)?;
    if octets.len() < ipv4::HEADER_LEN {
        return None;
    }
    octets.resize((bytes as usize).min(usize::from(u16::MAX)), 0);
    Some(octets)
}
