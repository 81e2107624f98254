//! Routing messages of others, to be sent again.

use std::collections::VecDeque;

use wayhop_core::{Addr, Time};

/// The most messages that are kept.
const MAX: usize = 1_024;

/// A message that was heard.
#[derive(Clone, Debug)]
pub(crate) struct RecordedMessage {
    /// When it is sent again.
    pub(crate) due: Time,
    pub(crate) packet: Vec<u8>,
    pub(crate) to: Addr,
}

/// What was heard, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tape(VecDeque<RecordedMessage>);

impl Tape {
    /// Keeps a message, unless there are too many. Returns whether it is the only one.
    pub(crate) fn record(&mut self, packet: &[u8], to: Addr, due: Time) -> bool {
        if self.0.len() < MAX {
            self.0.push_back(RecordedMessage { due, packet: packet.to_vec(), to });
        }
        self.0.len() == 1
    }
    /// When the next one is due.
    pub(crate) fn next(&self) -> Option<Time> {
        self.0.front().map(|r| r.due)
    }
    /// The next one that is due.
    pub(crate) fn take_due(&mut self, now: Time) -> Option<RecordedMessage> {
        self.0.front().is_some_and(|r| r.due <= now).then(|| self.0.pop_front()).flatten()
    }
}
