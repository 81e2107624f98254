//! The commands of `wayhop fleet`: each does its steps on all hosts, and reports what came of them.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, UNIX_EPOCH};

use crate::config::{Fleet, Host};
use crate::error::Error;
use crate::fetch::{Destination, fetch};
use crate::names::is_name;
use crate::pool::{Context, Progress, on_all};
use crate::push::{Payload, push};
use crate::report::{Clock, HostReport, Report};
use crate::start::{Plan, launch, look, prepare};
use crate::state::{FleetState, HostState, StateFile};
use crate::{check, clock, stop};

/// How often a wait looks for an interruption.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// A command on a fleet.
pub struct Operation<'a> {
    fleet: Fleet,
    state: StateFile,
    stop: &'a AtomicBool,
    progress: &'a dyn Progress,
}

impl<'a> Operation<'a> {
    /// On the hosts of a fleet that was read from this file; `stop` is set when the user interrupts.
    pub fn new(fleet: Fleet, file: &Path, stop: &'a AtomicBool, progress: &'a dyn Progress) -> Self {
        Self { fleet, state: StateFile::of(file), stop, progress }
    }

    /// Checks whether all hosts can take part.
    pub fn check(&self) -> Report {
        self.report("check", self.on_hosts(check::check), None)
    }

    /// Installs this program on all hosts, and copies the fleet's files.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn push(&self, binary: &Path) -> Result<Report, Error> {
        let payload = Payload::new(&self.fleet, binary)?;
        Ok(self.report("push", self.on_hosts(|cx, host| push(cx, host, &payload)), None))
    }

    /// Stops the programs and the nodes.
    ///
    /// # Errors
    /// The file of the fleet's state cannot be read.
    pub fn stop(&self) -> Result<Report, Error> {
        let hosts = self.on_hosts(stop::stop);
        Ok(self.report("stop", hosts, self.state.read()?.as_ref()))
    }

    /// Starts the nodes and programs of all hosts or of none, at a common time after this wait.
    ///
    /// # Errors
    /// The file of the fleet's state cannot be written.
    pub fn start(&self, wait: Duration) -> Result<Report, Error> {
        let prepared = self.on_hosts(prepare);
        let measured = |r: &HostReport| r.start.as_ref().and_then(|s| s.clock);
        let cx = self.context();
        if prepared.iter().any(|h| !h.ok) || cx.is_stopped() {
            self.progress.notice("not started: see the problems below");
            return Ok(self.report("start", prepared, None));
        }
        let now = clock::now();
        let at = now + wait;
        let plan = Plan { run: run_name(now), at_unix_ns: at.as_nanos() as u64 };
        let pairs: Vec<(&Host, Clock)> =
            self.fleet.hosts.iter().zip(&prepared).filter_map(|(h, r)| Some((h, measured(r)?))).collect();
        let mut state = FleetState {
            wayhop: wayhop_core::version::full().to_owned(),
            run: plan.run.clone(),
            starts_unix_s: at.as_secs_f64(),
            hosts: pairs.iter().map(|(h, c)| (h.name.clone(), HostState::started(*c))).collect(),
        };
        // Before anything runs, so that it can be found again whatever happens to this command.
        self.state.write(&state)?;
        let launched = on_all(&self.fleet, &pairs, |(host, clock)| launch(&cx, host, &plan, *clock));
        // All start or none.
        if launched.iter().any(|h| !h.ok) && !cx.is_stopped() {
            return Ok(self.report("start", self.take_back(launched), Some(&state)));
        }
        state.hosts.retain(|name, _| launched.iter().any(|r| r.ok && r.name == *name));
        self.state.write(&state)?;
        self.wait_until(at);
        let steps: Vec<(&Host, &HostReport)> = self.fleet.hosts.iter().zip(&launched).collect();
        let looked = on_all(&self.fleet, &steps, |(host, report)| match report.start.clone() {
            Some(started) if report.ok => look(&cx, host, &plan, started),
            _ => (*report).clone(),
        });
        // A host that does not answer now may still run: it answered when it was told to start.
        let looked = if looked.iter().any(|h| h.state == "wrong") { self.take_back(looked) } else { looked };
        Ok(self.report("start", looked, Some(&state)))
    }

    /// Fetches the records of a run, by default of the last one. `all_hosts` is whether the user named no hosts.
    ///
    /// # Errors
    /// There is no such run, or the folder cannot be written.
    pub fn fetch(&mut self, out: Option<&Path>, run: Option<&str>, all_hosts: bool) -> Result<Report, Error> {
        let mut state = self.state.read()?.filter(|s| run.is_none_or(|r| s.run == r));
        let run = match (run, &state) {
            (Some(run), _) if !is_name(run) => {
                return Err(Error::Usage(format!(
                    "--run {run}: not the name of a run; names look like 20261124T081500Z"
                )));
            }
            (Some(run), _) => run.to_owned(),
            (None, Some(state)) => state.run.clone(),
            (None, None) => {
                let what =
                    "no run has been started from here: use `wayhop fleet start`, or name a run with --run";
                return Err(Error::Usage(what.to_owned()));
            }
        };
        if let (Some(state), true) = (&state, all_hosts) {
            // Hosts that were never started have nothing to fetch.
            self.fleet.hosts.retain(|h| state.hosts.contains_key(&h.name));
        }
        let folder = out.map_or_else(
            || PathBuf::from("runs").join(format!("{}-{run}", self.fleet.name)),
            Path::to_path_buf,
        );
        std::fs::create_dir_all(&folder)
            .map_err(|e| Error::System(format!("cannot write {}: {e}", folder.display())))?;
        let to = Destination { run, folder };
        let hosts = self.on_hosts(|cx, host| fetch(cx, host, &to));
        if let Some(state) = &mut state {
            for h in hosts.iter().filter(|h| h.ok) {
                if let Some(known) = state.hosts.get_mut(&h.name) {
                    known.fetched = true;
                }
            }
            self.state.write(state)?;
        }
        let missing: Vec<&str> = hosts.iter().filter(|h| !h.ok).map(|h| h.name.as_str()).collect();
        if !missing.is_empty() {
            let names = missing.join(", ");
            self.progress
                .notice(&format!("not fetched yet: {names}; run the same command to fetch the rest"));
        }
        Ok(self.report("fetch", hosts, state.as_ref()))
    }

    fn context(&self) -> Context<'_> {
        Context { fleet: &self.fleet, stop: self.stop, progress: self.progress }
    }

    fn on_hosts(&self, step: impl Fn(&Context<'_>, &Host) -> HostReport + Sync) -> Vec<HostReport> {
        let cx = self.context();
        on_all(&self.fleet, &self.fleet.hosts, |host| step(&cx, host))
    }

    fn report(&self, action: &str, hosts: Vec<HostReport>, state: Option<&FleetState>) -> Report {
        Report {
            fleet: self.fleet.name.clone(),
            action: action.to_owned(),
            ok: hosts.iter().all(|h| h.ok),
            run: state.map(|s| s.run.clone()),
            starts_unix_s: state.map(|s| s.starts_unix_s),
            hosts,
        }
    }

    /// Stops what was started, since some host could not start.
    fn take_back(&self, reports: Vec<HostReport>) -> Vec<HostReport> {
        let cx = self.context();
        let steps: Vec<(&Host, HostReport)> = self.fleet.hosts.iter().zip(reports).collect();
        let failed: Vec<&str> = steps.iter().filter(|(_, r)| !r.ok).map(|(h, _)| h.name.as_str()).collect();
        self.progress.notice(&format!("{} did not start; stopping the others", failed.join(", ")));
        on_all(&self.fleet, &steps, |(host, report)| {
            let stopped = stop::stop(&cx, host);
            let mut report = report.clone();
            report.stop = stopped.stop;
            if report.ok && !stopped.ok {
                (report.ok, report.state, report.problems) = (false, stopped.state, stopped.problems);
            }
            report
        })
    }

    /// Waits for the common time, or until interrupted.
    fn wait_until(&self, at: Duration) {
        let until = Instant::now() + at.saturating_sub(clock::now());
        while Instant::now() < until && !self.stop.load(Ordering::Relaxed) {
            thread::sleep(LOOK_EVERY);
        }
    }
}

/// The name of a run that begins now: the time in UTC.
fn run_name(now: Duration) -> String {
    let text = wayhop_control::gpsd::iso8601(UNIX_EPOCH + now);
    let digits: String = text.chars().take(19).filter(|c| !matches!(c, '-' | ':')).collect();
    format!("{digits}Z")
}
