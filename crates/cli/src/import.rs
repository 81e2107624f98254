//! `wayhop import`.

use std::fs;
use std::io::{self, Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use wayhop_scenario::{Movement, Scenario, Traffic, relative_path};

use crate::args::ImportArgs;
use crate::failure::{Failure, output, warn};

pub(crate) fn import(a: &ImportArgs) -> Result<ExitCode, Failure> {
    let ImportArgs::Ns2 { movement, traffic, changes, out } = a;
    let mut scenario = changes.load_ns2(movement, traffic.as_deref())?;
    let resolved = scenario.resolve()?;
    warn(&resolved.warnings);
    // What the files leave open is written down, so that the scenario stays what it is now.
    scenario.duration_s = Some(resolved.duration.as_secs_f64());
    if let Some(out) = out {
        move_paths(&mut scenario, out).map_err(Failure::write(out))?;
    }
    let text = toml::to_string(&scenario).map_err(Failure::run)?;
    match out {
        Some(path) => fs::write(path, text).map_err(Failure::write(path))?,
        None => output(write!(stdout(), "{text}"))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Paths in a scenario count from its folder, those of the command line from the working directory.
fn move_paths(scenario: &mut Scenario, out: &Path) -> io::Result<()> {
    let folder = match out.parent() {
        Some(p) if p != Path::new("") => p.canonicalize()?,
        _ => PathBuf::from(".").canonicalize()?,
    };
    let from_there = |path: &mut PathBuf| -> io::Result<()> {
        if path.is_relative() {
            *path = relative_path(&folder, &path.canonicalize()?);
        }
        Ok(())
    };
    if let Movement::Ns2 { path, .. } = &mut scenario.movement {
        from_there(path)?;
    }
    for entry in &mut scenario.traffic {
        if let Traffic::Ns2(file) = entry {
            from_there(&mut file.path)?;
        }
    }
    Ok(())
}
