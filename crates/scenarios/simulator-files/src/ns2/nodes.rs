//! The nodes of a file, and their tracks.

use std::collections::BTreeMap;

use wayhop_core::{Position, Time};
use wayhop_world::{Axis, Track, TrackBuilder};

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

/// All nodes by the files' own ids.
#[derive(Debug, Default)]
pub(super) struct Nodes(BTreeMap<u32, NodeEvents>);

impl Nodes {
    pub(super) fn entry(&mut self, id: u32) -> &mut NodeEvents {
        self.0.entry(id).or_default()
    }

    /// The numbers of all nodes, ascending.
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
                    let replaced = events[i + 1..]
                        .iter()
                        .take_while(|e| e.0 == t)
                        .any(|e| matches!(e.1, MotionEvent::Destination { .. }));
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
