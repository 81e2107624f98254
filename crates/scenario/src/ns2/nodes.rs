//! What a file says of each node, and the tracks that follow.

use std::collections::BTreeMap;

use wayhop_core::{Position, Time};
use wayhop_world::{Axis, Track, TrackBuilder};

use crate::limits::MAX_NODES;

/// One scheduled change of a node's motion.
#[derive(Copy, Clone, Debug)]
pub(super) enum Event {
    Destination { x: f64, y: f64, speed: f64 },
    Jump(Axis, f64),
}

/// What the files say of one node.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeEvents {
    pub(super) start: [Option<f64>; 3],
    pub(super) events: Vec<(Time, Event)>,
}

/// All nodes by the files' own ids.
#[derive(Debug, Default)]
pub(super) struct Nodes(BTreeMap<u32, NodeEvents>);

impl Nodes {
    pub(super) fn entry(&mut self, id: u32) -> &mut NodeEvents {
        self.0.entry(id).or_default()
    }

    pub(super) fn contains(&self, id: u32) -> bool {
        self.0.contains_key(&id)
    }

    /// The highest id, and how many ids have a position or a move.
    pub(super) fn extent(&self) -> Option<(u32, usize)> {
        self.0.last_key_value().map(|(&id, _)| (id, self.0.len()))
    }

    pub(super) fn last_event(&self) -> Option<Time> {
        self.0.values().flat_map(|n| &n.events).map(|e| e.0).max()
    }

    /// The tracks of nodes `base` to `base + count - 1`, with words on what is odd about them.
    pub(super) fn tracks(mut self, base: u32, count: usize) -> (Vec<Track>, Vec<String>) {
        let mut odd = Odd::default();
        let mut tracks = Vec::with_capacity(count.min(MAX_NODES));
        for id in (base..).take(count) {
            tracks.push(self.0.remove(&id).unwrap_or_default().track(id, &mut odd));
        }
        (tracks, odd.words())
    }
}

impl NodeEvents {
    fn track(mut self, id: u32, odd: &mut Odd) -> Track {
        let [x, y, z] = self.start.map(|c| c.unwrap_or(0.0));
        if self.start[0].is_none() || self.start[1].is_none() {
            odd.unplaced.push(id);
        }
        let mut b = TrackBuilder::new(Position { x, y, z });
        // Stable: ns-2 runs events of one moment in the order of the file.
        self.events.sort_by_key(|e| e.0);
        for (i, &(t, event)) in self.events.iter().enumerate() {
            match event {
                Event::Destination { x, y, speed } => b.set_destination(t, x, y, speed),
                Event::Jump(axis, value) => {
                    b.jump(t, axis, value);
                    let replaced = self.events[i + 1..]
                        .iter()
                        .take_while(|e| e.0 == t)
                        .any(|e| matches!(e.1, Event::Destination { .. }));
                    if b.is_driven(axis) && !replaced {
                        odd.driven.push(id);
                    }
                }
            }
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
            out.push(format!("nodes without a starting X_ and Y_ stand at 0: {}", list(&self.unplaced)));
        }
        if !self.driven.is_empty() {
            out.push(format!(
                "nodes whose coordinate is set after a setdest travel on to that setdest's destination, as in ns-2: {}",
                list(&self.driven)
            ));
        }
        out
    }
}
