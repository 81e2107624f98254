//! `wayhop matrix calibrate`.

use std::fs;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

use wayhop_matrix::{Calibration, Measurement, calibrate as fit, measurements};

use super::args::CalibrateArgs;
use crate::failure::{Failure, output, say};

/// The longest file, bytes.
const MAX_FILE: u64 = 1 << 20;

pub(super) fn calibrate(a: &CalibrateArgs) -> Result<ExitCode, Failure> {
    let switch = a.of_box.switch(a.radios)?;
    let usage = |what: String| Failure::Usage(what);
    if switch.junction().is_some() {
        let remedy = "calibrate each one with the other unplugged, and concatenate the losses";
        return Err(usage(format!("--switches: two switches cannot be calibrated together; {remedy}")));
    }
    let settings = switch.all_at(a.setting).ok_or_else(|| {
        usage(format!(
            "--setting {}: the attenuators do not have this setting; give a multiple of --step up to --max",
            a.setting
        ))
    })?;
    let measured = read(a)?;
    let (insertion_db, rms_db) =
        fit(&switch, &settings, &measured).map_err(|e| usage(format!("{}: {e}", a.measured.display())))?;
    say!("{} path losses, residual {rms_db:.2} dB (root mean square)", measured.len());
    let json = serde_json::to_string(&Calibration { insertion_db }).map_err(Failure::run)?;
    output(writeln!(stdout(), "{json}"))?;
    Ok(ExitCode::SUCCESS)
}

fn read(a: &CalibrateArgs) -> Result<Vec<Measurement>, Failure> {
    let path = a.measured.display();
    let wrong = |what: &dyn std::fmt::Display| Failure::Usage(format!("{path}: {what}"));
    let size = fs::metadata(&a.measured).map_err(|e| wrong(&e))?.len();
    if size > MAX_FILE {
        return Err(wrong(&format!("file too large: {size} bytes, at most {MAX_FILE}")));
    }
    let text = fs::read_to_string(&a.measured).map_err(|e| wrong(&e))?;
    measurements(&text).map_err(|e| Failure::Usage(format!("{path}:{e}")))
}
