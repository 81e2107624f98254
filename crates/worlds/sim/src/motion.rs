//! The nodes' tracks, for the radio.

use std::sync::Arc;

use wayhop_core::{Leg, Position, Time};
use wayhop_world::{Cursor, Track};

/// All tracks, and where each node is on its own.
pub(crate) struct Movers {
    /// The scenario's.
    pub(crate) tracks: Arc<[Track]>,
    cursors: Vec<Cursor>,
    max_speed_m_per_s: f64,
    /// All jumps, in order.
    jumps: Vec<Time>,
    /// Nodes that somebody put elsewhere; empty while there are none.
    set: Vec<Option<Position>>,
    /// When somebody put which node where, or back on its track.
    moves: Vec<(Time, u32, Option<Position>)>,
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
            moves: Vec::new(),
        }
    }

    /// Puts a node elsewhere, or back on its track.
    pub(crate) fn set(&mut self, now: Time, node: u32, at: Option<Position>) {
        self.moves.push((now, node, at));
        self.set.resize(self.tracks.len(), None);
        self.set[node as usize] = at;
    }
    /// Whether it was put elsewhere.
    pub(crate) fn is_set(&self, node: u32) -> bool {
        self.set.get(node as usize).is_some_and(Option::is_some)
    }

    /// The legs of those who were put elsewhere, from their first move on. Where one begins when a leg of the track does, it is the
    /// one that holds.
    pub(crate) fn moved_legs(&self) -> Vec<(u32, Leg)> {
        let mut legs = Vec::new();
        for (i, &(from, node, at)) in self.moves.iter().enumerate() {
            let next = self.moves[i + 1..].iter().find(|m| m.1 == node);
            let until = next.map_or(Time::NEVER, |m| m.0);
            let track = &self.tracks[node as usize];
            let Some(at) = at else {
                let leg = track.leg_at(from);
                legs.push((node, Leg { from, start: leg.position(from), ..leg }));
                continue;
            };
            let over = track.legs().iter().map(|l| l.from).filter(|t| (from..until).contains(t) && *t > from);
            let begins = [from].into_iter().chain(over);
            legs.extend(begins.map(|from| (node, Leg { from, until, ..Leg::at_rest(at) })));
        }
        legs
    }

    pub(crate) fn leg(&mut self, node: u32, t: Time) -> Leg {
        let i = node as usize;
        if let Some(at) = self.set.get(i).copied().flatten() {
            return Leg::at_rest(at);
        }
        let leg = self.cursors[i].leg(&self.tracks[i], t);
        if t < leg.from {
            return self.tracks[i].leg_at(t);
        }
        *leg
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

#[cfg(test)]
mod tests {
    use wayhop_core::{NodeId, Span};
    use wayhop_trace::PositionEvent;
    use wayhop_trace::diff::Places;
    use wayhop_world::Waypoint;

    use super::*;

    fn at(s: f64) -> Time {
        Time::ZERO + Span::from_secs_f64(s)
    }

    fn event(node: u32, l: &Leg) -> PositionEvent {
        let [x, y, z] = l.velocity;
        let velocity = Position::new(x, y, z);
        PositionEvent { time: l.from, until: l.until, node: NodeId(node), at: l.start, velocity }
    }

    /// What the run directory says of a node that was put elsewhere, twice, and back each time, is where the radio had it.
    #[test]
    fn recorded_moves_are_where_the_radio_has_the_node() {
        let to = |x, speed| Waypoint { to: Position::new(x, 0.0, 0.0), speed, pause: Span::ZERO };
        // Turns at 4 s, rests from 9 s on.
        let track = Track::through(Position::default(), Span::ZERO, &[to(40.0, 10.0), to(15.0, 5.0)]);
        let legs = track.legs().to_vec();
        let mut movers = Movers::new([track.clone(), track].into());
        let [p, q] = [Position::new(500.0, 7.0, 0.0), Position::new(600.0, 8.0, 0.0)];
        let orders =
            [(2.0, Some(p)), (2.5, Some(q)), (5.0, None), (6.0, Some(p)), (9.0, None), (9.5, Some(q))];
        let mut seen = Vec::new();
        for tenth in 0..120 {
            let now = f64::from(tenth) / 10.0;
            for (_, place) in orders.iter().filter(|(t, _)| *t == now) {
                movers.set(at(now), 0, *place);
            }
            seen.push((at(now), [0, 1].map(|node| movers.leg(node, at(now)).position(at(now)))));
        }
        let tracks = [0, 1].into_iter().flat_map(|node| legs.iter().map(move |l| event(node, l)));
        let moved = movers.moved_legs();
        let places = Places::of_legs(tracks.chain(moved.iter().map(|(node, l)| event(*node, l))));
        for (t, radio) in seen {
            for node in [0, 1] {
                let told = places.at(NodeId(node), t.as_nanos()).expect("a place");
                let had = radio[node as usize];
                assert!(
                    (told.x - had.x).abs() + (told.y - had.y).abs() < 1e-9,
                    "{t:?} node {node}: {told:?} {had:?}"
                );
            }
        }
        assert!(moved.iter().all(|(node, _)| *node == 0), "the other node was left alone");
    }
}
