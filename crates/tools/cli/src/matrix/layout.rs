//! Positions of the radios, and the path losses between them.

use wayhop_core::{Position, Time};
use wayhop_matrix::TargetLosses;
use wayhop_radio::{PathLoss, RadioConfig};
use wayhop_scenario::Resolved;

use crate::failure::{Failure, usage};

/// Path losses between radios at these positions; beyond `range_m` links must not exist.
pub(super) fn wanted(radio: &RadioConfig, places: &[Position], range_m: Option<f64>) -> TargetLosses {
    let loss = |m: f64| radio.mean_path_loss_db(m);
    TargetLosses::between(places, loss, range_m.map_or_else(|| radio.silent_path_loss_db(), loss))
}

/// Positions of a scenario's nodes.
pub(super) fn places(resolved: &Resolved, at: Time) -> Vec<Position> {
    resolved.tracks.iter().map(|t| t.position(at)).collect()
}

/// The radio of all nodes; a matrix supports only one.
pub(super) fn radio(resolved: &Resolved) -> Result<&RadioConfig, Failure> {
    if resolved.interfaces.radios.len() == 1 {
        return Ok(resolved.radio());
    }
    Err(usage!(
        "the scenario has {} radios, and a matrix of attenuators supports only one; remove the others",
        resolved.interfaces.radios.len()
    ))
}

/// The paper's radios: 802.11g on channel 6, free space, antennas without gain. No link is out of range.
pub(super) fn meshtest() -> Result<RadioConfig, Failure> {
    let mut radio = RadioConfig::preset("80211g")
        .ok_or_else(|| Failure::Run("the preset 80211g is missing; please report this bug".into()))?;
    radio.path_loss = PathLoss::FreeSpace;
    (radio.frequency_mhz, radio.antenna_gain_dbi) = (2437.0, 0.0);
    radio.carrier_sense_threshold_dbm = f64::NEG_INFINITY;
    Ok(radio)
}
