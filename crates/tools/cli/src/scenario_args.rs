//! The arguments that name a scenario and change it.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;

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

/// A whole number of this range.
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

pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s.is_finite() && s > 0.0 => Ok(s),
        _ => Err("give a number of seconds above zero".to_owned()),
    }
}

/// Simulated seconds per second.
#[cfg(feature = "linux")]
pub(crate) fn speed(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if (0.001..=1e6).contains(&s) => Ok(s),
        _ => Err("give simulated seconds per second, from 0.001 to 1000000, such as 10".to_owned()),
    }
}

pub(crate) fn metres(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s.is_finite() && s > 0.0 => Ok(s),
        _ => Err("give a number above zero".to_owned()),
    }
}

/// Values of `--protocol`.
pub(crate) fn protocol_help() -> String {
    let names: Vec<_> = wayhop_protocols::names().collect();
    format!("Routing protocol: {}", names.join(", "))
}

/// Values of `--radio`.
fn radio_help() -> String {
    let names: Vec<_> = wayhop_radio::PRESETS.iter().map(|(name, _)| *name).collect();
    format!("Radio preset: {}", names.join(", "))
}

/// Values of `--profile`.
pub(crate) fn profile_help() -> String {
    let of = |d: &&wayhop_core::Description| {
        let names: Vec<_> = d.profiles.iter().map(|p| p.name).collect();
        format!("{} ({})", names.join(", "), d.name)
    };
    let all: Vec<_> = wayhop_protocols::ALL.iter().map(of).collect();
    format!("Protocol profile (its constants and options): {}", all.join("; "))
}
