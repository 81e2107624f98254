//! The nodes' tracks, as the radio asks for them.

use std::sync::Arc;

use wayhop_core::{Leg, Position, Time};
use wayhop_world::{Cursor, Track};

/// All tracks, and where each node is on its own.
pub(crate) struct Movers {
    /// The scenario's.
    tracks: Arc<[Track]>,
    cursors: Vec<Cursor>,
    max_speed_m_per_s: f64,
    /// All jumps, in order.
    jumps: Vec<Time>,
    /// Nodes that somebody put elsewhere; empty while there are none.
    set: Vec<Option<Position>>,
}

impl Movers {
    pub(crate) fn new(tracks: Arc<[Track]>) -> Self {
        let mut jumps: Vec<Time> = tracks.iter().flat_map(Track::jumps).collect();
        jumps.sort_unstable();
        Self {
            cursors: vec![Cursor::default(); tracks.len()],
            max_speed_m_per_s: tracks.iter().map(Track::max_speed).fold(0.0, f64::max),
            tracks,
            jumps,
            set: Vec::new(),
        }
    }

    /// The tracks, by node.
    pub(crate) fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    /// Puts a node elsewhere, or back on its track.
    pub(crate) fn set(&mut self, node: u32, at: Option<Position>) {
        self.set.resize(self.tracks.len(), None);
        self.set[node as usize] = at;
    }
    /// Whether it was put elsewhere.
    pub(crate) fn is_set(&self, node: u32) -> bool {
        self.set.get(node as usize).is_some_and(Option::is_some)
    }

    pub(crate) fn leg(&mut self, node: u32, t: Time) -> Leg {
        let i = node as usize;
        if let Some(at) = self.set.get(i).copied().flatten() {
            return Leg::at_rest(at);
        }
        *self.cursors[i].leg(&self.tracks[i], t)
    }

    pub(crate) fn settled_until(&self, now: Time, distance_m: f64) -> Time {
        let drift = if self.max_speed_m_per_s > 0.0 {
            now + wayhop_core::Span::from_secs_f64(distance_m / self.max_speed_m_per_s)
        } else {
            Time::NEVER
        };
        let next = self.jumps.partition_point(|&j| j <= now);
        self.jumps.get(next).map_or(drift, |&j| drift.min(j))
    }
}
