//! What a story is made of.

use std::fmt::Write as _;

use schemars::JsonSchema;
use serde::Serialize;

use super::path::PathBetween;

/// All that a run knows of one packet.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Story {
    /// Its number in the run.
    pub packet: u64,
    /// Its flow's index in the scenario; null for a routing packet.
    pub flow: Option<u32>,
    /// Its number in the flow, from 0; null for a routing packet.
    pub seq: Option<u64>,
    /// What it is: `cbr`, `tcp`, `rreq`, ...
    pub class: String,
    /// IP source.
    pub source: String,
    /// IP destination.
    pub destination: String,
    /// The number of the node with that source; null if no node has it.
    pub source_node: Option<u32>,
    /// The number of the node with that destination; null for packets to all and to hosts outside.
    pub destination_node: Option<u32>,
    /// What became of it: `delivered`, `dropped` or `held` (still under way at the end); null where nobody knows.
    pub outcome: Option<String>,
    /// Why it was dropped.
    pub reason: Option<String>,
    /// At how many nodes it has this outcome: 1, but for packets to all.
    pub nodes: u64,
    /// Whether the run recorded what became of frames at their receivers.
    pub has_receptions: bool,
    /// Whether a path between the two nodes existed meanwhile; null unless both are known.
    pub path: Option<PathBetween>,
    /// What happened, in order of time.
    pub steps: Vec<Step>,
}

/// Something that happened to a packet, or because of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Step {
    /// When, after the start of the run.
    pub time_s: f64,
    /// Where: the node's number.
    pub node: u32,
    /// The node's name.
    pub node_name: String,
    /// What: an event of the table `packets`, `decision` (table `sends`), `remark` (table `events`), `path` (at the
    /// source: the last path to the destination is gone, or one exists again), or a frame on the air (table `receptions`): `rts`, `cts`, `data`, `ack`, `broadcast`.
    pub what: String,
    /// The same in words.
    pub text: String,
    /// How often the packet or its RTS had been sent, this time included; null for what is no frame.
    pub attempt: Option<u32>,
    /// The frame at its receivers; empty for what is no frame.
    pub at: Vec<At>,
}

/// What became of a frame at a receiver.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct At {
    /// The receiver's number; null for an address that no node has.
    pub node: Option<u32>,
    /// Its name.
    pub node_name: Option<String>,
    /// What became of the frame there, as in the table `receptions`.
    pub outcome: String,
    /// The same in words.
    pub text: String,
    /// Received power.
    pub signal_dbm: Option<f64>,
    /// The power that it needs.
    pub needed_dbm: Option<f64>,
    /// Number of the node whose frame was in its way.
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
                let name = at.node_name.as_deref().unwrap_or("nobody");
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
            (Some("held"), _) => ": still under way when the run ended".to_owned(),
            (Some(outcome), None) => format!(": {outcome}"),
            (None, _) => String::new(),
        };
        let (packet, class, from, to) = (self.packet, &self.class, &self.source, &self.destination);
        format!("packet {packet}{flow}, {class} from {from} to {to}{end}\n")
    }
}
