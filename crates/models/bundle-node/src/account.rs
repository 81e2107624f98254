//! What each contact carried.

use wayhop_core::Time;
use wayhop_dtn::Eid;

use crate::record::ContactRow;

/// A contact that goes on.
#[derive(Clone, Debug)]
pub(crate) struct Account {
    row: ContactRow,
}

impl Account {
    pub(crate) fn new(now: Time, peer: Eid) -> Self {
        Self {
            row: ContactRow {
                from: now,
                until: now,
                peer,
                sent: 0,
                sent_bytes: 0,
                received: 0,
                received_bytes: 0,
            },
        }
    }

    /// A bundle went whole to the other end.
    pub(crate) fn sent(&mut self, octets: u64) {
        self.row.sent += 1;
        self.row.sent_bytes += octets;
    }

    /// One came whole from there.
    pub(crate) fn received(&mut self, octets: u64) {
        self.row.received += 1;
        self.row.received_bytes += octets;
    }

    pub(crate) fn close(mut self, now: Time) -> ContactRow {
        self.row.until = now;
        self.row
    }
}
