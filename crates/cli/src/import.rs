//! `wayhop import`.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _, stdout};
use std::path::{Component, Path, PathBuf};
use std::process::ExitCode;

use wayhop_scenario::{Movement, Scenario, Traffic};

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
            *path = way(&folder, &path.canonicalize()?);
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

/// The way from an absolute folder to an absolute file.
fn way(folder: &Path, file: &Path) -> PathBuf {
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir.as_os_str());
    let down: Vec<&OsStr> = file.components().skip(shared).map(Component::as_os_str).collect();
    up.chain(down).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_between_two_places_goes_up_and_then_down() {
        for (folder, file, expected) in [
            ("/a/b", "/a/b/m.tcl", "m.tcl"),
            ("/a/b", "/a/c/d/m.tcl", "../c/d/m.tcl"),
            ("/", "/m.tcl", "m.tcl"),
            ("/a/b", "/m.tcl", "../../m.tcl"),
        ] {
            assert_eq!(way(Path::new(folder), Path::new(file)), Path::new(expected));
        }
    }
}
