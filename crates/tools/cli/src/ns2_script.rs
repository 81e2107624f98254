//! Runs a whole ns-2 script under `ns`, with a recorder that writes what the script creates.

use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use wayhop_import::NS2_RECORDER;

use crate::failure::{Failure, usage};

/// A script that takes longer probably has an endless loop.
const LIMIT: Duration = Duration::from_secs(60);
/// Limits of `ns`: files up to 512 MiB (the shell counts blocks of 512 bytes), and processor time up to the limit.
const BOUNDED: &str = "ulimit -f 1048576 -t 60; exec ns \"$@\"";

/// What the recorder wrote of a script. The script is a program: it can do what the user can.
pub(crate) fn record(script: &Path) -> Result<String, Failure> {
    let full = script
        .canonicalize()
        .map_err(|e| usage!("cannot read {} ({e}); check the name", script.display()))?;
    let ns =
        std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default()).any(|p| p.join("ns").is_file());
    if !ns {
        return Err(usage!(
            "{}: a whole script needs ns-2, and its program `ns` is not installed: apt-get install ns2; or save the \
             script's lines for nodes (set X_, setdest) and for traffic, and give these files with --movement and \
             --traffic",
            script.display()
        ));
    }
    let folder = TempDir::with_prefix("wayhop-ns2-").map_err(Failure::write(&std::env::temp_dir()))?;
    let [recorder, out, errors] = ["recorder.tcl", "recorded", "errors"].map(|n| folder.path().join(n));
    fs::write(&recorder, NS2_RECORDER).map_err(Failure::write(&recorder))?;
    let said = fs::File::create(&errors).map_err(Failure::write(&errors))?;
    let status = bounded(
        Command::new("sh")
            .args(["-c", BOUNDED, "ns"])
            .args([&recorder, &out, &full])
            .current_dir(&folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(said),
    )
    .map_err(|e| Failure::Run(format!("cannot run ns: {e}")))?;
    let Some(status) = status else {
        return Err(usage!(
            "{}: still running after {} s; check that its schedule ends",
            script.display(),
            LIMIT.as_secs()
        ));
    };
    let recorded = wayhop_document::read_text(&out).unwrap_or_default();
    if !status.success() && !recorded.lines().any(|line| line.starts_with("E ")) {
        let said = wayhop_document::read_text(&errors).unwrap_or_default();
        let first = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("no error message");
        return Err(usage!("{}: ns failed ({status}): {first}", script.display()));
    }
    Ok(recorded)
}

/// Waits for a program; kills it after the limit, and then returns `None`.
fn bounded(command: &mut Command) -> std::io::Result<Option<ExitStatus>> {
    let mut child = command.spawn()?;
    let start = Instant::now();
    while start.elapsed() < LIMIT {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        sleep(Duration::from_millis(20));
    }
    child.kill()?;
    child.wait()?;
    Ok(None)
}
