//! State of a fleet's last run between commands: a file next to the fleet file.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::names::is_name;
use crate::report::Clock;

/// The longest state file, bytes.
const LONGEST: u64 = 1 << 20;

/// The last run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct FleetState {
    pub(crate) wayhop: String,
    pub(crate) run: String,
    /// When it starts or started, by this machine's clock: seconds since 1970.
    pub(crate) starts_unix_s: f64,
    pub(crate) hosts: BTreeMap<String, HostState>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct HostState {
    /// Offset of its clock from this machine's before the start, seconds.
    pub(crate) clock_offset_s: f64,
    /// Largest error of the offset, seconds.
    pub(crate) clock_error_s: f64,
    /// Whether all of its records have been fetched.
    #[serde(default)]
    pub(crate) fetched: bool,
}

impl HostState {
    pub(crate) fn started(clock: Clock) -> Self {
        Self { clock_offset_s: clock.offset_s, clock_error_s: clock.error_s, fetched: false }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct StateFile(PathBuf);

impl StateFile {
    pub(crate) fn of(fleet: &Path) -> Self {
        Self(fleet.with_extension("fleet-state.json"))
    }

    /// Its content; `None` before the first start.
    pub(crate) fn read(&self) -> Result<Option<FleetState>, Error> {
        let wrong = |why: String| {
            Error::Usage(format!("{}: {why}; remove it, and name the run with --run", self.0.display()))
        };
        match fs::metadata(&self.0) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Ok(meta) if meta.len() > LONGEST => {
                return Err(wrong("not the state file of a fleet".to_owned()));
            }
            _ => {}
        }
        let text = fs::read_to_string(&self.0).map_err(|e| wrong(e.to_string()))?;
        let state: FleetState = serde_json::from_str(&text).map_err(|e| wrong(e.to_string()))?;
        if !is_name(&state.run) {
            return Err(wrong(format!("{:?} is not the name of a run", state.run)));
        }
        Ok(Some(state))
    }

    /// Writes the file atomically.
    pub(crate) fn write(&self, state: &FleetState) -> Result<(), Error> {
        let cannot = |e: std::io::Error| Error::System(format!("cannot write {}: {e}", self.0.display()));
        let part = self.0.with_extension("json.part");
        let text = serde_json::to_string_pretty(state).map_err(|e| Error::System(e.to_string()))?;
        let mut file = fs::File::create(&part).map_err(cannot)?;
        file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(cannot)?;
        fs::rename(&part, &self.0).map_err(cannot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_read_as_it_was_written_and_damage_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = StateFile::of(&folder.path().join("cars.toml"));
        assert_eq!(file.read().unwrap(), None);
        let mut state =
            FleetState { run: "20261124T040000Z".to_owned(), starts_unix_s: 1.5, ..FleetState::default() };
        state.hosts.insert("car-1".to_owned(), HostState::started(Clock { offset_s: 0.25, error_s: 0.001 }));
        file.write(&state).unwrap();
        assert_eq!(file.read().unwrap(), Some(state));
        for damage in ["", "{}", r#"{"wayhop":"","run":"../..","starts_unix_s":0,"hosts":{}}"#] {
            fs::write(&file.0, damage).unwrap();
            assert!(file.read().unwrap_err().to_string().contains("cars.fleet-state.json"));
        }
    }
}
