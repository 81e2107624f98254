//! Shell scripts for the hosts. They are sent to `sh -s` on standard input, so that no argument passes two shells, and start with
//! assignments of [`quote`]d words. They need a POSIX shell and tools that both Debian and BusyBox have.

use std::fmt::Write as _;

use crate::answer::{self, Facts};
use crate::config::Host;
use crate::error::{Trouble, harmless};
use crate::pool::Context;
use crate::quote::quote;
use crate::session::Session;

/// `say` prints a fact for [`answer::parse`].
const HEAD: &str = r#"set -u
export LC_ALL=C
say() { printf 'wayhop-fleet:%s %s\n' "$1" "$2"; }
"#;
/// The longest output of a script, bytes.
const MOST: usize = 64 * 1024;

/// Waits until the clock shows `at`, nanoseconds since 1970.
pub(crate) const WAIT: &str = r#"now=$(date +%s%N)
case $now in *[!0-9]*) now=$(date +%s)000000000 ;; esac
left=$((at - now))
if [ "$left" -gt 0 ]; then
    sleep "$((left / 1000000000)).$(printf %09d "$((left % 1000000000))")"
fi
"#;

pub(crate) struct Script {
    text: String,
}

impl Script {
    /// A script with the host's folder as `dir`, its command as `wayhop`, and `root` as a prefix for commands that need root.
    pub(crate) fn new(host: &Host) -> Self {
        let mut script = Self { text: HEAD.to_owned() };
        script.var("dir", &host.directory);
        script.var("wayhop", &host.program());
        // Relative folders are relative to the home directory.
        script.text += "cd || exit 1\ncase $dir in /*) ;; *) dir=$PWD/$dir ;; esac\n";
        script.text += "case $wayhop in /*) ;; */*) wayhop=$PWD/$wayhop ;; esac\n";
        script.text += if host.sudo { "root() { sudo -n -- \"$@\"; }\n" } else { "root() { \"$@\"; }\n" };
        script
    }

    /// Adds a variable. The name is our own.
    pub(crate) fn var(&mut self, name: &str, value: &str) -> &mut Self {
        let _ = writeln!(self.text, "{name}={}", quote(value));
        self
    }

    pub(crate) fn then(&mut self, text: &str) -> &mut Self {
        self.text += text;
        self
    }

    /// Runs the script on a host, and reads the lines `KEY VALUE` that it prints.
    pub(crate) fn ask(&self, cx: &Context<'_>, host: &Host) -> Result<Facts, Trouble> {
        let said = self.run(cx, host, MOST)?;
        Ok(answer::parse(&String::from_utf8_lossy(&said)))
    }

    /// Runs the script on a host, and returns its output up to this length.
    pub(crate) fn run(&self, cx: &Context<'_>, host: &Host, most: usize) -> Result<Vec<u8>, Trouble> {
        let mut session = self.begin(cx, host)?;
        let said = session.rest(most)?;
        finish(session)?;
        Ok(said)
    }

    pub(crate) fn begin<'a>(&self, cx: &Context<'a>, host: &Host) -> Result<Session<'a>, Trouble> {
        let mut session = cx.ssh(host, &[], &["sh -s"])?;
        session.say_all(std::io::Cursor::new(self.text.clone().into_bytes()));
        Ok(session)
    }
}

/// Waits for a script to exit, which must succeed.
pub(crate) fn finish(mut session: Session<'_>) -> Result<(), Trouble> {
    match session.end()? {
        Some(0) => Ok(()),
        status => {
            let said = harmless(&session.complaints());
            let status = status.map_or_else(|| "by a signal".to_owned(), |s| format!("with status {s}"));
            let why = if said.is_empty() { String::new() } else { format!(": {said}") };
            Err(Trouble::wrong(format!("a script there failed {status}{why}"), "follow the message"))
        }
    }
}
