//! Tracks through listed places.

use wayhop_core::{Leg, Position, Span, Time};

use crate::Track;

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
