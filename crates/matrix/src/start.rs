//! Where a search begins.

use wayhop_core::Rng;

use crate::switch::Switch;
use crate::wanted::Wanted;

/// How far a start's attenuations lie from the middle, dB.
const SPREAD_DB: f64 = 20.0;

/// Attenuations, dB, around half of what the mean link needs: a signal passes two of them.
pub(crate) fn random(switch: &Switch, wanted: &Wanted, rng: &mut Rng) -> Vec<f64> {
    let links = crate::links::pairs(switch.radios()).enumerate();
    let needs = links.map(|(l, (i, j))| wanted.loss_db[l] - switch.insertion_db(i, j));
    let middle = needs.sum::<f64>() / switch.links().len().max(1) as f64 / 2.0;
    let one = |_| (middle + rng.range(-SPREAD_DB, SPREAD_DB)).clamp(0.0, switch.max_db());
    (0..switch.radios() * switch.buses()).map(one).collect()
}

/// Puts one or two radios' attenuators somewhere else.
pub(crate) fn shake(switch: &Switch, at: &mut [f64], rng: &mut Rng) {
    let b = switch.buses();
    for _ in 0..=rng.below(2) {
        let radio = rng.below(switch.radios() as u64) as usize;
        for db in &mut at[radio * b..][..b] {
            *db = (*db + rng.range(-SPREAD_DB, SPREAD_DB)).clamp(0.0, switch.max_db());
        }
    }
}
