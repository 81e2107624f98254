//! From arguments to a scenario.

use std::path::Path;

use wayhop_scenario::Scenario;

use crate::failure::Failure;
use crate::scenario_args::{ChangeArgs, SourceArgs};

/// Whether a path means standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    path == Path::new("-")
}

impl SourceArgs {
    /// The scenario's file, if it comes from one.
    pub(crate) fn file(&self) -> Option<&Path> {
        self.scenario.as_deref().filter(|path| !is_standard_input(path))
    }

    /// Reads the scenario that the arguments describe.
    pub(crate) fn load(&self) -> Result<Scenario, Failure> {
        match (&self.scenario, &self.movement) {
            (Some(path), _) if path.extension() == Some("tcl".as_ref()) => Err(Failure::Usage(format!(
                "{}: ns-2 files are not scenario files; give it with --movement or --traffic",
                path.display()
            ))),
            (Some(path), _) if is_standard_input(path) => {
                Ok(Scenario::read(std::io::stdin().lock(), &self.changes.all_sets())?)
            }
            (Some(path), _) => Ok(Scenario::load(path, &self.changes.all_sets())?),
            (None, Some(movement)) => self.changes.load_ns2(movement, self.traffic.as_deref()),
            (None, None) => Err(Failure::Usage(
                "no scenario: give a scenario file, or ns-2 files with --movement and --traffic; scenarios/first.toml is \
                 an example"
                    .to_owned(),
            )),
        }
    }
}

impl ChangeArgs {
    /// A scenario of ns-2's files.
    pub(crate) fn load_ns2(&self, movement: &Path, traffic: Option<&Path>) -> Result<Scenario, Failure> {
        Ok(Scenario::from_ns2(movement, traffic, &self.all_sets())?)
    }

    /// The options for single keys, and then `--set`, as settings.
    pub(crate) fn all_sets(&self) -> Vec<String> {
        self.flags().map(|(_, set)| set).chain(self.sets.iter().cloned()).collect()
    }

    /// The option that a setting comes from, unless it is `--set`.
    pub(crate) fn option_of(&self, set: &str) -> Option<&'static str> {
        self.flags().find(|(_, s)| s == set).map(|(option, _)| option)
    }

    /// The options for single keys, as settings.
    fn flags(&self) -> impl Iterator<Item = (&'static str, String)> {
        let text =
            |option, key: &str, value: &Option<String>| Some((option, format!("{key}={}", value.as_ref()?)));
        let flags = [
            text("--protocol", "protocol.name", &self.protocol),
            text("--profile", "protocol.profile", &self.profile),
            text("--radio", "radio.preset", &self.radio),
            self.duration.map(|s| ("--duration", format!("duration_s={s:?}"))),
            self.seed.map(|s| ("--seed", format!("seed={s}"))),
        ];
        flags.into_iter().flatten()
    }
}
