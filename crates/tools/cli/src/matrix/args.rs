//! The arguments that several commands of `wayhop matrix` share: the box, and the effort of the solver.

use std::path::PathBuf;

use wayhop_matrix::{Calibration, Quality, Size, Switch};

use crate::failure::{Failure, usage};
use crate::scenario_args::whole;

/// The box.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct BoxArgs {
    /// Buses; each radio connects to each bus through an attenuator
    #[arg(long, value_name = "B", default_value_t = 4, value_parser = whole(1..=64_usize), allow_negative_numbers = true)]
    buses: usize,
    /// Use two cascaded switches, for more radios than one has inputs: inputs and buses of each, such as 16x4,8x2. Radios fill
    /// the first switch first
    #[arg(long, value_name = "AxB,CxD", value_delimiter = ',', num_args = 1, conflicts_with = "buses")]
    switches: Vec<Size>,
    /// With --switches: number of buses of the first switch, from bus 0, connected to the first inputs of the second
    #[arg(long, value_name = "N", default_value_t = 2, requires = "switches", value_parser = whole(1..=64_usize), allow_negative_numbers = true)]
    joined: usize,
    /// Step of the attenuators, in dB
    #[arg(long, value_name = "DB", default_value_t = 1.0, allow_negative_numbers = true)]
    step: f64,
    /// Highest setting of the attenuators, in dB
    #[arg(long, value_name = "DB", default_value_t = 127.0, allow_negative_numbers = true)]
    max: f64,
    /// Insertion loss between two ports, in dB
    #[arg(long, value_name = "DB", default_value_t = Switch::INSERTION_DB, allow_negative_numbers = true)]
    insertion: f64,
    /// Measured one-way insertion losses of the ports: a JSON file from `wayhop matrix calibrate`
    #[arg(long, value_name = "FILE", conflicts_with = "insertion")]
    calibration: Option<PathBuf>,
}

impl BoxArgs {
    /// The box, with ports for this number of radios.
    pub(super) fn switch(&self, radios: usize) -> Result<Switch, Failure> {
        let switch = match self.switches[..] {
            [] => Switch::new(radios, self.buses, self.max, self.step, self.insertion),
            [a, b] => Switch::joined(radios, [a, b], self.joined, self.max, self.step, self.insertion),
            _ => return Err(usage!("--switches: give two, such as 16x4,8x2")),
        };
        let switch = switch.map_err(|e| usage!("matrix: {e}"))?;
        let Some(path) = &self.calibration else { return Ok(switch) };
        let of_file = |e: &dyn std::fmt::Display| {
            usage!("{}: {e}; create one with: wayhop matrix calibrate", path.display())
        };
        let text = std::fs::read_to_string(path).map_err(|e| of_file(&e))?;
        let read: Calibration = serde_json::from_str(&text).map_err(|e| of_file(&e))?;
        switch.calibrated(&read.insertion_db).map_err(|e| of_file(&e))
    }
}

/// Effort of the solver.
#[derive(Copy, Clone, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum QualityName {
    /// The least work
    Fast,
    /// About an eighth of the most
    Normal,
    /// The most
    Best,
}

impl From<QualityName> for Quality {
    fn from(name: QualityName) -> Self {
        match name {
            QualityName::Fast => Self::Fast,
            QualityName::Normal => Self::Normal,
            QualityName::Best => Self::Best,
        }
    }
}
