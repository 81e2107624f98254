//! One step on all hosts, some at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::config::{Fleet, Host};

/// What a step has besides its host.
pub struct Context<'a> {
    /// The fleet.
    pub fleet: &'a Fleet,
    /// Raised when the user breaks off.
    pub stop: &'a AtomicBool,
    /// Who is told how far the hosts are.
    pub progress: &'a dyn Progress,
}

/// Who is told how far the hosts are. Called by several threads.
pub trait Progress: Sync {
    /// A host is at this, of so many octets if it is a matter of octets.
    fn at(&self, host: &Host, what: &str, octets: Option<(u64, u64)>);
    /// A host is done, well or not.
    fn done(&self, host: &Host, well: bool, what: &str);
}

impl Context<'_> {
    /// Whether the user broke off.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Does something with each of these, as many at a time as the fleet says. The results are in the order of the hosts.
pub fn on_all<I: Sync, T: Send>(fleet: &Fleet, items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
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
