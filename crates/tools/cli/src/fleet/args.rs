//! Arguments of `wayhop fleet`.

use std::path::PathBuf;

use clap::{Subcommand, ValueHint};

use crate::scenario_args::seconds;

const CHECK_EXAMPLE: &str = "\
Changes nothing. Exits with 1 if something is wrong at a host; each problem names its remedy.

Example:
  wayhop fleet check cars.toml";

const PUSH_EXAMPLE: &str = "\
Files that are there already, by their digests, are not sent again. The program is sent without its symbols, everything compressed.

Examples:
  wayhop fleet push cars.toml
  wayhop fleet push cars.toml --binary target/release/wayhop";

const START_EXAMPLE: &str = "\
If one host cannot start, none does: all are checked first, and if a node ends all the same, or is not ready after 30 s, the \
others are stopped again. Programs of [[start]] begin with the nodes. All run until `wayhop fleet stop`.

Examples:
  wayhop fleet start cars.toml
  wayhop fleet start cars.toml --in 60";

const FETCH_EXAMPLE: &str = "\
A host that does not answer is named; what it has is fetched by the same command, later. What came before an interruption is not fetched again.

Examples:
  wayhop fleet fetch cars.toml
  wayhop fleet fetch cars.toml --host car-3";

#[derive(Debug, Subcommand)]
pub(crate) enum FleetCommand {
    /// See whether all hosts can take part: version, clock, disk, interfaces, uplinks, programs, GPS, rights
    #[command(after_help = CHECK_EXAMPLE)]
    Check(FleetArgs),
    /// Give all hosts the same program, scenario and files
    #[command(after_help = PUSH_EXAMPLE)]
    Push {
        #[command(flatten)]
        common: FleetArgs,
        /// The program that the hosts get as wayhop; without it, this one
        #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
        binary: Option<PathBuf>,
    },
    /// Start the scenario and its programs on all hosts, at a common time
    #[command(after_help = START_EXAMPLE)]
    Start {
        #[command(flatten)]
        common: FleetArgs,
        /// From now until the common time, seconds
        #[arg(long = "in", value_name = "SECONDS", default_value_t = 10.0, value_parser = at_most_a_day)]
        wait: f64,
    },
    /// End the programs and nodes of all hosts in good order
    Stop(FleetArgs),
    /// Fetch the records and the output of programs of the last run from all hosts
    #[command(after_help = FETCH_EXAMPLE)]
    Fetch {
        #[command(flatten)]
        common: FleetArgs,
        /// Folder for a run directory of each host; without it, runs/FLEET-RUN
        #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
        out: Option<PathBuf>,
        /// Another run than the last one that was started from here
        #[arg(long, value_name = "RUN")]
        run: Option<String>,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct FleetArgs {
    /// The fleet's file; docs/concepts/fleet.md lists its keys
    #[arg(value_name = "FLEET.toml", value_hint = ValueHint::FilePath)]
    pub(crate) fleet: PathBuf,
    /// Only this host; may be given again
    #[arg(long = "host", value_name = "NAME")]
    pub(crate) hosts: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// Say nothing while it works
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

fn at_most_a_day(text: &str) -> Result<f64, String> {
    let given = seconds(text)?;
    if given > 86_400.0 { Err("give at most a day, 86400".to_owned()) } else { Ok(given) }
}
