//! A node's motion as consecutive legs.

use std::sync::Arc;

use wayhop_core::{Leg, Position, Span, Time};

/// Everything that one node ever does: legs without gaps from [`Time::ZERO`] to [`Time::NEVER`].
#[derive(Clone, Debug)]
pub struct Track {
    /// Shared by clones, and by all that [`Track::all_fixed`] made, each of which has its own part.
    shared: Arc<[Leg]>,
    first: u32,
    end: u32,
}

impl PartialEq for Track {
    fn eq(&self, other: &Self) -> bool {
        self.legs() == other.legs()
    }
}

impl Track {
    /// A node that never moves.
    pub fn fixed(at: Position) -> Self {
        Self::alone(Arc::new([Leg::at_rest(at)]))
    }
    /// A node at each place, none of which ever moves. Together they take less memory than each from [`Track::fixed`].
    pub fn all_fixed(places: &[Position]) -> Vec<Self> {
        let shared: Arc<[Leg]> = places.iter().map(|at| Leg::at_rest(*at)).collect();
        (0..places.len() as u32).map(|k| Self { shared: Arc::clone(&shared), first: k, end: k + 1 }).collect()
    }
    /// Legs that somebody wrote down, in any order; `None` if there are none. As [`Track::legs`] are, each lasts until the next
    /// begins; of several that begin at the same moment the last counts.
    pub fn of_legs(mut legs: Vec<Leg>) -> Option<Self> {
        legs.sort_by_key(|l| l.from);
        (!legs.is_empty()).then(|| Self::from_legs(legs))
    }
    /// The legs given, each lasting until the next begins; the first is taken to begin at zero.
    ///
    /// Of several legs that begin at the same moment the last counts. `legs` must be sorted by `from` and not empty.
    pub(crate) fn from_legs(mut legs: Vec<Leg>) -> Self {
        debug_assert!(legs.is_sorted_by_key(|l| l.from), "legs out of order");
        legs[0].from = Time::ZERO;
        let mut kept: Vec<Leg> = Vec::with_capacity(legs.len());
        for leg in legs {
            match kept.last_mut() {
                Some(last) if last.from == leg.from => *last = leg,
                Some(last) if last.is_rest() && leg.is_rest() && last.start == leg.start => {}
                Some(last) => {
                    last.until = leg.from;
                    kept.push(leg);
                }
                None => kept.push(leg),
            }
        }
        if let Some(last) = kept.last_mut() {
            last.until = Time::NEVER;
        }
        Self::alone(kept.into())
    }
    fn alone(legs: Arc<[Leg]>) -> Self {
        Self { first: 0, end: legs.len() as u32, shared: legs }
    }
    /// The legs in order of time.
    pub fn legs(&self) -> &[Leg] {
        &self.shared[self.first as usize..self.end as usize]
    }
    /// The leg that holds at `t`, by binary search.
    pub fn leg_at(&self, t: Time) -> Leg {
        self.legs()[self.index_at(t)]
    }
    /// Where the node is at `t`.
    pub fn position(&self, t: Time) -> Position {
        self.leg_at(t).position(t)
    }
    /// The highest speed of any leg, metres per second. Jumps do not count: see [`Track::jumps`].
    pub fn max_speed(&self) -> f64 {
        self.legs().iter().map(Leg::speed).fold(0.0, f64::max)
    }
    /// The same way, `factor` (above zero) times as fast: every moment is divided by it.
    #[must_use]
    pub fn sped_up(&self, factor: f64) -> Self {
        let faster = |leg: &Leg| Leg {
            from: Time::from_nanos((leg.from.as_nanos() as f64 / factor).round() as u64),
            velocity: leg.velocity.map(|v| v * factor),
            ..*leg
        };
        Self::from_legs(self.legs().iter().map(faster).collect())
    }
    /// Whether the node never moves and never jumps.
    pub fn is_fixed(&self) -> bool {
        matches!(self.legs(), [only] if only.is_rest())
    }
    /// The moments at which the node is suddenly elsewhere (by more than a micrometre).
    pub fn jumps(&self) -> impl Iterator<Item = Time> + '_ {
        self.legs()
            .windows(2)
            .filter(|w| w[0].position(w[1].from).distance_squared(w[1].start) > 1e-12)
            .map(|w| w[1].from)
    }

    fn index_at(&self, t: Time) -> usize {
        // The first leg begins at zero, so there is always one.
        self.legs().partition_point(|l| l.from <= t) - 1
    }
}

/// The leg that a node is on, kept so that queries at times that do not go back cost a comparison.
#[derive(Copy, Clone, Debug, Default)]
pub struct Cursor {
    /// The leg's index.
    at: u32,
}

impl Cursor {
    /// The leg that holds at `t`. `track` is always the same one; `t` never goes back.
    pub fn leg<'a>(&mut self, track: &'a Track, t: Time) -> &'a Leg {
        let legs = track.legs();
        while t >= legs[self.at as usize].until && self.at as usize + 1 < legs.len() {
            self.at += 1;
        }
        &legs[self.at as usize]
    }
    /// Where the node is at `t`; see [`Cursor::leg`].
    pub fn at(&mut self, track: &Track, t: Time) -> Position {
        self.leg(track, t).position(t)
    }
}

/// A place that a node goes to.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Waypoint {
    /// The place.
    pub to: Position,
    /// How fast it goes there in a straight line, metres per second, above zero.
    pub speed: f64,
    /// How long it stays there.
    pub pause: Span,
}

impl Track {
    /// A node that stays at `start` for `pause`, then goes from waypoint to waypoint, and stays at the last one.
    pub fn through(start: Position, pause: Span, waypoints: &[Waypoint]) -> Self {
        let mut legs = vec![Leg::at_rest(start)];
        let (mut at, mut now) = (start, Time::ZERO + pause);
        for w in waypoints {
            let distance = at.distance(w.to);
            let arrival = now + Span::from_secs_f64(distance / w.speed);
            if arrival > now {
                let per_second = w.speed / distance;
                let way = [w.to.x - at.x, w.to.y - at.y, w.to.z - at.z];
                let velocity = way.map(|d| d * per_second);
                legs.push(Leg { from: now, until: Time::NEVER, start: at, velocity });
            }
            if arrival == Time::NEVER {
                break;
            }
            legs.push(Leg { from: arrival, ..Leg::at_rest(w.to) });
            (at, now) = (w.to, arrival + w.pause);
        }
        Self::from_legs(legs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leg(s: f64, start: [f64; 3], velocity: [f64; 3]) -> Leg {
        let [x, y, z] = start;
        Leg { from: Time::from_secs_f64(s), until: Time::NEVER, start: Position { x, y, z }, velocity }
    }

    fn sample() -> Track {
        Track::from_legs(vec![
            leg(0.0, [0.0, 0.0, 0.0], [0.0; 3]),
            leg(1.0, [0.0, 0.0, 0.0], [2.0, 0.0, 1.0]),
            leg(3.0, [4.0, 0.0, 2.0], [0.0; 3]),
            leg(5.0, [50.0, 0.0, 2.0], [0.0, -1.0, 0.0]),
        ])
    }

    #[test]
    fn position_follows_the_leg_that_holds() {
        let t = sample();
        for (s, x, y, z) in [
            (0.0, 0.0, 0.0, 0.0),
            (1.0, 0.0, 0.0, 0.0),
            (2.5, 3.0, 0.0, 1.5),
            (3.0, 4.0, 0.0, 2.0),
            (4.999, 4.0, 0.0, 2.0),
            (5.0, 50.0, 0.0, 2.0),
            (7.0, 50.0, -2.0, 2.0),
        ] {
            let p = t.position(Time::from_secs_f64(s));
            assert!(p.distance(Position::new(x, y, z)) < 1e-9, "{s}: {p:?}");
        }
        assert!((t.max_speed() - 5f64.sqrt()).abs() < 1e-12);
        assert_eq!(t.jumps().collect::<Vec<_>>(), [Time::from_secs_f64(5.0)]);
    }

    #[test]
    fn a_faster_node_is_where_the_slow_one_is_later() {
        let (slow, fast) = (sample(), sample().sped_up(5.0));
        for s in [0.0, 0.9, 1.0, 1.7, 2.5, 3.0, 4.999, 5.0, 7.0] {
            let (then, now) =
                (slow.position(Time::from_secs_f64(s)), fast.position(Time::from_secs_f64(s / 5.0)));
            assert!(then.distance(now) < 1e-9, "{s}: {then:?} {now:?}");
        }
        assert!((fast.max_speed() - 5.0 * slow.max_speed()).abs() < 1e-12);
        assert_eq!(slow.sped_up(1.0), slow);
    }

    #[test]
    fn cursor_agrees_with_binary_search() {
        let t = sample();
        let mut c = Cursor::default();
        for ms in (0..9_000).step_by(125) {
            let now = Time::from_nanos(ms * 1_000_000);
            assert_eq!(c.at(&t, now), t.position(now));
            assert!(c.leg(&t, now).from <= now && now < c.leg(&t, now).until);
        }
    }

    #[test]
    fn of_legs_that_begin_together_the_last_counts_and_repeated_rest_is_one_leg() {
        let t = Track::from_legs(vec![
            leg(0.0, [1.0, 1.0, 0.0], [0.0; 3]),
            leg(2.0, [1.0, 1.0, 0.0], [0.0; 3]),
            leg(4.0, [1.0, 1.0, 0.0], [9.0, 0.0, 0.0]),
            leg(4.0, [1.0, 1.0, 0.0], [0.0, 3.0, 0.0]),
        ]);
        assert_eq!(t.legs().len(), 2);
        assert_eq!(t.max_speed(), 3.0);
        assert!(!t.is_fixed() && Track::fixed(Position::default()).is_fixed());
    }

    #[test]
    fn nodes_that_never_move_are_where_each_was_put() {
        let places = [Position::new(1.0, 2.0, 3.0), Position::default(), Position::new(-4.0, 0.0, 0.0)];
        let all = Track::all_fixed(&places);
        assert_eq!(all, places.map(Track::fixed));
        assert!(all[0] != all[1] && all.iter().all(Track::is_fixed));
        for (track, place) in all.iter().zip(places) {
            assert_eq!(track.position(Time::from_secs_f64(5.0)), place);
            assert_eq!(Cursor::default().at(track, Time::NEVER), place);
        }
        assert!(Track::all_fixed(&[]).is_empty());
    }

    #[test]
    fn a_leg_fits_a_cache_line() {
        assert_eq!(size_of::<Leg>(), 64);
    }

    fn there(x: f64, y: f64, speed: f64, pause: u64) -> Waypoint {
        Waypoint { to: Position::new(x, y, 0.0), speed, pause: Span::from_secs(pause) }
    }

    #[test]
    fn a_node_pauses_goes_and_pauses() {
        let way = [there(30.0, 40.0, 5.0, 20), there(30.0, 140.0, 10.0, 0)];
        let track = Track::through(Position::default(), Span::from_secs(10), &way);
        for (s, x, y) in [
            (0.0, 0.0, 0.0),
            (10.0, 0.0, 0.0),
            (15.0, 15.0, 20.0),
            (20.0, 30.0, 40.0),
            (40.0, 30.0, 40.0),
            (45.0, 30.0, 90.0),
            (50.0, 30.0, 140.0),
            (1e6, 30.0, 140.0),
        ] {
            let p = track.position(Time::from_secs_f64(s));
            assert!(p.distance(Position::new(x, y, 0.0)) < 1e-9, "{s}: {p:?}");
        }
        assert_eq!(track.legs().len(), 5, "{:?}", track.legs());
        assert_eq!(track.jumps().count(), 0);
    }

    #[test]
    fn waypoints_without_a_distance_are_pauses_and_those_beyond_all_time_are_never_reached() {
        let here = [there(0.0, 0.0, 1.0, 5), there(10.0, 0.0, 10.0, 0)];
        let track = Track::through(Position::default(), Span::ZERO, &here);
        assert_eq!(track.position(Time::from_secs_f64(5.5)), Position::new(5.0, 0.0, 0.0));
        let far = [there(1e9, 0.0, 1e-3, 0), there(0.0, 0.0, 1.0, 0)];
        let track = Track::through(Position::default(), Span::from_secs(1), &far);
        assert_eq!(track.legs().len(), 2);
        assert!(Track::through(Position::default(), Span::ZERO, &[]).is_fixed());
    }
}
