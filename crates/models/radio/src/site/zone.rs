//! A part of the site with a propagation of its own.

use super::config::{Zone, ZoneEnds};
use super::fades::Fades;

#[derive(Clone, Debug)]
pub(crate) struct Area {
    corners: Vec<[f64; 2]>,
    low: [f64; 2],
    high: [f64; 2],
    ends: ZoneEnds,
    pub(crate) loss_db: f64,
    pub(crate) fading: Option<Fades>,
}

impl Area {
    /// The zone `z`, whose fading is field `number` of `seed`.
    pub(crate) fn new(z: &Zone, seed: u64, number: u64) -> Self {
        let bound = |start: f64, f: fn(f64, f64) -> f64| {
            let along = |k: usize| z.corners.iter().map(|c| c[k]).fold(start, f);
            [along(0), along(1)]
        };
        Self {
            low: bound(f64::INFINITY, f64::min),
            high: bound(f64::NEG_INFINITY, f64::max),
            corners: z.corners.clone(),
            ends: z.ends,
            loss_db: z.loss_db,
            fading: z.rician_k_db.map(|k| Fades::new(k, z.fade_distance_m, seed, number)),
        }
    }

    /// How often the zone's loss counts for a link between `a` and `b`; 0 if the zone does not concern it.
    pub(crate) fn ends_inside(&self, a: [f64; 2], b: [f64; 2]) -> u8 {
        match self.ends {
            ZoneEnds::Any => u8::from(self.contains(a)) + u8::from(self.contains(b)),
            ZoneEnds::Both => u8::from(self.contains(a) && self.contains(b)),
        }
    }

    /// By the number of sides that a ray from `p` eastward crosses.
    fn contains(&self, p: [f64; 2]) -> bool {
        if (0..2).any(|k| p[k] < self.low[k] || p[k] > self.high[k]) {
            return false;
        }
        let next = self.corners.iter().cycle().skip(1);
        let crossed = self.corners.iter().zip(next).filter(|(c, d)| {
            (c[1] > p[1]) != (d[1] > p[1]) && p[0] < c[0] + (p[1] - c[1]) / (d[1] - c[1]) * (d[0] - c[0])
        });
        crossed.count() % 2 == 1
    }
}
