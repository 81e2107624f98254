//! The fates of frames at their receivers: rows of the table `receptions`, and damaged frames in captures.

use wayhop_core::{FlowTag, IfaceId, NodeId};
use wayhop_radio::{FrameFate, FrameKind, NOBODY, Watching, units};
use wayhop_scenario::Resolved;
use wayhop_trace::ReceptionEvent;

/// Which frames are watched.
#[derive(Default)]
pub(crate) struct Watched {
    /// By node: those that it sends or should receive.
    nodes: Vec<bool>,
    /// By flow: those of its packets.
    flows: Vec<bool>,
    /// By node: those that it could not decode are in its capture.
    damaged: Vec<bool>,
}

impl Watched {
    /// What a scenario asks for; `None` for nothing. `rows` and `frames` tell whether anybody takes these.
    pub(crate) fn new(scenario: &Resolved, rows: bool, frames: bool) -> Option<Self> {
        let (receptions, captures) = (&scenario.receptions, &scenario.captures);
        let (rows, frames) = (rows && receptions.is_wanted(), frames && captures.damaged);
        if !rows && !frames {
            return None;
        }
        let nodes = scenario.tracks.len();
        Some(Self {
            nodes: flags(nodes, receptions.nodes.iter().filter(|_| rows).map(|n| n.index())),
            flows: flags(scenario.flows.len(), receptions.flows.iter().filter(|_| rows).map(|f| *f as usize)),
            damaged: flags(nodes, captures.nodes.iter().filter(|_| frames).map(|n| n.index())),
        })
    }

    /// What radios need to know of it.
    pub(crate) fn at_stations(&self) -> Watching {
        Watching { stations: self.nodes.clone(), listeners: self.damaged.clone() }
    }

    /// Whether all receivers of this node's frame are watched.
    pub(crate) fn is_everywhere(&self, from: u32, flow: Option<FlowTag>) -> bool {
        self.nodes[from as usize] || flow.and_then(|f| self.flows.get(f.flow as usize)).is_some_and(|on| *on)
    }

    /// Whether a node's capture has the frames that it could not decode.
    pub(crate) fn shows_damaged(&self, node: u32) -> bool {
        self.damaged.get(node as usize).is_some_and(|on| *on)
    }
}

/// A list of this length that is true at these places.
pub(crate) fn flags(len: usize, places: impl Iterator<Item = usize>) -> Vec<bool> {
    let mut flags = vec![false; len];
    places.for_each(|place| flags[place] = true);
    flags
}

/// The row about a frame at a station.
pub(crate) fn row(f: &FrameFate<'_>, iface: IfaceId) -> ReceptionEvent {
    let dbm = |watts: f64| if watts > 0.0 { units::watts_to_dbm_fast(watts) } else { f32::NAN };
    let station = f.frame.station;
    ReceptionEvent {
        time: f.ended,
        sent: f.began,
        node: (station != NOBODY).then_some(NodeId(station)),
        iface,
        sender: NodeId(f.id.from),
        frame: name(f.id.kind),
        packet: f.id.packet,
        flow: f.flow,
        attempt: f.attempt,
        outcome: f.fate.name(),
        signal_dbm: dbm(f.frame.watts),
        mean_signal_dbm: dbm(f.mean_watts),
        needed_dbm: dbm(f.needed_watts),
        other: f.other.map(|o| NodeId(o.from)),
        other_frame: f.other.map(|o| name(o.kind)),
        other_packet: f.other.and_then(|o| o.packet),
    }
}

fn name(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::Rts => "rts",
        FrameKind::Cts => "cts",
        FrameKind::Ack => "ack",
        FrameKind::Data => "data",
        FrameKind::Broadcast => "broadcast",
        FrameKind::Beacon => "beacon",
        FrameKind::Noise => "noise",
    }
}
