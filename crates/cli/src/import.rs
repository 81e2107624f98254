//! `wayhop import`.

use std::fs;
use std::io::{Write as _, stdout};
use std::process::ExitCode;

use crate::args::ImportArgs;
use crate::failure::{Failure, output};

pub(crate) fn import(a: &ImportArgs) -> Result<ExitCode, Failure> {
    let ImportArgs::Ns2 { source, out } = a;
    let mut scenario = source.load()?;
    let resolved = scenario.resolve().map_err(Failure::usage)?;
    resolved.warnings.iter().for_each(|w| eprintln!("warning: {w}"));
    // What the files leave open is written down, so that the scenario stays what it is now.
    scenario.duration_s = Some(resolved.duration.as_secs_f64());
    let text = toml::to_string(&scenario).map_err(Failure::run)?;
    match out {
        Some(path) => fs::write(path, text).map_err(Failure::write(path))?,
        None => output(write!(stdout(), "{text}"))?,
    }
    Ok(ExitCode::SUCCESS)
}
