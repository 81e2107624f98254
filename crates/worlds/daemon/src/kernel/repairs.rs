//! What was restored, and how often: a node does not fight with another program for ever.

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use nix::libc;
use rustc_hash::FxHashMap;
use wayhop_core::{Span, Time};
use wayhop_linux::{Error, interface};

use crate::log::Log;
use crate::node::host::Host;

/// The most repairs of one thing within [`WITHIN`].
const PATIENCE: usize = 5;
const WITHIN: Span = Span::from_secs(60);

/// Restores what somebody changed, and logs it.
pub(crate) struct HostRepairs {
    times: RepairTimes,
    log: Log,
}

impl HostRepairs {
    pub(crate) fn new(log: &Log) -> Self {
        Self { times: RepairTimes::default(), log: log.clone() }
    }

    /// Logs what changed, and what the node did.
    pub(crate) fn repaired(&mut self, host: &mut Host, what: &str, done: &str) -> Result<(), Error> {
        self.log.warning(format_args!("{what} changed: {done}"));
        let now = host.now();
        host.around.events.host(now, what, done);
        if self.times.note(now, what) {
            return Ok(());
        }
        Err(Error::System(format!(
            "{what} changed {PATIENCE} times within a minute, so the node exits; find the program that \
             changes it (NetworkManager, systemd-networkd, a script) and make it ignore this interface"
        )))
    }

    /// The same, if the repair succeeded. Something removed meanwhile is found at the next check.
    pub(crate) fn tried(
        &mut self,
        host: &mut Host,
        what: &str,
        done: &str,
        outcome: io::Result<()>,
    ) -> Result<(), Error> {
        match outcome {
            Ok(()) => self.repaired(host, what, done),
            Err(e) if matches!(e.raw_os_error(), Some(libc::ENODEV | libc::ENOENT | libc::ENXIO)) => Ok(()),
            Err(e) => {
                Err(Error::System(format!("{what} changed and cannot be restored ({e}), so the node exits")))
            }
        }
    }

    /// Has a setting of an interface keep its value.
    pub(crate) fn keep(
        &mut self,
        host: &mut Host,
        path: &Path,
        (key, name): (&str, &str),
        value: &str,
    ) -> Result<(), Error> {
        let Ok(now) = interface::read(path) else { return Ok(()) };
        if now == value {
            return Ok(());
        }
        let done = format!("restored to {value} (was {now})");
        self.tried(host, &format!("{key} of {name}"), &done, std::fs::write(path, value))
    }
}

/// When each thing was restored.
#[derive(Debug, Default)]
struct RepairTimes(FxHashMap<String, VecDeque<Time>>);

impl RepairTimes {
    /// Something was restored. Returns whether the node should continue.
    fn note(&mut self, now: Time, what: &str) -> bool {
        let times = self.0.entry(what.to_owned()).or_default();
        while times.front().is_some_and(|t| now.since(*t) > WITHIN) {
            times.pop_front();
        }
        times.push_back(now);
        times.len() <= PATIENCE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_again_and_again_within_a_minute_is_given_up() {
        let mut r = RepairTimes::default();
        let at = |s| Time::ZERO + Span::from_secs(s);
        assert!((0..40).all(|i| r.note(at(i * 13), "slow")), "five within 60 s");
        assert!((0..5).all(|i| r.note(at(i), "quick")) && !r.note(at(5), "quick"));
        assert!(r.note(at(5), "another"));
        assert!(r.note(at(66), "quick"), "those are long ago");
    }
}
