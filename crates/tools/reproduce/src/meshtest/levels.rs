//! What the matrix of attenuators makes of the walk: a path loss for each second.

use wayhop_core::{Purpose, stream};
use wayhop_matrix::{Effort, Settings, Switch, TargetLosses, follow, solve};
use wayhop_scenario::Resolved;

/// Walking speed, m/s, and so the metres between two settings.
pub(crate) const SPEED_MPS: f64 = 4.0;
/// The farthest distance, in seconds of the walk.
pub(crate) const FAR_S: usize = 300;
/// Buses of the paper's switch, and the steps of its attenuators, dB.
const BUSES: usize = 4;
const STEP_DB: f64 = 1.0;
const MOST_DB: f64 = 127.0;
/// "On average this solution finds attenuator settings that come within about 1 dB of the desired path loss on each link" (section
/// III-A): the mean of the error's magnitude.
const MEAN_ERROR_DB: f64 = 1.0;

#[derive(Clone, Debug)]
pub(crate) struct Levels {
    /// What the positions ask for, and what the settings make of it, dB; by seconds of the walk.
    pub(crate) wanted_db: Vec<f64>,
    pub(crate) made_db: Vec<f64>,
    sent_dbm: f64,
}

impl Levels {
    /// For a scenario's radio: its own path loss, but never less than the insertion loss, by the solver.
    pub(crate) fn new(scenario: &Resolved) -> Result<Self, String> {
        let switch =
            Switch::new(2, BUSES, MOST_DB, STEP_DB, Switch::INSERTION_DB).map_err(|e| e.to_string())?;
        let wanted_db: Vec<f64> = (0..=FAR_S)
            .map(|s| scenario.radio().mean_path_loss_db(s as f64 * SPEED_MPS).max(Switch::INSERTION_DB))
            .collect();
        let mut before: Option<Settings> = None;
        let made = |&db: &f64| {
            let wanted = TargetLosses { loss_db: vec![db], beyond_db: f64::INFINITY };
            let settings = match &before {
                None => solve(&switch, &wanted, Effort::QUICK, 1),
                Some(settings) => follow(&switch, &wanted, settings, Effort::QUICK, 1),
            };
            let loss = switch.path_losses_db(&settings)[0];
            before = Some(settings);
            loss
        };
        let made_db = wanted_db.iter().map(made).collect();
        Ok(Self { wanted_db, made_db, sent_dbm: scenario.radio().tx_power_dbm })
    }

    /// The path loss at this distance, in seconds of the walk, with a run's own error, dB.
    fn loss_db(&self, away: usize, error_db: f64) -> f64 {
        (self.made_db[away.min(FAR_S)] + error_db).max(Switch::INSERTION_DB)
    }

    /// The signal there, dBm, whether packets arrive or not.
    pub(crate) fn signal_dbm(&self, away: usize, error_db: f64) -> f64 {
        self.sent_dbm - self.loss_db(away, error_db)
    }

    pub(crate) fn worst_db(&self) -> f64 {
        self.wanted_db.iter().zip(&self.made_db).map(|(w, m)| (w - m).abs()).fold(0.0, f64::max)
    }

    /// The path loss at each second of a run from its distance then, in seconds of the walk, with the run's own error: a table for
    /// `path_losses`.
    pub(crate) fn table(&self, seconds_away: impl Iterator<Item = usize>, error_db: f64) -> String {
        let step = |(s, away): (usize, usize)| format!("[{s},{:.3}]", self.loss_db(away, error_db));
        let steps: Vec<String> = seconds_away.enumerate().map(step).collect();
        format!("path_losses=[{{nodes=[0,1],db=[{}]}}]", steps.join(","))
    }
}

/// By how much a run's path losses are off, dB: normally distributed, its magnitude on average as the paper says. The paper does not
/// say how long an error lasts; here it is that of a whole run. UDP's and TCP's runs of a motion with the same seed have the same
/// error (common random numbers), so that what they differ by is not that of the settings.
pub(crate) fn error_db(seed: u64, motion: u64) -> f64 {
    let mut rng = stream(seed, Purpose::Calibration, motion);
    let radius = libm::sqrt(-2.0 * libm::log(1.0 - rng.unit()));
    let normal = radius * libm::cos(core::f64::consts::TAU * rng.unit());
    // The mean magnitude of a standard normal is sqrt(2 / pi).
    normal * MEAN_ERROR_DB * libm::sqrt(core::f64::consts::FRAC_PI_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_paper_s_mean_magnitude_and_are_each_run_s_own() {
        let errors: Vec<f64> = (0..20_000).map(|seed| error_db(seed, 1)).collect();
        let mean = errors.iter().sum::<f64>() / 2e4;
        let magnitude = errors.iter().map(|e| e.abs()).sum::<f64>() / 2e4;
        assert!(mean.abs() < 0.04 && (magnitude - 1.0).abs() < 0.03, "{mean} {magnitude}");
        let error = |seed| error_db(seed, 0);
        assert_eq!(error(7), error(7));
        assert!(error(7) != error_db(7, 1) && error(7) != error(8));
    }
}
