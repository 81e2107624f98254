//! Arguments of `wayhop fleet`.

use std::path::PathBuf;

use clap::{Subcommand, ValueHint};

use crate::scenario_args::seconds;

const CHECK_EXAMPLE: &str = "\
Changes nothing. Exits with 1 if a host has a problem, and prints how to fix each one.

Example:
  wayhop fleet check cars.toml";

const PUSH_EXAMPLE: &str = "\
Files that a host already has (same digest) are skipped. Symbols are stripped from the program, and everything is compressed.

Examples:
  wayhop fleet push cars.toml
  wayhop fleet push cars.toml --binary target/release/wayhop";

const START_EXAMPLE: &str = "\
All hosts start or none: every host is checked first, and if a node exits or is not ready after 30 s, the others are stopped again. \
The programs in [[start]] start with the nodes. Everything runs until `wayhop fleet stop`.

Examples:
  wayhop fleet start cars.toml
  wayhop fleet start cars.toml --in 60";

const FETCH_EXAMPLE: &str = "\
Hosts that do not answer are listed; run the same command later to fetch from them. An interrupted fetch resumes where it stopped.

Examples:
  wayhop fleet fetch cars.toml
  wayhop fleet fetch cars.toml --host car-3";

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// Check whether all hosts can take part: version, clock, disk, interfaces, uplinks, programs, GPS, permissions
    #[command(after_help = CHECK_EXAMPLE)]
    Check(FleetArgs),
    /// Copy the same program, scenario and files to all hosts
    #[command(after_help = PUSH_EXAMPLE)]
    Push {
        #[command(flatten)]
        common: FleetArgs,
        /// Program to install as wayhop on the hosts. Default: this one
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        binary: Option<PathBuf>,
    },
    /// Start the scenario and its programs on all hosts, at a common time
    #[command(after_help = START_EXAMPLE)]
    Start {
        #[command(flatten)]
        common: FleetArgs,
        /// Time until the common start, in seconds
        #[arg(long = "in", value_name = "SECONDS", default_value_t = 10.0, value_parser = at_most_a_day)]
        wait: f64,
    },
    /// Stop the programs and nodes on all hosts cleanly
    Stop(FleetArgs),
    /// Fetch the records and program output of the last run from all hosts
    #[command(after_help = FETCH_EXAMPLE)]
    Fetch {
        #[command(flatten)]
        common: FleetArgs,
        /// Folder for one run directory per host. Default: runs/FLEET-RUN
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        out: Option<PathBuf>,
        /// Run to fetch. Default: the last one started from here
        #[arg(long, value_name = "RUN")]
        run: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct FleetArgs {
    /// Fleet file (keys: docs/concepts/fleet.md)
    #[arg(value_name = "FLEET.toml", value_hint = ValueHint::FilePath)]
    pub(crate) fleet: PathBuf,
    /// Use only this host (repeatable)
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Print no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn at_most_a_day(text: &str) -> Result<f64, String> {
    let given = seconds(text)?;
    if given > 86_400.0 { Err("give at most 86400 s, one day".to_owned()) } else { Ok(given) }
}
