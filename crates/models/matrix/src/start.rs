//! Where a search begins.

use wayhop_core::Rng;

use crate::switch::Switch;
use crate::wanted::TargetLosses;

/// How far a start's attenuations lie from the middle, dB.
const SPREAD_DB: f64 = 20.0;

/// Attenuations, dB, around half of what the mean link needs: a signal passes two of them.
pub(crate) fn random(switch: &Switch, wanted: &TargetLosses, rng: &mut Rng) -> Vec<f64> {
    let links = crate::links::pairs(switch.radios()).enumerate();
    let needs = links.map(|(l, (i, j))| wanted.loss_db[l] - switch.insertion_db(i, j));
    let middle = needs.sum::<f64>() / switch.links().len().max(1) as f64 / 2.0;
    let one = |_| (middle + rng.range(-SPREAD_DB, SPREAD_DB)).clamp(0.0, switch.max_db());
    (0..switch.attenuators()).map(one).collect()
}

/// Puts the attenuators of one or two inputs somewhere else.
pub(crate) fn shake(switch: &Switch, at: &mut [f64], rng: &mut Rng) {
    for _ in 0..=rng.below(2) {
        let input = rng.below(switch.inputs() as u64) as usize;
        let (begin, buses) = switch.row(input);
        for db in &mut at[begin..][..buses] {
            *db = (*db + rng.range(-SPREAD_DB, SPREAD_DB)).clamp(0.0, switch.max_db());
        }
    }
}
