//! `wayhop matrix calibrate`.

use std::fs;
use std::path::PathBuf;

use wayhop_matrix::{Calibration, Measurement, calibrate as fit, measurements};

use super::args::BoxArgs;
use crate::failure::{Failure, json_line, put, say, usage};
use crate::scenario_args::whole;

pub(crate) const EXAMPLES: &str = "\
MEASURED has one line i,j,DB per measured pair of radios: the path loss between them with all attenuators at --setting.

Examples:
  wayhop matrix calibrate measured.csv --radios 12 --setting 20 > calibration.json
  wayhop matrix solve scenarios/first.toml --calibration calibration.json";

#[derive(Debug, clap::Args)]
pub(crate) struct CalibrateArgs {
    /// CSV file: radio, radio, path loss in dB
    #[arg(value_name = "MEASURED")]
    measured: PathBuf,
    /// Number of radios that the box has ports for
    #[arg(long, value_name = "N", value_parser = whole(2..=64_usize), allow_negative_numbers = true)]
    radios: usize,
    /// Setting of all attenuators during the measurement, in dB
    #[arg(long, value_name = "DB", default_value_t = 0.0, allow_negative_numbers = true)]
    setting: f64,
    #[command(flatten)]
    of_box: BoxArgs,
}

/// The longest file, bytes.
const MAX_FILE: u64 = 1 << 20;

pub(super) fn calibrate(a: &CalibrateArgs) -> Result<(), Failure> {
    let switch = a.of_box.switch(a.radios)?;
    if switch.junction().is_some() {
        let remedy = "calibrate each one with the other unplugged, and concatenate the losses";
        return Err(usage!("--switches: two switches cannot be calibrated together; {remedy}"));
    }
    let settings = switch.all_at(a.setting).ok_or_else(|| {
        usage!(
            "--setting {}: the attenuators do not have this setting; give a multiple of --step up to --max",
            a.setting
        )
    })?;
    let measured = read(a)?;
    let (insertion_db, rms_db) =
        fit(&switch, &settings, &measured).map_err(|e| usage!("{}: {e}", a.measured.display()))?;
    say!("{} path losses, residual {rms_db:.2} dB (root mean square)", measured.len());
    put(json_line(&Calibration { insertion_db })?)
}

fn read(a: &CalibrateArgs) -> Result<Vec<Measurement>, Failure> {
    let path = a.measured.display();
    let wrong = |what: &dyn std::fmt::Display| usage!("{path}: {what}");
    let size = fs::metadata(&a.measured).map_err(|e| wrong(&e))?.len();
    if size > MAX_FILE {
        return Err(wrong(&format!("file too large: {size} bytes, at most {MAX_FILE}")));
    }
    let text = fs::read_to_string(&a.measured).map_err(|e| wrong(&e))?;
    measurements(&text).map_err(|e| usage!("{path}:{e}"))
}
