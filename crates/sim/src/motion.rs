//! The nodes' tracks, as the radio asks for them.

use wayhop_core::{Leg, Time};
use wayhop_world::{Cursor, Track};

/// All tracks, and where each node is on its own.
pub(crate) struct Movers {
    tracks: Vec<Track>,
    cursors: Vec<Cursor>,
    max_speed_m_per_s: f64,
    /// All jumps, in order.
    jumps: Vec<Time>,
}

impl Movers {
    pub(crate) fn new(tracks: Vec<Track>) -> Self {
        let mut jumps: Vec<Time> = tracks.iter().flat_map(Track::jumps).collect();
        jumps.sort_unstable();
        Self {
            cursors: tracks.iter().map(Cursor::new).collect(),
            max_speed_m_per_s: tracks.iter().map(Track::max_speed).fold(0.0, f64::max),
            tracks,
            jumps,
        }
    }

    /// The tracks, by node.
    pub(crate) fn tracks(&self) -> &[Track] {
        &self.tracks
    }

    pub(crate) fn leg(&mut self, node: u32, t: Time) -> Leg {
        let i = node as usize;
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
