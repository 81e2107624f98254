//! How far a signal gets.

use super::transmission::Audible;
use crate::propagation::{LIGHT_SPEED_M_PER_S, Propagation};

/// The bounds of what is computed of a signal.
#[derive(Copy, Clone, Debug)]
pub(super) struct Reach {
    /// The weakest signal that counts, W.
    pub(super) floor_watts: f64,
    /// Farther than this, squared, no signal is that strong.
    squared_m2: f64,
}

impl Reach {
    pub(super) fn new(floor_watts: f64, range_m: f64) -> Self {
        Self { floor_watts, squared_m2: range_m * range_m }
    }

    /// Whether a signal may be strong enough at this squared distance, m2.
    #[inline]
    pub(super) fn includes(self, squared_m2: f64) -> bool {
        squared_m2 <= self.squared_m2
    }

    /// A signal of this power, W, at a station, if it is strong enough.
    #[inline]
    pub(super) fn heard(self, station: u32, squared_m2: f64, watts: f64) -> Option<Audible> {
        if watts < self.floor_watts {
            return None;
        }
        let delay_ns = (squared_m2.sqrt() * (1e9 / LIGHT_SPEED_M_PER_S)) as u32;
        Some(Audible { station, delay_ns, watts })
    }

    /// As [`Reach::heard`], of a signal without a random part.
    #[inline]
    pub(super) fn heard_plainly(self, p: &Propagation, station: u32, squared_m2: f64) -> Option<Audible> {
        if self.includes(squared_m2) {
            self.heard(station, squared_m2, p.mean_watts(squared_m2))
        } else {
            None
        }
    }
}
