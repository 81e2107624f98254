//! One step on all hosts, some at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::config::{Fleet, Host};
use crate::error::Trouble;
use crate::session::Session;

/// Context of a step, besides its host.
pub(crate) struct Context<'a> {
    pub(crate) fleet: &'a Fleet,
    /// Set when the user interrupts.
    pub(crate) stop: &'a AtomicBool,
    pub(crate) progress: &'a dyn Progress,
}

/// Receives the progress of the hosts. Called by several threads.
pub trait Progress: Sync {
    /// A host is doing this, with bytes done and in total if it is a transfer.
    fn at(&self, host: &Host, what: &str, octets: Option<(u64, u64)>);
    /// A host is done, successfully or not.
    fn done(&self, host: &Host, well: bool, what: &str);
    /// What the user should know about the whole fleet.
    fn notice(&self, what: &str);
}

impl<'a> Context<'a> {
    /// A running ssh to a host, with these arguments before and after its name.
    pub(crate) fn ssh(&self, host: &Host, before: &[&str], after: &[&str]) -> Result<Session<'a>, Trouble> {
        Session::start(self.fleet.ssh(host, before, after), self.stop, self.fleet.patience)
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Runs a function for each item, `jobs` at a time. The results are in the order of the items.
pub(crate) fn on_all<I: Sync, T: Send>(fleet: &Fleet, items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<T>>> = items.iter().map(|_| Mutex::new(None)).collect();
    thread::scope(|scope| {
        for _ in 0..fleet.jobs.min(items.len()) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    *results[at].lock().unwrap_or_else(PoisonError::into_inner) = Some(work(item));
                }
            });
        }
    });
    results.into_iter().filter_map(|r| r.into_inner().unwrap_or_else(PoisonError::into_inner)).collect()
}
