//! What waits between programs and the agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::UnboundedSender;

/// Octets of all programs on their way in.
const MAX_INCOMING: usize = 256 << 20;

/// What is to be written to a program, with the permit of the request that it answers.
pub(crate) type Item = (Vec<u8>, Option<OwnedSemaphorePermit>);
/// Where that goes.
pub(crate) type Outbox = UnboundedSender<Item>;

/// Octets that count as on their way in, until this goes.
pub(crate) struct Reservation {
    all: Arc<AtomicUsize>,
    octets: usize,
}

impl Reservation {
    pub(crate) fn new(all: &Arc<AtomicUsize>) -> Self {
        Self { all: Arc::clone(all), octets: 0 }
    }

    /// They are so many now. False if that is too much with those of all others.
    pub(crate) fn set(&mut self, octets: usize) -> bool {
        self.all.fetch_add(octets, Ordering::Relaxed);
        let all = self.all.fetch_sub(self.octets, Ordering::Relaxed) - self.octets;
        self.octets = octets;
        all <= MAX_INCOMING
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        self.all.fetch_sub(self.octets, Ordering::Relaxed);
    }
}
