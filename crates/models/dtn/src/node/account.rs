//! What each contact carried.

use wayhop_core::{ApplicationRow, Time};

use super::record::{ContactRecord, Record};
use crate::Eid;

/// A contact that goes on.
#[derive(Clone, Debug)]
pub(super) struct Account {
    record: ContactRecord,
}

impl Account {
    pub(super) fn new(now: Time, peer: Eid) -> Self {
        Self {
            record: ContactRecord {
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
    pub(super) fn sent(&mut self, octets: u64) {
        self.record.sent += 1;
        self.record.sent_bytes += octets;
    }

    /// One came whole from there.
    pub(super) fn received(&mut self, octets: u64) {
        self.record.received += 1;
        self.record.received_bytes += octets;
    }

    pub(super) fn close(mut self, now: Time) -> ApplicationRow {
        self.record.until = now;
        ApplicationRow::new(Record::Contact(self.record))
    }
}
