//! Cars following each other along a road.

use wayhop_core::{Leg, Position, Purpose, Span, Time, draw, stream};

use crate::Track;

/// A road that is driven there and back, or round and round, with places to halt at.
#[derive(Clone, Debug, PartialEq)]
pub struct Course {
    /// One lap: the points in order; after the last comes the first again.
    lap: Vec<Waypoint>,
}

#[derive(Copy, Clone, Debug, PartialEq)]
struct Waypoint {
    at: Position,
    halts: bool,
}

/// Points nearer than this are one, metres.
const SAME_M: f64 = 1e-3;

impl Course {
    /// The course along `points`: a loop if the last is where the first is, there and back otherwise. Each of `stops`
    /// within `within_m` metres of it is a place to halt at, where the course comes nearest to it for the first time on
    /// its way; there and back, in both directions. None if the road is shorter than a metre.
    pub fn new(points: &[Position], stops: &[Position], within_m: f64) -> Option<Self> {
        let mut way: Vec<Waypoint> = Vec::with_capacity(points.len());
        for &at in points {
            if way.last().is_none_or(|last| last.at.distance(at) > SAME_M) {
                way.push(Waypoint { at, halts: false });
            }
        }
        let length: f64 = way.windows(2).map(|w| w[0].at.distance(w[1].at)).sum();
        if way.len() < 2 || length < 1.0 {
            return None;
        }
        for &stop in stops {
            halt_at(&mut way, stop, within_m);
        }
        let (first, last) = (way[0], way[way.len() - 1]);
        if first.at.distance(last.at) <= SAME_M {
            way.pop();
            way[0].halts |= last.halts;
        } else {
            way.extend_from_within(1..way.len() - 1);
            let back = way.len() / 2 + 1;
            way[back..].reverse();
        }
        Some(Self { lap: way })
    }

    /// Once round, or there and back, metres.
    pub fn lap_m(&self) -> f64 {
        self.stretches().map(|(a, b)| a.at.distance(b.at)).sum()
    }

    /// How often a lap halts.
    pub fn halts(&self) -> usize {
        self.lap.iter().filter(|w| w.halts).count()
    }

    fn stretches(&self) -> impl Iterator<Item = (Waypoint, Waypoint)> {
        self.lap.iter().copied().zip(self.lap.iter().copied().cycle().skip(1))
    }
}

/// Makes the point of `way` that is nearest to `stop` one to halt at, if it is near enough.
fn halt_at(way: &mut Vec<Waypoint>, stop: Position, within_m: f64) {
    let nearest = |(i, w): (usize, &[Waypoint])| {
        let (a, b) = (w[0].at, w[1].at);
        let d = [b.x - a.x, b.y - a.y, b.z - a.z];
        let along = (stop.x - a.x) * d[0] + (stop.y - a.y) * d[1] + (stop.z - a.z) * d[2];
        let share = (along / (d[0] * d[0] + d[1] * d[1] + d[2] * d[2])).clamp(0.0, 1.0);
        let at = Position::new(a.x + d[0] * share, a.y + d[1] * share, a.z + d[2] * share);
        (i, at, at.distance(stop))
    };
    let best = way.windows(2).enumerate().map(nearest).min_by(|a, b| a.2.total_cmp(&b.2));
    let Some((i, at, off_m)) = best else { return };
    if off_m > within_m {
        return;
    }
    if let Some(corner) = way[i..=i + 1].iter_mut().find(|w| w.at.distance(at) <= 1.0) {
        corner.halts = true;
    } else {
        way.insert(i + 1, Waypoint { at, halts: true });
    }
}

/// Cars that follow a leader along a course.
#[derive(Clone, Debug, PartialEq)]
pub struct Convoy {
    /// The road.
    pub course: Course,
    /// Lowest speed, m/s; above zero.
    pub speed_min: f64,
    /// Highest speed, m/s.
    pub speed_max: f64,
    /// How long every car halts at every stop.
    pub halt: Span,
    /// How long after its predecessor a car comes to the same place.
    pub separation: Span,
    /// Each car is early or late by up to this, drawn for each lap and blended over it. Less than half the separation.
    pub jitter: Span,
    /// No stretch begins later.
    pub duration: Time,
}

/// Keeps the leader's draws and the jitter's apart from those of single nodes.
const CONVOY: u64 = 1 << 32;

/// A moment of the leader's drive.
#[derive(Copy, Clone, Debug)]
struct Knot {
    /// Since the leader set off, seconds.
    s: f64,
    at: Position,
}

impl Convoy {
    /// The mean speed under way, m/s, halts not counted: speeds are drawn per stretch, so slow ones take more of the time.
    pub fn mean_speed(&self) -> f64 {
        let (low, high) = (self.speed_min, self.speed_max);
        if high > low { (high - low) / libm::log(high / low) } else { low }
    }

    /// The mean duration of a lap, halts counted, seconds.
    pub fn mean_lap_s(&self) -> f64 {
        self.course.lap_m() / self.mean_speed() + self.course.halts() as f64 * self.halt.as_secs_f64()
    }

    /// About how many legs the tracks of `cars` cars have: 64 octets each.
    pub fn expected_legs(&self, cars: usize) -> f64 {
        let drive = self.duration.as_secs_f64() + self.separation.as_secs_f64() * cars as f64;
        let laps = drive / (self.course.lap_m() / self.speed_max) + 1.0;
        laps * (self.course.lap.len() + self.course.halts()) as f64 * (cars as f64 + 1.0)
    }

    /// The tracks of `cars` cars, the leader first. When the run begins the last is at the start of the course, and the
    /// others are as far ahead as their time allows.
    pub fn tracks(&self, seed: u64, cars: usize) -> Vec<Track> {
        let ahead_s = self.separation.as_secs_f64() * cars.saturating_sub(1) as f64;
        let law = self.law(seed, self.duration.as_secs_f64() + ahead_s + 2.0 * self.jitter.as_secs_f64());
        (0..cars as u64).map(|car| self.follow(&law, seed, car, ahead_s)).collect()
    }

    /// The leader's drive until `end_s` at least.
    fn law(&self, seed: u64, end_s: f64) -> Vec<Knot> {
        let mut rng = stream(seed, Purpose::Mobility, CONVOY);
        let mut s = 0.0;
        let mut law = vec![Knot { s, at: self.course.lap[0].at }];
        while s <= end_s {
            for (from, to) in self.course.stretches() {
                s += from.at.distance(to.at) / rng.range(self.speed_min, self.speed_max.max(self.speed_min));
                law.push(Knot { s, at: to.at });
                if to.halts && self.halt > Span::ZERO {
                    s += self.halt.as_secs_f64();
                    law.push(Knot { s, at: to.at });
                }
            }
        }
        law
    }

    /// A car's track: the law, later by its place in the convoy and its jitter.
    fn follow(&self, law: &[Knot], seed: u64, car: u64, ahead_s: f64) -> Track {
        let lap_s = self.mean_lap_s();
        let off = |lap: f64| {
            let unit = draw(seed, Purpose::Mobility, [CONVOY + 1 + car, lap as u64, 0]) >> 11;
            (unit as f64 / (1u64 << 52) as f64 - 1.0) * self.jitter.as_secs_f64()
        };
        let later_s = self.separation.as_secs_f64() * car as f64 - ahead_s;
        let clock = |s: f64| {
            let laps = s / lap_s;
            let whole = laps as u64 as f64;
            let share = laps - whole;
            s + later_s + off(whole) * (1.0 - share) + off(whole + 1.0) * share
        };
        let mut legs: Vec<Leg> = Vec::new();
        for w in law.windows(2) {
            let (from_s, until_s) = (clock(w[0].s), clock(w[1].s));
            if until_s <= 0.0 {
                continue;
            }
            let (from, until) = (Time::from_secs_f64(from_s.max(0.0)), Time::from_secs_f64(until_s));
            // What remains of a stretch that began before the run did.
            let share = (-from_s / (until_s - from_s)).max(0.0);
            let (a, b) = (w[0].at, w[1].at);
            let between = |a: f64, b: f64| a + (b - a) * share;
            let start = Position::new(between(a.x, b.x), between(a.y, b.y), between(a.z, b.z));
            let dt = until.since(from).as_secs_f64();
            if dt <= 0.0 {
                continue;
            }
            // A car that would come before the run has brought it to the start waits there.
            if legs.is_empty() && from > Time::ZERO {
                legs.push(Leg::at_rest(start));
            }
            let velocity = [(b.x - start.x) / dt, (b.y - start.y) / dt, (b.z - start.z) / dt];
            legs.push(Leg { from, until, start, velocity });
            if from > self.duration {
                break;
            }
        }
        Track::from_legs(legs)
    }
}

#[cfg(test)]
#[path = "course_tests.rs"]
mod tests;
