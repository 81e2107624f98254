//! How far off settings are.

use wayhop_core::{Purpose, stream};

use crate::switch::{Settings, Switch};
use crate::wanted::TargetLosses;

/// The errors of settings. A mean over no link is null.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingsReport {
    /// Of each link, in the order of [`crate::Links`]: its loss less the wanted one, dB. Of a link beyond range: 0 if it does not
    /// appear, else how much is missing, below 0.
    pub errors_db: Vec<f64>,
    /// The mean magnitude of the errors of links that are to be there, dB.
    pub mean_error_db: Option<f64>,
    /// The greatest of them, dB.
    pub max_error_db: Option<f64>,
    /// Links beyond range that appear.
    pub false_links: usize,
}

impl SettingsReport {
    /// Of settings, if powers add.
    pub fn of(switch: &Switch, wanted: &TargetLosses, settings: &Settings) -> Self {
        Self::of_losses(wanted, &switch.path_losses_db(settings))
    }

    /// Of path losses, however they came about.
    pub fn of_losses(wanted: &TargetLosses, losses_db: &[f64]) -> Self {
        let error = |(link, &have): (usize, &f64)| {
            if wanted.is_beyond(link) {
                (have - wanted.beyond_db).min(0.0)
            } else {
                have - wanted.loss_db[link]
            }
        };
        let errors_db: Vec<f64> = losses_db.iter().enumerate().map(error).collect();
        let there =
            || errors_db.iter().enumerate().filter(|(l, _)| !wanted.is_beyond(*l)).map(|(_, e)| e.abs());
        let count = there().count();
        Self {
            mean_error_db: (count > 0).then(|| there().sum::<f64>() / count as f64),
            max_error_db: there().max_by(f64::total_cmp),
            false_links: (0..losses_db.len())
                .filter(|&l| wanted.is_beyond(l) && losses_db[l] < wanted.beyond_db)
                .count(),
            errors_db,
        }
    }
}

/// The mean magnitude of the errors of links that are to be there if the buses' paths add coherently, over `draws` draws of all phases,
/// dB. `None` without such a link.
pub fn coherent_error_db(
    switch: &Switch,
    wanted: &TargetLosses,
    settings: &Settings,
    draws: u32,
    seed: u64,
) -> Option<f64> {
    let mut rng = stream(seed, Purpose::Attenuators, 3);
    let means = (0..draws)
        .map(|_| {
            SettingsReport::of_losses(wanted, &switch.coherent_losses_db(settings, &mut rng)).mean_error_db
        })
        .collect::<Option<Vec<f64>>>()?;
    (draws > 0).then(|| means.iter().sum::<f64>() / f64::from(draws))
}
