//! `wayhop fleet`: the hosts of a field run, over ssh.

mod progress;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::{Subcommand, ValueHint};
use wayhop_fleet::{Error, Fleet, Operation, Report};
use wayhop_runs::interruption::stop_on_signal;
use wayhop_scenario::Scenario;
use wayhop_trace::Status;

use crate::failure::{Failure, print_object, put};
use crate::scenario_args::{number, seconds};
use progress::ProgressDisplay;

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
    fleet: PathBuf,
    /// Use only this host (repeatable)
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Print no progress
    #[arg(long, short)]
    quiet: bool,
}

fn at_most_a_day(text: &str) -> Result<f64, String> {
    seconds(text)?;
    number(text, 0.0..=86_400.0, "give at most 86400 s, one day")
}

pub(crate) fn fleet(command: &FleetCommand) -> Result<ExitCode, Failure> {
    match command {
        FleetCommand::Check(a) => on_fleet(a, |fleet| Ok(fleet.check())),
        FleetCommand::Push { common, binary } => on_fleet(common, |fleet| match binary {
            Some(path) => Ok(fleet.push(path)?),
            None => Ok(fleet.push(&std::env::current_exe().map_err(Failure::run)?)?),
        }),
        FleetCommand::Start { common, wait } => {
            on_fleet(common, |fleet| Ok(fleet.start(Duration::from_secs_f64(*wait))?))
        }
        FleetCommand::Stop(a) => on_fleet(a, |fleet| Ok(fleet.stop()?)),
        FleetCommand::Fetch { common, out, run } => {
            let all_hosts = common.hosts.is_empty();
            on_fleet(common, |fleet| Ok(fleet.fetch(out.as_deref(), run.as_deref(), all_hosts)?))
        }
    }
}

/// Does a command on the hosts, prints its report, and returns its exit status.
fn on_fleet(
    a: &FleetArgs,
    command: impl FnOnce(&mut Operation<'_>) -> Result<Report, Failure>,
) -> Result<ExitCode, Failure> {
    let mut fleet =
        Fleet::load(&a.fleet, |scenario| Ok(Scenario::load(scenario, &[])?.resolve_hosts()?.names))?;
    fleet.keep(&a.hosts)?;
    let stop: Arc<AtomicBool> = stop_on_signal()?;
    let shown = ProgressDisplay::new(a.quiet);
    let report = command(&mut Operation::new(fleet, &a.fleet, &stop, &shown))?;
    shown.end();
    if a.json {
        print_object(&report)?;
    } else {
        put(table::table(&report))?;
    }
    let status = match (stop.load(Ordering::Relaxed), report.ok) {
        (true, _) => Status::Interrupted,
        (false, true) => Status::Done,
        (false, false) => Status::Failed,
    };
    Ok(status.into())
}

impl From<Error> for Failure {
    fn from(e: Error) -> Self {
        match e {
            Error::Config(e) => e.into(),
            Error::Usage(m) => Self::Usage(m),
            Error::System(m) => Self::Run(m),
        }
    }
}
