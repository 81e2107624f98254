//! The arguments that name a scenario and change it.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use wayhop_scenario::Scenario;

use crate::failure::{Failure, usage};

/// Where a scenario comes from: a TOML file, or ns-2's files, with changes from the command line.
#[derive(Debug, clap::Args)]
pub(crate) struct SourceArgs {
    /// Scenario file in TOML (keys: docs/reference/scenario.md), or - for standard input
    #[arg(value_name = "SCENARIO", conflicts_with_all = ["movement", "traffic"])]
    pub(crate) scenario: Option<PathBuf>,
    /// ns-2 movement file (setdest), plain or gzip
    #[arg(long, value_name = "FILE")]
    pub(crate) movement: Option<PathBuf>,
    /// ns-2 traffic file (cbrgen)
    #[arg(long, value_name = "FILE", requires = "movement")]
    pub(crate) traffic: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) changes: ChangeArgs,
}

/// Changes to a scenario from the command line.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ChangeArgs {
    #[arg(long, value_name = "NAME", help = protocol_help())]
    pub(crate) protocol: Option<String>,
    #[arg(long, value_name = "NAME", help = profile_help())]
    pub(crate) profile: Option<String>,
    #[arg(long, value_name = "PRESET", help = radio_help())]
    pub(crate) radio: Option<String>,
    /// Duration of the run, in seconds of simulated time
    #[arg(long, value_name = "S", value_parser = seconds, allow_negative_numbers = true)]
    pub(crate) duration: Option<f64>,
    /// Seed of all random number streams
    #[arg(long, value_name = "N", value_parser = whole(0..=MAX_SEED), allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// Set any key of the scenario, such as radio.tx_power_dbm=20 (repeatable)
    #[arg(long = "set", value_name = "PATH.KEY=VALUE")]
    pub(crate) sets: Vec<String>,
}

/// TOML's integers are signed.
const MAX_SEED: u64 = i64::MAX as u64;

pub(crate) fn whole<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    move |text| {
        text.parse()
            .ok()
            .filter(|n| range.contains(n))
            .ok_or_else(|| format!("give a whole number from {} to {}", range.start(), range.end()))
    }
}

/// A number of this range, or what to give instead.
pub(crate) fn number(text: &str, range: RangeInclusive<f64>, remedy: &str) -> Result<f64, String> {
    text.parse().ok().filter(|n| range.contains(n)).ok_or_else(|| remedy.to_owned())
}

pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    number(text, f64::MIN_POSITIVE..=f64::MAX, "give a number of seconds above zero")
}

pub(crate) fn metres(text: &str) -> Result<f64, String> {
    number(text, f64::MIN_POSITIVE..=f64::MAX, "give a number above zero")
}

pub(crate) fn value_name(value: &impl clap::ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |v| v.get_name().to_owned())
}

pub(crate) fn protocol_help() -> String {
    let names: Vec<_> = wayhop_protocols::names().collect();
    format!(
        "Routing protocol: {}, ns3:MODEL (docs/concepts/ns3-models.md), or the path of a library or Python module (docs/tutorials)",
        names.join(", ")
    )
}

fn radio_help() -> String {
    let names: Vec<_> = wayhop_radio::PRESETS.iter().map(|(name, _)| *name).collect();
    format!("Radio preset: {}", names.join(", "))
}

pub(crate) fn profile_help() -> String {
    let of = |d: &&wayhop_core::Description| {
        let names: Vec<_> = d.profiles.iter().map(|p| p.name).collect();
        format!("{} ({})", names.join(", "), d.name)
    };
    let all: Vec<_> = wayhop_protocols::ALL.iter().map(of).collect();
    format!("Protocol profile (its constants and options): {}", all.join("; "))
}

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
            (Some(path), _) if path.extension() == Some("tcl".as_ref()) => Err(usage!(
                "{}: ns-2 files are not scenario files; give this file with --movement or --traffic",
                path.display()
            )),
            (Some(path), _) if is_standard_input(path) => {
                Ok(Scenario::read(std::io::stdin().lock(), &self.changes.all_sets())?)
            }
            (Some(path), _) => Ok(Scenario::load(path, &self.changes.all_sets())?),
            (None, Some(movement)) => self.changes.load_ns2(movement, self.traffic.as_deref()),
            (None, None) => Err(usage!(
                "no scenario: give a scenario file, or ns-2 files with --movement and --traffic; scenarios/first.toml is \
                 an example"
            )),
        }
    }
}

impl ChangeArgs {
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
            text("--protocol", "protocol.name", &self.protocol.as_deref().map(wayhop_protocols::absolute)),
            text("--profile", "protocol.profile", &self.profile),
            text("--radio", "radio.preset", &self.radio),
            self.duration.map(|s| ("--duration", format!("duration_s={s:?}"))),
            self.seed.map(|s| ("--seed", format!("seed={s}"))),
        ];
        flags.into_iter().flatten()
    }
}
