//! What came to pass in a search.

use std::sync::atomic::{AtomicU64, Ordering};

/// How often something happened in the transitions of a search: shows that it came to pass at all.
#[derive(Debug, Default)]
pub struct Tally {
    arrivals: AtomicU64,
    failures: AtomicU64,
    reboots: AtomicU64,
}

impl Tally {
    /// Data packets that arrived.
    pub fn arrivals(&self) -> u64 {
        self.arrivals.load(Ordering::Relaxed)
    }
    /// Unicasts that failed in flight.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }
    /// Reboots.
    pub fn reboots(&self) -> u64 {
        self.reboots.load(Ordering::Relaxed)
    }
    /// Adds what happened in a call.
    pub(crate) fn add(&self, other: &Self) {
        self.arrivals.fetch_add(other.arrivals(), Ordering::Relaxed);
        self.failures.fetch_add(other.failures(), Ordering::Relaxed);
        self.reboots.fetch_add(other.reboots(), Ordering::Relaxed);
    }
    pub(crate) fn arrived(&self) {
        self.arrivals.fetch_add(1, Ordering::Relaxed);
    }
    pub(crate) fn failed(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }
    pub(crate) fn rebooted(&self) {
        self.reboots.fetch_add(1, Ordering::Relaxed);
    }
}
