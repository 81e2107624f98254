//! Random fields over the places of both ends of a link, and over time: pure functions, the same for both directions.
//!
//! Each field is a sum of plane waves with random wave numbers and phases (the spectral method of Shinozuka 1971): Gaussian
//! and stationary over seeds, with the correlation that the wave numbers' distribution has for its characteristic
//! function. Wave numbers from a Cauchy distribution give exp(-d/D), from a normal one exp(-d^2 / 2 D^2).

use wayhop_core::{Purpose, draw};

/// Waves of a field: enough for values beyond four sigma, and for a distribution that nobody tells from the normal one.
const WAVES: usize = 64;

/// How fast correlation falls with distance.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(crate) enum Decay {
    /// exp(-d/D): shadowing (Gudmundson 1991).
    Exponential,
    /// exp(-d^2 / 2 D^2): fading, which has no kinks.
    Gaussian,
}

/// One wave: cycles per metre of each end's way, cycles per second, and a phase in cycles.
#[derive(Copy, Clone, Debug)]
struct Wave {
    one: [f64; 2],
    other: [f64; 2],
    per_second: f64,
    phase: f64,
}

/// A field of unit variance over two places and time.
#[derive(Clone, Debug)]
pub(crate) struct Field {
    waves: Box<[Wave]>,
    decay: Decay,
    distance_m: f64,
}

impl Field {
    /// The field numbered `number` of `seed`. Without `time_s` it does not change with time; with it the correlation
    /// over time is exp(-t / `time_s`).
    pub(crate) fn new(
        seed: u64,
        purpose: Purpose,
        number: u64,
        decay: Decay,
        distance_m: f64,
        time_s: Option<f64>,
    ) -> Self {
        const CYCLE: f64 = 2.0 * core::f64::consts::PI;
        let wave = |i: usize| {
            let normals = |part: u64| {
                crate::propagation::normal_pair(draw(seed, purpose, [SITE_KEY + number, i as u64, part]))
            };
            let numbers = |part: u64| {
                let (x, y) = normals(part);
                // A pair of normals over a third is Cauchy in two dimensions; never divided by zero.
                let scale = match decay {
                    Decay::Exponential => normals(part + 1).0.abs().max(1e-9),
                    Decay::Gaussian => 1.0,
                };
                let per_m = 1.0 / (scale * distance_m * CYCLE);
                [x * per_m, y * per_m]
            };
            let (x, y) = normals(4);
            let phase = draw(seed, purpose, [SITE_KEY + number, i as u64, 5]);
            Wave {
                one: numbers(0),
                other: numbers(2),
                per_second: time_s.map_or(0.0, |s| x / (y.abs().max(1e-9) * s * CYCLE)),
                phase: (phase >> 11) as f64 / (1u64 << 53) as f64,
            }
        };
        Self { waves: (0..WAVES).map(wave).collect(), decay, distance_m }
    }

    /// The correlation of two values of which one end is `distance_squared_m2` apart and nothing else.
    pub(crate) fn correlation(&self, distance_squared_m2: f64) -> f64 {
        let d2 = distance_squared_m2 / (self.distance_m * self.distance_m);
        match self.decay {
            Decay::Exponential => libm::exp(-libm::sqrt(d2)),
            Decay::Gaussian => libm::exp(-0.5 * d2),
        }
    }

    /// A standard normal value, the same for (`a`, `b`) as for (`b`, `a`).
    pub(crate) fn normal(&self, a: [f64; 2], b: [f64; 2], seconds: f64) -> f64 {
        let mut sum = 0.0;
        for w in &self.waves {
            let (there, back) = w.cycles(a, b, seconds);
            sum += cos_cycles(there) + cos_cycles(back);
        }
        // Each wave has half the variance of its square.
        sum * self.norm(a, b) * core::f64::consts::SQRT_2
    }

    /// A complex normal value of mean power one, the same for (`a`, `b`) as for (`b`, `a`).
    pub(crate) fn complex(&self, a: [f64; 2], b: [f64; 2]) -> (f64, f64) {
        let (mut re, mut im) = (0.0, 0.0);
        for w in &self.waves {
            let (there, back) = w.cycles(a, b, 0.0);
            re += cos_cycles(there) + cos_cycles(back);
            im += cos_cycles(there - 0.25) + cos_cycles(back - 0.25);
        }
        let norm = self.norm(a, b);
        (re * norm, im * norm)
    }

    /// Makes the sum of both directions one of unit power. Seen from the other end, both places are as far from where
    /// they were as the ends are from each other, so the directions correlate when the ends are near.
    fn norm(&self, a: [f64; 2], b: [f64; 2]) -> f64 {
        let (dx, dy) = (a[0] - b[0], a[1] - b[1]);
        let c = self.correlation(dx * dx + dy * dy);
        1.0 / libm::sqrt(2.0 * (1.0 + c * c) * WAVES as f64)
    }
}

/// Keeps a site's draws apart from those of single frames, whose first key is a station.
const SITE_KEY: u64 = 1 << 32;

impl Wave {
    /// The wave's phase in cycles, seen from one end and from the other.
    fn cycles(&self, a: [f64; 2], b: [f64; 2], seconds: f64) -> (f64, f64) {
        let at = self.phase + self.per_second * seconds;
        let along = |k: [f64; 2], p: [f64; 2]| k[0] * p[0] + k[1] * p[1];
        (at + along(self.one, a) + along(self.other, b), at + along(self.one, b) + along(self.other, a))
    }
}

/// The cosine of an angle in cycles, within 1e-7: the sine's series around the nearest zero. A fifth of what an exact one
/// costs, and fields are sums of many.
fn cos_cycles(x: f64) -> f64 {
    let nearest = (x + 0.5f64.copysign(x)) as i64 as f64;
    let folded = (x - nearest).abs();
    let y = (0.25 - folded) * (2.0 * core::f64::consts::PI);
    let y2 = y * y;
    let tail = -1.0 / 5040.0 + y2 * (1.0 / 362_880.0 - y2 / 39_916_800.0);
    y * (1.0 + y2 * (-1.0 / 6.0 + y2 * (1.0 / 120.0 + y2 * tail)))
}

#[cfg(test)]
#[path = "field_tests.rs"]
mod tests;
