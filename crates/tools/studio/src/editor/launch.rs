//! Runs of the saved scenario, by the program that serves the page: what it does is what `wayhop run`, `emulate` and `lab` do.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value as Json, json};

/// What is kept of a run's messages, octets.
const MAX_MESSAGES: u64 = 64 << 10;
/// How often somebody looks whether a run has ended.
const LOOK: Duration = Duration::from_millis(20);
const MOST_RUNS: usize = 10_000;

/// What is edited, and what runs it.
#[derive(Clone, Debug)]
pub struct Editing {
    /// The scenario's file; it need not be there yet.
    pub scenario: PathBuf,
    /// The folder that its runs go to.
    pub runs: PathBuf,
    /// The program whose `run`, `emulate`, `lab` and `export` the page asks for: this one.
    pub program: PathBuf,
}

/// In which world a scenario runs.
#[derive(Copy, Clone, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum World {
    #[default]
    Simulation,
    Emulation,
    Lab,
}

/// How the page wants a scenario run.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct How {
    #[serde(default)]
    world: World,
    /// Simulated seconds in a second, for a simulation that is followed.
    pace: Option<f64>,
}

impl How {
    fn command(&self) -> &'static str {
        match self.world {
            World::Simulation => "run",
            World::Emulation => "emulate",
            World::Lab => "lab",
        }
    }

    /// Has the run record what became of each frame at its receivers, so that stories of its packets have their causes, unless the
    /// scenario says itself of which nodes and flows it does. Real radios do not say it.
    fn receptions(&self, scenario: &Path) -> Option<&'static str> {
        let text = std::fs::read_to_string(scenario).unwrap_or_default();
        let says = text.parse::<toml_edit::DocumentMut>().is_ok_and(|d| d.contains_key("receptions"));
        (!says && !matches!(self.world, World::Lab)).then_some("--receptions")
    }

    /// Whether the run answers at a control socket.
    fn is_followed(&self) -> bool {
        !matches!(self.world, World::Simulation) || self.pace.is_some()
    }
}

/// The run that was started last.
#[derive(Default)]
pub(crate) struct Launch {
    last: Arc<Mutex<Option<Last>>>,
}

struct Last {
    name: String,
    pid: u32,
    is_followed: bool,
    /// None once it has ended.
    child: Option<Child>,
    /// None if it ended well.
    failure: Option<String>,
}

impl Launch {
    /// Starts the scenario. One runs at a time.
    pub(crate) fn start(&self, of: &Editing, how: &How) -> Result<Json, String> {
        let Editing { scenario, runs, program } = of;
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref().is_some_and(|l| l.child.is_some()) {
            return Err("a run is in progress; wait for its end, or stop it".to_owned());
        }
        let (name, out) = free(scenario, runs)?;
        let pace = how.pace.map(|pace| format!("--pace={pace}"));
        let mut child = Command::new(program)
            .arg(how.command())
            .arg(scenario)
            .arg("--quiet")
            .arg("--out")
            .arg(&out)
            .args(pace)
            // Last: it may be followed by names of nodes.
            .args(how.receptions(scenario))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("{}: cannot start: {e}", program.display()))?;
        let messages = child.stderr.take();
        let (pid, is_followed) = (child.id(), how.is_followed());
        *last = Some(Last { name, pid, is_followed, child: Some(child), failure: None });
        drop(last);
        let of_thread = Arc::clone(&self.last);
        thread::spawn(move || wait(&of_thread, messages));
        Ok(self.state())
    }

    /// Ends the run that goes on, if one does. One that answers is asked to end, and writes what it has.
    pub(crate) fn stop(&self) -> Json {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Last { pid, is_followed, child: Some(child), .. }) = last.as_mut()
            && !(*is_followed && ends_when_asked(*pid))
        {
            // It may have ended by itself.
            let _ = child.kill();
        }
        drop(last);
        self.state()
    }

    pub(crate) fn state(&self) -> Json {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            None => json!({"state": "none"}),
            Some(Last { name, pid, is_followed, child: Some(_), .. }) => {
                json!({"state": "running", "run": name, "pid": is_followed.then_some(pid)})
            }
            Some(Last { name, failure: Some(why), .. }) => {
                json!({"state": "failed", "run": name, "error": why})
            }
            Some(Last { name, .. }) => json!({"state": "complete", "run": name}),
        }
    }
}

impl Drop for Launch {
    fn drop(&mut self) {
        self.stop();
    }
}

fn ends_when_asked(pid: u32) -> bool {
    #[cfg(feature = "live")]
    return crate::live::end(pid);
    #[cfg(not(feature = "live"))]
    return pid == 0;
}

fn wait(last: &Mutex<Option<Last>>, messages: Option<impl std::io::Read>) {
    let mut text = Vec::new();
    if let Some(mut messages) = messages {
        // As far as they can be read; the rest is taken so that nobody waits for a reader.
        let _ = messages.by_ref().take(MAX_MESSAGES).read_to_end(&mut text);
        let _ = std::io::copy(&mut messages, &mut std::io::sink());
    }
    loop {
        let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(l) = last.as_mut() else { return };
        let ended = l.child.as_mut().map(Child::try_wait);
        match ended {
            Some(Ok(None)) => {}
            Some(Ok(Some(status))) => {
                let text = String::from_utf8_lossy(&text).trim().to_owned();
                let why = if text.is_empty() { format!("the run ended with {status}") } else { text };
                (l.child, l.failure) = (None, (!status.success()).then_some(why));
                return;
            }
            Some(Err(e)) => {
                (l.child, l.failure) = (None, Some(e.to_string()));
                return;
            }
            None => return,
        }
        drop(last);
        thread::sleep(LOOK);
    }
}

/// The next name without a run: no run is replaced.
fn free(scenario: &Path, runs: &Path) -> Result<(String, PathBuf), String> {
    let stem = scenario.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let names = (1..=MOST_RUNS).map(|n| format!("{stem}-studio-{n}"));
    let mut free = names.map(|name| (runs.join(&name), name)).filter(|(path, _)| !path.exists());
    let found = free.next().map(|(path, name)| (name, path));
    found.ok_or_else(|| {
        format!("{}: there are already {MOST_RUNS} runs of {stem}; remove some", runs.display())
    })
}
