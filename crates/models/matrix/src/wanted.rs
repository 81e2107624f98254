//! What path losses are wanted.

use wayhop_core::Position;

use crate::links::pairs;

/// The path loss that each link ought to have, in the order of [`crate::Links`].
#[derive(Clone, Debug, PartialEq)]
pub struct TargetLosses {
    /// Of each link, dB.
    pub loss_db: Vec<f64>,
    /// At this loss and above it there is no link: such ones need no certain loss, only enough of it. Infinite if each loss counts.
    pub beyond_db: f64,
}

impl TargetLosses {
    /// Between radios at these positions, whose loss depends on their distance in metres.
    pub fn between(places: &[Position], loss_db: impl Fn(f64) -> f64, beyond_db: f64) -> Self {
        let loss = |(i, j): (usize, usize)| loss_db(places[i].distance(places[j]));
        Self { loss_db: pairs(places.len()).map(loss).collect(), beyond_db }
    }

    /// Whether a link must not appear.
    pub fn is_beyond(&self, link: usize) -> bool {
        self.loss_db[link] >= self.beyond_db
    }

    /// How far off a loss is, dB: either way for a link that is to be there; for one beyond range, how much is missing.
    #[inline]
    pub fn error_db(&self, link: usize, loss_db: f64) -> f64 {
        if self.is_beyond(link) {
            (self.beyond_db - loss_db).max(0.0)
        } else {
            (loss_db - self.loss_db[link]).abs()
        }
    }
}
