//! The parts of a story.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::path::PathBetween;

/// Everything recorded about one packet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Story {
    /// Its number in the run.
    pub packet: u64,
    /// Its flow's index in the scenario; null for a routing packet.
    pub flow: Option<u32>,
    /// Its number in the flow, from 0; null for a routing packet.
    pub seq: Option<u64>,
    /// Its class: `cbr`, `tcp`, `rreq`, ...
    pub class: String,
    /// IP source.
    pub source: String,
    /// IP destination.
    pub destination: String,
    /// The number of the node with that source; null if no node has it.
    pub source_node: Option<u32>,
    /// The number of the node with that destination; null for broadcasts and for hosts outside.
    pub destination_node: Option<u32>,
    /// Its outcome: `delivered`, `dropped` or `held` (still in transit at the end); null if unknown.
    pub outcome: Option<String>,
    /// Why it was dropped.
    pub reason: Option<String>,
    /// Number of nodes at which it has this outcome: 1, except for broadcasts.
    pub nodes: u64,
    /// Whether the run recorded outcomes of frames at their receivers.
    pub has_receptions: bool,
    /// Whether a path between the two nodes existed during that time; null unless both are known.
    pub path: Option<PathBetween>,
    /// Its events, in order of time.
    pub steps: Vec<Step>,
}

/// An event of a packet, or caused by it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// Time since the start of the run.
    pub time_s: f64,
    /// The node's number.
    pub node: u32,
    /// The node's name.
    pub node_name: String,
    /// Kind: an event of the table `packets`, `decision` (table `sends`), `remark` (table `events`), `path` (at the source: the last
    /// path to the destination is lost, or one exists again), or a frame on the air (table `receptions`): `rts`, `cts`, `data`,
    /// `ack`, `broadcast`.
    pub what: String,
    /// The same in words.
    pub text: String,
    /// Attempts to send the packet or its RTS, including this one; null if not a frame.
    pub attempt: Option<u32>,
    /// The frame at its receivers; empty if not a frame.
    pub at: Vec<At>,
}

/// Outcome of a frame at a receiver.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct At {
    /// The receiver's number; null for an address that no node has.
    pub node: Option<u32>,
    /// Its name.
    pub node_name: Option<String>,
    /// Outcome of the frame there, as in the table `receptions`.
    pub outcome: String,
    /// The same in words.
    pub text: String,
    /// Received power.
    pub signal_dbm: Option<f64>,
    /// Required power.
    pub needed_dbm: Option<f64>,
    /// Number of the node whose frame interfered.
    pub other: Option<u32>,
    /// That node's name.
    pub other_name: Option<String>,
    /// The packet of that frame.
    pub other_packet: Option<u64>,
}

impl Story {
    /// The story as text, a line a step; times after the first one are differences to it.
    pub fn text(&self) -> String {
        let mut out = self.heading();
        if let Some(path) = &self.path {
            let _ = writeln!(out, "  {}", path.text);
        }
        let begin = self.steps.first().map_or(0.0, |s| s.time_s);
        for s in &self.steps {
            let after_ms = (s.time_s - begin) * 1e3;
            let _ = writeln!(
                out,
                "  {:>14.6} s  {after_ms:>+12.3} ms  {:<10}  {}",
                s.time_s, s.node_name, s.text
            );
            for at in s.at.iter().filter(|_| s.at.len() > 1) {
                let name = at.node_name.as_deref().unwrap_or("no node");
                let _ = writeln!(out, "  {:>16}  {:>15}  {:<10}    at {name}: {}", "", "", "", at.text);
            }
        }
        out
    }

    fn heading(&self) -> String {
        let flow = match (self.flow, self.seq) {
            (Some(flow), Some(seq)) => format!(" (flow {flow}, seq {seq})"),
            _ => String::new(),
        };
        let end = match (self.outcome.as_deref(), &self.reason) {
            (Some(outcome), Some(reason)) => format!(": {outcome}, {reason}"),
            (Some("held"), _) => ": still in transit at the end of the run".to_owned(),
            (Some(outcome), None) => format!(": {outcome}"),
            (None, _) => String::new(),
        };
        let (packet, class, from, to) = (self.packet, &self.class, &self.source, &self.destination);
        format!("packet {packet}{flow}, {class} from {from} to {to}{end}\n")
    }
}
