//! `wayhop sweep --on`: starts the coordinator, which is the Python package's.

use std::env::{current_exe, var_os};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use wayhop_runs::interruption::stop_on_signal;
use wayhop_sweep::{Plan, Prepared};

use crate::failure::{Failure, say, usage};

/// How long the coordinator may take to give its tasks back after an interruption.
const GRACE: Duration = Duration::from_secs(15);
const POLL: Duration = Duration::from_millis(50);

/// Runs what is left of the plan on other machines, until it is done; false if it was interrupted.
pub(super) fn run(
    plan: &Plan,
    dir: &Path,
    engine: &str,
    jobs: Option<u32>,
    quiet: bool,
    warn: impl FnMut(&str),
) -> Result<bool, Failure> {
    if engine != "slurm" && engine.strip_prefix("dask:").is_none_or(str::is_empty) {
        return Err(usage!(
            "--on {engine}: unknown engine; give dask:ADDRESS, such as dask:tcp://HOST:8786, or slurm"
        ));
    }
    let python = PathBuf::from(var_os("WAYHOP_PYTHON").unwrap_or_else(|| OsString::from("python3")));
    let probe = Command::new(&python).args(["-c", "import wayhop.cluster"]).stderr(Stdio::null()).status();
    if !probe.is_ok_and(|status| status.success()) {
        return Err(usage!(
            "--on {engine} needs Python with the package wayhop: {} -m pip install wayhop; WAYHOP_PYTHON sets another \
             interpreter",
            python.display()
        ));
    }
    // Checks the plan, and makes DIR/plan.toml with all changes from the command line. The lock of its results ends here.
    drop(Prepared::new(plan, dir, warn)?);
    let program = current_exe().map_err(|e| Failure::Run(format!("cannot find this program: {e}")))?;
    let stop = stop_on_signal()?;
    let mut command = Command::new(&python);
    command.args(["-m", "wayhop.cluster", "--on", engine, "--folder"]).arg(dir).arg("--wayhop").arg(program);
    command.args(jobs.map(|n| format!("--jobs={n}")));
    command.args(quiet.then_some("--quiet"));
    let cannot = |e: io::Error| Failure::Run(format!("cannot start {}: {e}", python.display()));
    let mut child = command.spawn().map_err(cannot)?;
    let mut stopped: Option<Instant> = None;
    loop {
        if let Some(status) = child.try_wait().map_err(cannot)? {
            return match status.code() {
                Some(0) => Ok(true),
                _ if stop.load(Ordering::Relaxed) => {
                    say!("wayhop: interrupted; run the same command to resume");
                    Ok(false)
                }
                Some(2) => Err(usage!("--on {engine} failed, as said above")),
                _ => Err(Failure::Run(format!(
                    "the coordinator ended ({status}); finished chunks are kept: run the same command to resume"
                ))),
            };
        }
        // Ctrl-C reaches the coordinator, too. Another signal may not: killed, it loses only the chunks that are running.
        if stop.load(Ordering::Relaxed) && stopped.get_or_insert_with(Instant::now).elapsed() > GRACE {
            let _ = child.kill();
        }
        thread::sleep(POLL);
    }
}
