//! The nodes of a file: their names and their tracks.

use std::collections::BTreeMap;

use wayhop_core::{Position, Time};
use wayhop_document::{Error, LineColumn, Result};
use wayhop_world::{Axis, Track, TrackBuilder};

use crate::MAX_NODES;

/// A node's name with an id that cannot be.
pub(super) struct BadId;

/// The id in `node_(12)`, `node(12)`, `n(12)`, `node12`, `n12`; `None` for the name of something else.
pub(super) fn node_id(name: &str) -> Option<Result<u32, BadId>> {
    let rest = ["node_", "nodes_", "node", "nodes", "n_", "n"].iter().find_map(|p| {
        name.strip_prefix(p).filter(|r| r.starts_with('(') || r.starts_with(|c: char| c.is_ascii_digit()))
    })?;
    let digits = rest.strip_prefix('(').map_or(Some(rest), |r| r.strip_suffix(')'));
    Some(digits.and_then(|d| d.parse::<u32>().ok()).filter(|&id| (id as usize) <= MAX_NODES).ok_or(BadId))
}

/// The node in `g(12)`, as SUMO writes its activity file.
pub(super) fn activity_id(name: &str) -> Option<u32> {
    let digits = name.strip_prefix("g(")?.strip_suffix(')')?;
    digits.parse().ok().filter(|&id| (id as usize) <= MAX_NODES)
}

/// The number in `$node_(3)`.
pub(super) fn node_number(reference: &str, place: LineColumn) -> Result<u32> {
    let id = reference.strip_prefix('$').and_then(node_id).and_then(Result::ok);
    id.ok_or_else(|| bad_node(reference, place))
}

pub(super) fn bad_node(text: &str, place: LineColumn) -> Error {
    Error::new(format!("{text} names no node"), format!("write $node_(N) with N from 0 to {MAX_NODES}"))
        .at(place)
}

/// One scheduled change of a node's motion.
#[derive(Copy, Clone, Debug)]
pub(super) enum MotionEvent {
    Destination { x: f64, y: f64, speed: f64 },
    Jump(Axis, f64),
}

/// What the files say of one node. As in ns-2, commands without a time are carried out as they are read, and scheduled
/// ones when the run is under way.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeEvents {
    immediate: Vec<MotionEvent>,
    scheduled: Vec<(Time, MotionEvent)>,
}

#[derive(Debug, Default)]
pub(super) struct Nodes(BTreeMap<u32, NodeEvents>);

impl Nodes {
    pub(super) fn entry(&mut self, id: u32) -> &mut NodeEvents {
        self.0.entry(id).or_default()
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = u32> {
        self.0.keys().copied()
    }

    pub(super) fn last_event(&self) -> Option<Time> {
        self.0.values().flat_map(|n| &n.scheduled).map(|e| e.0).max()
    }

    /// The tracks of these nodes, with words on what is odd about them.
    pub(super) fn tracks(mut self, ids: &[u32]) -> (Vec<Track>, Vec<String>) {
        let mut odd = Odd::default();
        let track = |&id| self.0.remove(&id).unwrap_or_default().track(id, &mut odd);
        let tracks = ids.iter().map(track).collect();
        (tracks, odd.words())
    }
}

impl NodeEvents {
    pub(super) fn push(&mut self, at: Option<Time>, event: MotionEvent) {
        match at {
            Some(at) => self.scheduled.push((at, event)),
            None => self.immediate.push(event),
        }
    }

    fn track(mut self, id: u32, odd: &mut Odd) -> Track {
        // Coordinates before the first setdest are the start; a setdest before them takes its direction from (0, 0).
        let leading = self.immediate.iter().take_while(|e| matches!(e, MotionEvent::Jump(..))).count();
        let mut start = [0.0; 3];
        let mut is_placed = [false; 3];
        for event in self.immediate.drain(..leading) {
            if let MotionEvent::Jump(axis, value) = event {
                start[axis as usize] = value;
                is_placed[axis as usize] = true;
            }
        }
        // Stable: ns-2 runs events of one moment in the order of the file.
        self.scheduled.sort_by_key(|e| e.0);
        let immediate = self.immediate.into_iter().map(|e| (Time::ZERO, e));
        let events: Vec<(Time, MotionEvent)> = immediate.chain(self.scheduled).collect();
        let [x, y, z] = start;
        let mut b = TrackBuilder::new(Position { x, y, z });
        for (i, &(t, event)) in events.iter().enumerate() {
            match event {
                MotionEvent::Destination { x, y, speed } => b.set_destination(t, x, y, speed),
                MotionEvent::Jump(axis, value) => {
                    is_placed[axis as usize] |= t == Time::ZERO;
                    b.jump(t, axis, value);
                    let mut same_time = events[i + 1..].iter().take_while(|e| e.0 == t);
                    let replaced = same_time.any(|e| matches!(e.1, MotionEvent::Destination { .. }));
                    if b.is_driven(axis) && !replaced {
                        odd.driven.push(id);
                    }
                }
            }
        }
        if !is_placed[0] || !is_placed[1] {
            odd.unplaced.push(id);
        }
        b.finish()
    }
}

/// Ids with something odd about them.
#[derive(Default)]
struct Odd {
    unplaced: Vec<u32>,
    driven: Vec<u32>,
}

impl Odd {
    fn words(mut self) -> Vec<String> {
        self.driven.dedup();
        let list = |ids: &[u32]| {
            let first: Vec<String> = ids.iter().take(5).map(u32::to_string).collect();
            let more = if ids.len() > 5 { ", ..." } else { "" };
            format!("{} ({}{more})", ids.len(), first.join(", "))
        };
        let mut out = Vec::new();
        if !self.unplaced.is_empty() {
            out.push(format!("nodes without an initial X_ and Y_ are placed at 0: {}", list(&self.unplaced)));
        }
        if !self.driven.is_empty() {
            out.push(format!(
                "nodes whose coordinate is set after a setdest continue to that setdest's destination, as in ns-2: {}",
                list(&self.driven)
            ));
        }
        out
    }
}
