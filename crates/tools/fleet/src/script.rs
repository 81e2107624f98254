//! Shell scripts for the hosts. They come over standard input to `sh -s`, so that no argument passes two shells, and begin with
//! assignments of [`quote`]d words. They want a POSIX shell, and of the usual tools what Debian and BusyBox have.

use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use crate::answer::{self, Facts};
use crate::config::{Fleet, Host};
use crate::error::{Trouble, harmless};
use crate::quote::quote;
use crate::session::Session;

/// What a script may say in all, octets.
const MOST: usize = 64 * 1024;

/// Waits until the clock says `at`, nanoseconds since 1970.
pub(crate) const WAIT: &str = r#"now=$(date +%s%N)
case $now in *[!0-9]*) now=$(date +%s)000000000 ;; esac
left=$((at - now))
if [ "$left" -gt 0 ]; then
    sleep "$((left / 1000000000)).$(printf %09d "$((left % 1000000000))")"
fi
"#;

/// A script with its variables.
pub(crate) struct Script {
    text: String,
}

impl Script {
    /// With the host's folder as `dir`, its command as `wayhop`, and `root` before what needs root.
    pub(crate) fn new(host: &Host) -> Self {
        let mut script = Self { text: "set -u\nexport LC_ALL=C\n".to_owned() };
        script.var("dir", &host.directory);
        script.var("wayhop", &host.program());
        // Relative folders count from the home.
        script.text += "cd || exit 1\ncase $dir in /*) ;; *) dir=$PWD/$dir ;; esac\n";
        script.text += "case $wayhop in /*) ;; */*) wayhop=$PWD/$wayhop ;; esac\n";
        script.text += if host.sudo { "root() { sudo -n -- \"$@\"; }\n" } else { "root() { \"$@\"; }\n" };
        script
    }

    /// A variable. The name is our own.
    pub(crate) fn var(&mut self, name: &str, value: &str) -> &mut Self {
        let _ = writeln!(self.text, "{name}={}", quote(value));
        self
    }

    /// The rest of the script.
    pub(crate) fn then(&mut self, text: &str) -> &mut Self {
        self.text += text;
        self
    }

    /// Runs it at a host, and reads the lines `KEY VALUE` that it says.
    pub(crate) fn ask(&self, fleet: &Fleet, host: &Host, stop: &AtomicBool) -> Result<Facts, Trouble> {
        let said = self.run(fleet, host, stop, MOST)?;
        Ok(answer::parse(&String::from_utf8_lossy(&said)))
    }

    /// Runs it at a host; what it says, of which there may be so much.
    pub(crate) fn run(
        &self,
        fleet: &Fleet,
        host: &Host,
        stop: &AtomicBool,
        most: usize,
    ) -> Result<Vec<u8>, Trouble> {
        let mut session = self.begin(fleet, host, stop)?;
        let said = session.rest(most)?;
        finish(session)?;
        Ok(said)
    }

    /// Starts it at a host.
    pub(crate) fn begin<'a>(
        &self,
        fleet: &Fleet,
        host: &Host,
        stop: &'a AtomicBool,
    ) -> Result<Session<'a>, Trouble> {
        let mut session = Session::start(fleet.ssh(host, &["-T"], &["sh -s"]), stop, fleet.patience)?;
        session.say_all(std::io::Cursor::new(self.text.clone().into_bytes()));
        Ok(session)
    }
}

/// Waits for the end of a script, which must be a good one.
pub(crate) fn finish(mut session: Session<'_>) -> Result<(), Trouble> {
    match session.end()? {
        Some(0) => Ok(()),
        status => {
            let said = harmless(&session.complaints());
            let status = status.map_or_else(|| "by a signal".to_owned(), |s| format!("with status {s}"));
            let why = if said.is_empty() { String::new() } else { format!(": {said}") };
            Err(Trouble::wrong(
                format!("a script there ended {status}{why}"),
                "see what the message asks for",
            ))
        }
    }
}
