//! `wayhop fleet`: the hosts of a field run, over ssh.

mod args;
mod progress;
mod table;

use std::io::{Write as _, stdout};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use wayhop_fleet::{Error, Fleet, Operation, Report};
use wayhop_runs::interruption::stop_on_signal;
use wayhop_scenario::Scenario;
use wayhop_trace::Status;

use args::FleetArgs;
pub(crate) use args::FleetCommand;
use progress::ProgressDisplay;

use crate::failure::{Failure, output, print_object};

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
    let mut fleet = Fleet::load(&a.fleet, |scenario| Ok(Scenario::load(scenario, &[])?.resolve()?.names))?;
    fleet.keep(&a.hosts)?;
    let stop: Arc<AtomicBool> = stop_on_signal()?;
    let shown = ProgressDisplay::new(a.quiet);
    let report = command(&mut Operation::new(fleet, &a.fleet, &stop, &shown))?;
    shown.end();
    if a.json {
        print_object(&report)?;
    } else {
        output(stdout().write_all(table::table(&report).as_bytes()))?;
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
