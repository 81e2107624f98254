//! Random waypoint motion (Johnson and Maltz 1996; Broch et al. 1998).

use wayhop_core::{Position, Purpose, Rng, Span, Time, stream};

use crate::{Track, TrackBuilder};

/// How a node's first trip is drawn.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub enum Start {
    /// Uniform in the area, pausing first, as CMU's `setdest` does. Mean speed falls for a while (Yoon, Liu and Noble 2003).
    #[default]
    Uniform,
    /// As if the node had moved for ever: place, destination, speed and remaining pause from the stationary distribution
    /// (Navidi and Camp 2004).
    Steady,
}

/// Parameters of random waypoint motion: pick a place uniformly in the area and a speed uniformly in a range, go there
/// in a straight line, pause, repeat.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct RandomWaypoint {
    /// Size of the box from the origin, metres.
    pub area: [f64; 3],
    /// Lowest speed, m/s; above zero, or a node that draws a speed near zero crawls for ever.
    pub speed_min: f64,
    /// Highest speed, m/s.
    pub speed_max: f64,
    /// Pause at each waypoint.
    pub pause: Span,
    /// No trip starts at this time or later.
    pub duration: Time,
    /// How the first trip is drawn.
    pub start: Start,
}

/// What the slowest trip may have for a speed, m/s: keeps a draw of zero from taking for ever.
const SPEED_FLOOR: f64 = 1e-3;

impl RandomWaypoint {
    /// The motion of nodes 0 to `count` - 1, each from its own stream of `seed`.
    pub fn tracks(&self, seed: u64, count: usize) -> Vec<Track> {
        let paused = self.pause_share();
        (0..count as u64).map(|node| self.track(seed, node, paused)).collect()
    }

    /// About how many trips one node makes: what a track costs, at 64 to 128 bytes a trip.
    pub fn expected_trips(&self) -> f64 {
        let trip = self.mean_length() * self.mean_slowness() + self.pause.as_secs_f64();
        if self.can_move() { self.duration.as_secs_f64() / trip.max(1e-3) } else { 0.0 }
    }

    fn track(&self, seed: u64, node: u64, pause_share: f64) -> Track {
        let mut rng = stream(seed, Purpose::Mobility, node);
        let mut now;
        let mut at;
        let mut b;
        if self.start == Start::Steady && self.can_move() {
            (b, at, now) = self.steady_start(&mut rng, pause_share);
        } else {
            at = self.place(&mut rng);
            b = TrackBuilder::new(at);
            now = Time::ZERO + self.pause;
        }
        while now < self.duration && self.can_move() {
            let to = self.place(&mut rng);
            let speed = self.speed(&mut rng);
            let length = at.distance(to);
            // A trip of less than a millimetre would stop time in a tiny area.
            if length < 1e-3 {
                now += Span::from_millis(1);
                continue;
            }
            b.set_destination_3d(now, to, speed);
            now = now + Span::from_secs_f64(length / speed) + self.pause;
            at = to;
        }
        b.finish()
    }

    /// Navidi and Camp 2004, section 4: paused with the long-run share of time spent pausing, else under way on a trip
    /// whose chance grows with its length and falls with its speed.
    fn steady_start(&self, rng: &mut Rng, pause_share: f64) -> (TrackBuilder, Position, Time) {
        if rng.unit() < pause_share {
            let at = self.place(rng);
            let left = rng.unit() * self.pause.as_secs_f64();
            return (TrackBuilder::new(at), at, Time::ZERO + Span::from_secs_f64(left));
        }
        let diagonal = self.area.iter().map(|a| a * a).sum::<f64>().sqrt();
        let (from, to) = loop {
            let (a, b) = (self.place(rng), self.place(rng));
            if rng.unit() * diagonal < a.distance(b) {
                break (a, b);
            }
        };
        // Density proportional to 1/v: v = min (max/min)^u.
        let (lo, hi) = self.speed_range();
        let speed = lo * libm::pow(hi / lo, rng.unit());
        let f = rng.unit();
        let mix = |p: f64, q: f64| p + (q - p) * f;
        let at = Position { x: mix(from.x, to.x), y: mix(from.y, to.y), z: mix(from.z, to.z) };
        let mut b = TrackBuilder::new(at);
        b.set_destination_3d(Time::ZERO, to, speed);
        (b, to, Time::ZERO + Span::from_secs_f64(at.distance(to) / speed) + self.pause)
    }

    fn place(&self, rng: &mut Rng) -> Position {
        let [x, y, z] = self.area.map(|a| rng.unit() * a);
        Position { x, y, z }
    }

    fn speed(&self, rng: &mut Rng) -> f64 {
        let (lo, hi) = self.speed_range();
        rng.range(lo, hi)
    }

    fn speed_range(&self) -> (f64, f64) {
        let lo = self.speed_min.max(SPEED_FLOOR);
        (lo, self.speed_max.max(lo))
    }

    fn can_move(&self) -> bool {
        self.speed_max > 0.0 && self.area.iter().any(|&a| a > 0.01)
    }

    /// The long-run share of time that a node spends pausing.
    fn pause_share(&self) -> f64 {
        let pause = self.pause.as_secs_f64();
        let travel = self.mean_length() * self.mean_slowness();
        if pause > 0.0 { pause / (pause + travel) } else { 0.0 }
    }

    /// E[1/v], s/m.
    fn mean_slowness(&self) -> f64 {
        let (lo, hi) = self.speed_range();
        if hi > lo { libm::log(hi / lo) / (hi - lo) } else { 1.0 / lo }
    }

    /// The mean distance of two uniform places, metres, by the midpoint rule over the differences along each axis (whose
    /// density is triangular). Good to a few parts in a thousand, which only shifts how many nodes start paused.
    fn mean_length(&self) -> f64 {
        const STEPS: usize = 48;
        let axis = |a: f64| -> Vec<(f64, f64)> {
            if a <= 0.0 {
                return vec![(0.0, 1.0)];
            }
            (0..STEPS)
                .map(|i| (i as f64 + 0.5) / STEPS as f64)
                .map(|u| (u * a * u * a, 2.0 * (1.0 - u) / STEPS as f64))
                .collect()
        };
        let [xs, ys, zs] = self.area.map(axis);
        let mut mean = 0.0;
        for &(x, wx) in &xs {
            for &(y, wy) in &ys {
                for &(z, wz) in &zs {
                    mean += wx * wy * wz * (x + y + z).sqrt();
                }
            }
        }
        mean
    }
}

/// For tests: nodes of 1 to 20 m/s in a flat area.
#[cfg(test)]
pub(crate) fn nodes([x, y]: [f64; 2], pause: Span, duration_s: f64) -> RandomWaypoint {
    let duration = Time::from_secs_f64(duration_s);
    RandomWaypoint {
        area: [x, y, 0.0],
        speed_min: 1.0,
        speed_max: 20.0,
        pause,
        duration,
        start: Start::Uniform,
    }
}

#[cfg(test)]
#[path = "waypoint_tests.rs"]
mod tests;
