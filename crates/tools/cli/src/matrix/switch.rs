//! The box of the arguments, with the insertion losses of its calibration file.

use wayhop_matrix::{Calibration, Switch};

use super::args::BoxArgs;
use crate::failure::Failure;

impl BoxArgs {
    /// The box, with ports for this number of radios.
    pub(super) fn switch(&self, radios: usize) -> Result<Switch, Failure> {
        let usage = |e: wayhop_matrix::SwitchError| Failure::Usage(format!("matrix: {e}"));
        let switch = match self.switches[..] {
            [] => Switch::new(radios, self.buses, self.max, self.step, self.insertion),
            [a, b] => Switch::joined(radios, [a, b], self.joined, self.max, self.step, self.insertion),
            _ => return Err(Failure::Usage("--switches: give two, such as 16x4,8x2".to_owned())),
        };
        let switch = switch.map_err(usage)?;
        let Some(path) = &self.calibration else { return Ok(switch) };
        let of_file = |e: &dyn std::fmt::Display| {
            Failure::Usage(format!("{}: {e}; create one with: wayhop matrix calibrate", path.display()))
        };
        let text = std::fs::read_to_string(path).map_err(|e| of_file(&e))?;
        let read: Calibration = serde_json::from_str(&text).map_err(|e| of_file(&e))?;
        switch.calibrated(&read.insertion_db).map_err(|e| of_file(&e))
    }
}
