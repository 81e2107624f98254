//! `wayhop fleet`: the hosts of a field run, over ssh.

mod args;
mod progress;
mod table;

use std::io::{Write as _, stdout};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use wayhop_fleet::{
    Clock, Context, Destination, Error, Fleet, Host, HostReport, HostState, Payload, Plan, Report, State,
    StateFile, on_all,
};
use wayhop_runs::interruption::stop_on_signal;
use wayhop_scenario::Scenario;
use wayhop_trace::Status;

use args::FleetArgs;
pub(crate) use args::FleetCommand;
use progress::ProgressDisplay;

use crate::failure::{Failure, output, say};

/// State of one fleet command.
struct Desk {
    fleet: Fleet,
    state: StateFile,
    stop: std::sync::Arc<AtomicBool>,
    shown: ProgressDisplay,
    json: bool,
}

pub(crate) fn fleet(command: &FleetCommand) -> Result<ExitCode, Failure> {
    match command {
        FleetCommand::Check(a) => {
            let desk = Desk::open(a)?;
            let hosts = desk.on_hosts(wayhop_fleet::check);
            desk.tell("check", hosts, None)
        }
        FleetCommand::Push { common, binary } => push(common, binary.as_deref()),
        FleetCommand::Start { common, wait } => start(common, *wait),
        FleetCommand::Stop(a) => {
            let desk = Desk::open(a)?;
            let hosts = desk.on_hosts(wayhop_fleet::stop);
            let state = desk.state.read()?;
            desk.tell("stop", hosts, state.as_ref())
        }
        FleetCommand::Fetch { common, out, run } => fetch(common, out.as_deref(), run.as_deref()),
    }
}

impl Desk {
    fn open(a: &FleetArgs) -> Result<Self, Failure> {
        let mut fleet =
            Fleet::load(&a.fleet, |scenario| Ok(Scenario::load(scenario, &[])?.resolve()?.names))?;
        fleet.keep(&a.hosts)?;
        let state = StateFile::of(&a.fleet);
        Ok(Self { fleet, state, stop: stop_on_signal()?, shown: ProgressDisplay::new(a.quiet), json: a.json })
    }

    fn context(&self) -> Context<'_> {
        Context { fleet: &self.fleet, stop: &self.stop, progress: &self.shown }
    }

    fn on_hosts(&self, step: impl Fn(&Context<'_>, &Host) -> HostReport + Sync) -> Vec<HostReport> {
        let cx = self.context();
        on_all(&self.fleet, &self.fleet.hosts, |host| step(&cx, host))
    }

    /// Prints the result of a step, and returns its exit status.
    fn tell(&self, action: &str, hosts: Vec<HostReport>, state: Option<&State>) -> Result<ExitCode, Failure> {
        self.shown.end();
        let report = Report {
            fleet: self.fleet.name.clone(),
            action: action.to_owned(),
            ok: hosts.iter().all(|h| h.ok),
            run: state.map(|s| s.run.clone()),
            starts_unix_s: state.map(|s| s.starts_unix_s),
            hosts,
        };
        let text = if self.json {
            let value = serde_json::to_value(&report).map_err(Failure::run)?;
            format!("{}\n", wayhop_report::Document::from(value))
        } else {
            table::table(&report)
        };
        output(stdout().write_all(text.as_bytes()))?;
        let status = match (self.stop.load(Ordering::Relaxed), report.ok) {
            (true, _) => Status::Interrupted,
            (false, true) => Status::Done,
            (false, false) => Status::Failed,
        };
        Ok(status.into())
    }
}

fn push(a: &FleetArgs, binary: Option<&Path>) -> Result<ExitCode, Failure> {
    let desk = Desk::open(a)?;
    let own;
    let binary = if let Some(path) = binary {
        path
    } else {
        own = std::env::current_exe().map_err(Failure::run)?;
        own.as_path()
    };
    let payload = Payload::new(&desk.fleet, binary)?;
    let hosts = desk.on_hosts(|cx, host| wayhop_fleet::push(cx, host, &payload));
    desk.tell("push", hosts, None)
}

fn start(a: &FleetArgs, wait: f64) -> Result<ExitCode, Failure> {
    let desk = Desk::open(a)?;
    let prepared = desk.on_hosts(wayhop_fleet::prepare);
    let clock = |r: &HostReport| r.start.as_ref().and_then(|s| s.clock);
    if prepared.iter().any(|h| !h.ok) || desk.context().is_stopped() {
        say!("not started: see the problems below");
        return desk.tell("start", prepared, None);
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_err(Failure::run)?;
    let at = now + Duration::from_secs_f64(wait);
    let plan = Plan { run: run_name(now), at_unix_ns: at.as_nanos() as u64 };
    let pairs: Vec<(&Host, Clock)> =
        desk.fleet.hosts.iter().zip(&prepared).filter_map(|(h, r)| Some((h, clock(r)?))).collect();
    let mut state = State {
        wayhop: wayhop_core::version::full().to_owned(),
        run: plan.run.clone(),
        starts_unix_s: at.as_secs_f64(),
        hosts: pairs.iter().map(|(h, c)| (h.name.clone(), HostState::started(*c))).collect(),
    };
    // Before anything runs, so that it can be found again whatever happens to this command.
    desk.state.write(&state)?;
    let cx = desk.context();
    let launched =
        on_all(&desk.fleet, &pairs, |(host, clock)| wayhop_fleet::launch(&cx, host, &plan, *clock));
    // All start or none.
    if launched.iter().any(|h| !h.ok) && !desk.context().is_stopped() {
        let taken_back = take_back(&desk, launched);
        return desk.tell("start", taken_back, Some(&state));
    }
    state.hosts.retain(|name, _| launched.iter().any(|r| r.ok && r.name == *name));
    desk.state.write(&state)?;
    wait_until(at, &desk.stop);
    let steps: Vec<(&Host, &HostReport)> = desk.fleet.hosts.iter().zip(&launched).collect();
    let looked = on_all(&desk.fleet, &steps, |(host, report)| match report.start.clone() {
        Some(started) if report.ok => wayhop_fleet::look(&cx, host, &plan, started),
        _ => (*report).clone(),
    });
    // A host that does not answer now may still run: it answered when it was told to start.
    let looked = if looked.iter().any(|h| h.state == "wrong") { take_back(&desk, looked) } else { looked };
    desk.tell("start", looked, Some(&state))
}

/// Stops what was started, since some host could not start.
fn take_back(desk: &Desk, reports: Vec<HostReport>) -> Vec<HostReport> {
    let cx = desk.context();
    let steps: Vec<(&Host, HostReport)> = desk.fleet.hosts.iter().zip(reports).collect();
    let failed: Vec<&str> = steps.iter().filter(|(_, r)| !r.ok).map(|(h, _)| h.name.as_str()).collect();
    say!("{} did not start; stopping the others", failed.join(", "));
    on_all(&desk.fleet, &steps, |(host, report)| {
        let stopped = wayhop_fleet::stop(&cx, host);
        let mut report = report.clone();
        report.stop = stopped.stop;
        if report.ok && !stopped.ok {
            (report.ok, report.state, report.problems) = (false, stopped.state, stopped.problems);
        }
        report
    })
}

/// Waits for the common time, or until interrupted.
fn wait_until(at: Duration, stop: &AtomicBool) {
    let left = at.saturating_sub(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default());
    let until = Instant::now() + left;
    while Instant::now() < until && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The name of a run that begins now: the time in UTC.
fn run_name(now: Duration) -> String {
    let text = wayhop_control::gpsd::iso8601(UNIX_EPOCH + now);
    let digits: String = text.chars().take(19).filter(|c| !matches!(c, '-' | ':')).collect();
    format!("{digits}Z")
}

fn fetch(a: &FleetArgs, out: Option<&Path>, run: Option<&str>) -> Result<ExitCode, Failure> {
    let mut desk = Desk::open(a)?;
    let mut state = desk.state.read()?.filter(|s| run.is_none_or(|r| s.run == r));
    let run = match (run, &state) {
        (Some(run), _) if !wayhop_fleet::is_run_name(run) => {
            return Err(Failure::usage(format!(
                "--run {run}: not the name of a run; names look like 20261124T081500Z"
            )));
        }
        (Some(run), _) => run.to_owned(),
        (None, Some(state)) => state.run.clone(),
        (None, None) => {
            return Err(Failure::usage(
                "no run has been started from here: use `wayhop fleet start`, or name a run with --run",
            ));
        }
    };
    if let (Some(state), true) = (&state, a.hosts.is_empty()) {
        // Hosts that were never started have nothing to fetch.
        desk.fleet.hosts.retain(|h| state.hosts.contains_key(&h.name));
    }
    let folder = out
        .map_or_else(|| PathBuf::from("runs").join(format!("{}-{run}", desk.fleet.name)), Path::to_path_buf);
    std::fs::create_dir_all(&folder).map_err(Failure::write(&folder))?;
    let to = Destination { run, folder };
    let hosts = desk.on_hosts(|cx, host| wayhop_fleet::fetch(cx, host, &to));
    if let Some(state) = &mut state {
        for h in hosts.iter().filter(|h| h.ok) {
            if let Some(known) = state.hosts.get_mut(&h.name) {
                known.fetched = true;
            }
        }
        desk.state.write(state)?;
    }
    let missing: Vec<&str> = hosts.iter().filter(|h| !h.ok).map(|h| h.name.as_str()).collect();
    if !missing.is_empty() {
        say!("not fetched yet: {}; run the same command to fetch the rest", missing.join(", "));
    }
    desk.tell("fetch", hosts, state.as_ref())
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
