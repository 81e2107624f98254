//! What there is of the transfers.

use std::collections::BTreeMap;

use super::plan::Mechanism;
use super::transfer::Transfer;

/// Transfers by pattern, speed and mechanism.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transfers(BTreeMap<(u64, u32, Mechanism), Transfer>);

impl Transfers {
    /// With one more.
    pub(crate) fn add(&mut self, pattern: u64, speed_mps: u32, mechanism: Mechanism, transfer: Transfer) {
        self.0.insert((pattern, speed_mps, mechanism), transfer);
    }

    /// This one, if it was made.
    pub(crate) fn of(&self, pattern: u64, speed_mps: u32, mechanism: Mechanism) -> Option<&Transfer> {
        self.0.get(&(pattern, speed_mps, mechanism))
    }

    /// How many there are of a mechanism, and the time that they took one after the other, seconds.
    pub(crate) fn time(&self, mechanism: Mechanism) -> (usize, f64) {
        let of = self.0.iter().filter(|((_, _, m), _)| *m == mechanism);
        of.fold((0, 0.0), |(n, s), (_, t)| (n + 1, s + t.wall_s))
    }
}
