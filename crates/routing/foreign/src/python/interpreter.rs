//! An interpreter: a process that hosts the protocol or the application of all nodes of a run.

use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::pipe::{Answer, Broken, Pipe};
use super::source::Source;
use crate::progress::{LIMIT, call_limit};

/// Which interpreter, if not `python3`.
const PYTHON: &str = "WAYHOP_PYTHON";
/// Runs the sources that come by its standard input.
const BOOT: &str = include_str!("../../../../../python/wayhop/boot.py");
/// The package, in the order in which its modules need each other.
const SOURCES: [(&str, &str); 14] = [
    ("wayhop.packet", include_str!("../../../../../python/wayhop/packet.py")),
    ("wayhop.position", include_str!("../../../../../python/wayhop/position.py")),
    ("wayhop.parameters", include_str!("../../../../../python/wayhop/parameters.py")),
    ("wayhop.handler", include_str!("../../../../../python/wayhop/handler.py")),
    ("wayhop.context", include_str!("../../../../../python/wayhop/context.py")),
    ("wayhop.protocol", include_str!("../../../../../python/wayhop/protocol.py")),
    ("wayhop.seam", include_str!("../../../../../python/wayhop/seam.py")),
    ("wayhop.protocol_calls", include_str!("../../../../../python/wayhop/protocol_calls.py")),
    ("wayhop.endpoint", include_str!("../../../../../python/wayhop/endpoint.py")),
    ("wayhop.application_context", include_str!("../../../../../python/wayhop/application_context.py")),
    ("wayhop.application", include_str!("../../../../../python/wayhop/application.py")),
    ("wayhop.application_calls", include_str!("../../../../../python/wayhop/application_calls.py")),
    ("wayhop.host", include_str!("../../../../../python/wayhop/host.py")),
    ("wayhop", include_str!("../../../../../python/wayhop/__init__.py")),
];

/// A running interpreter.
pub(super) struct Interpreter {
    child: Child,
    pub(super) pipe: Pipe,
    /// How long a call may take.
    limit: Option<Duration>,
}

impl Interpreter {
    /// Starts one with a module. Returns the description of its class, too.
    pub(super) fn start(source: &Source) -> Result<(Self, Value), String> {
        let program = std::env::var_os(PYTHON).unwrap_or_else(|| OsString::from("python3"));
        let (ours, theirs) = UnixStream::pair().map_err(|e| format!("no socket for Python ({e})"))?;
        let limit = call_limit();
        let wrong = |e: io::Error| format!("cannot start Python ({e})");
        // The interpreter interrupts a handler a little before; where it cannot, the pipe breaks.
        let pipe = Pipe::new(ours, limit).map_err(wrong)?;
        let messages = io::stderr().as_fd().try_clone_to_owned().map_err(wrong)?;
        let child = Command::new(&program)
            .args(["-u", "-B", "-c", BOOT])
            .env("PYTHONHASHSEED", "0")
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            // What a module prints must not get into the output of a command.
            .stdout(Stdio::from(messages))
            .spawn()
            .map_err(|e| no_python(&program, &e))?;
        let mut interpreter = Self { child, pipe, limit };
        let description = interpreter.load(source)?;
        Ok((interpreter, description))
    }

    fn load(&mut self, source: &Source) -> Result<Value, String> {
        let start = json!({
            "sources": SOURCES.map(|(name, source)| [name, source]),
            "path": source.path.to_string_lossy(),
            "kind": source.defines.name(),
            "limit_s": self.limit.map_or(0.0, |l| l.as_secs_f64()),
        });
        let what = match self.pipe.exchange(&mut start.to_string().into_bytes(), None) {
            Ok(Answer::Done(_, body)) => {
                return serde_json::from_slice(body).map_err(|e| format!("Python described it by {e}"));
            }
            Ok(Answer::Failed(told)) => failure(told),
            Err(broken) => self.end(broken),
        };
        Err(format!("it {what}"))
    }

    /// What happened to an interpreter that did not answer: a phrase whose subject is the module.
    pub(super) fn end(&mut self, why: Broken) -> String {
        if !matches!(why, Broken::Ended) {
            let _ = self.child.kill();
        }
        let status = self.child.wait();
        match why {
            Broken::Rubbish(what) => what,
            Broken::Slow => {
                let limit = self.limit.unwrap_or_default().as_secs_f64();
                format!(
                    "did not return within {limit} s, and could not be interrupted; {LIMIT} sets another limit, 0 for none"
                )
            }
            Broken::Ended => {
                let status = status.map_or_else(|e| e.to_string(), |s| s.to_string());
                format!("ended the Python process ({status})")
            }
        }
    }
}

impl Drop for Interpreter {
    fn drop(&mut self) {
        // It ends with its standard input; one that hangs is stopped.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Shows the traceback of an exception, and puts it into a phrase whose subject is the module.
pub(super) fn failure(told: &[u8]) -> String {
    let told: Value = serde_json::from_slice(told).unwrap_or_default();
    let text = |key: &str| told[key].as_str().unwrap_or_default();
    // It may quote octets of a packet: a terminal must not obey them.
    let shown = text("traceback").replace(|c: char| c.is_control() && c != '\n', "\u{fffd}");
    let _ = write!(io::stderr(), "{shown}");
    if text("traceback").is_empty() && text("place").is_empty() {
        return text("what").to_owned();
    }
    format!("raised {}{}", text("what"), text("place"))
}

fn no_python(program: &OsStr, e: &io::Error) -> String {
    let program = program.display();
    if e.kind() == ErrorKind::NotFound {
        return format!(
            "it needs Python 3.9 or later, and {program} is not installed; install it (Debian and Ubuntu: apt-get install \
             python3; Fedora: dnf install python3), or set {PYTHON} to an interpreter"
        );
    }
    format!("cannot start {program} ({e}); set {PYTHON} to a Python interpreter")
}
