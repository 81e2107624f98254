//! Rician fading as a field.

use wayhop_core::Purpose;

use super::field::{Decay, Field};
use crate::units::db_to_ratio;

/// Rician fading as a field.
#[derive(Clone, Debug)]
pub(crate) struct Fades {
    /// The power of the steady part over that of the scattered one.
    pub(crate) k: f64,
    field: Field,
}

impl Fades {
    pub(crate) fn new(k_db: f64, distance_m: f64, seed: u64, number: u64) -> Self {
        let field = Field::new(seed, Purpose::Fading, number, Decay::Gaussian, distance_m, None);
        Self { k: db_to_ratio(k_db), field }
    }

    /// The power gain, one on average.
    pub(crate) fn gain(&self, a: [f64; 2], b: [f64; 2]) -> f64 {
        let (re, im) = self.field.complex(a, b);
        let scatter = libm::sqrt(1.0 / (self.k + 1.0));
        let (re, im) = (libm::sqrt(self.k / (self.k + 1.0)) + re * scatter, im * scatter);
        re * re + im * im
    }
}
