//! Rows of the record that wait for those before them, in a run with several threads.
//!
//! There, events that cannot depend on each other are handled out of order (`threads`). Their rows wait until no row before them is
//! missing, and each packet gets the number in the record that it has in a run with one thread.

use rustc_hash::FxHashMap;
use wayhop_core::{DropReason, FlowTag, PacketId};
use wayhop_trace::{HopEvent, NoteEvent, Recorder, SendEvent};

use crate::ledger::Ledger;

/// Something that is written down in the order of events.
pub(crate) enum Row {
    /// Packets were made: the number of the first one, and how many. They may get other numbers in the record.
    Made(u64, u64),
    Hop(HopEvent),
    Note(NoteEvent),
    Sent(SendEvent),
    /// A copy of a data packet ended.
    Dropped(FlowTag, DropReason),
}

/// Rows that wait before those that can be are written.
const MANY_ROWS: usize = 256;

#[derive(Default)]
pub(crate) struct RowOrder {
    /// With the keys of their events in the queue.
    waiting: Vec<(u128, Row)>,
    /// Rows that could not be written last time.
    left: usize,
    /// The key of the event that is handled now.
    event: u128,
    /// Packets with lower numbers are known to `waiting`.
    known: u64,
    numbers: Numbers,
}

/// The numbers of packets in the record.
#[derive(Default)]
struct Numbers {
    next: u64,
    /// Of packets that had another number when they were made: those that tasks made, and those that were made elsewhere in the
    /// meantime. They stay to the end of the run: nobody knows when the last copy of a packet is gone.
    changed: FxHashMap<u64, u64>,
}

impl Numbers {
    fn of(&self, packet: PacketId) -> PacketId {
        if self.changed.is_empty() {
            return packet;
        }
        PacketId(self.changed.get(&packet.0).copied().unwrap_or(packet.0))
    }

    fn made(&mut self, first: u64, number: u64) {
        for id in first..first + number {
            if id != self.next {
                self.changed.insert(id, self.next);
            }
            self.next += 1;
        }
    }
}

impl RowOrder {
    /// What follows belongs to the event with this key.
    pub(crate) fn begin(&mut self, event: u128) {
        self.event = event;
    }

    /// Keeps a row of the event at hand. `next_id` is the number of the next packet.
    pub(crate) fn push(&mut self, row: Row, next_id: u64) {
        self.note_made(next_id);
        self.waiting.push((self.event, row));
    }

    /// Packets up to `next_id` were made in the event at hand.
    pub(crate) fn note_made(&mut self, next_id: u64) {
        if next_id > self.known {
            self.waiting.push((self.event, Row::Made(self.known, next_id - self.known)));
            self.known = next_id;
        }
    }

    /// A task made this number of packets, whose numbers begin with `first`. Counts them in `next_id`.
    pub(crate) fn note_made_by_task(&mut self, first: u64, number: u64, next_id: &mut u64) {
        self.note_made(*next_id);
        if number > 0 {
            self.waiting.push((self.event, Row::Made(first, number)));
            *next_id += number;
            self.known = *next_id;
        }
    }

    /// Whether it is time to write the rows that can be written.
    pub(crate) fn is_due(&self) -> bool {
        self.waiting.len() >= MANY_ROWS.max(2 * self.left)
    }

    /// Writes down the rows of all events before the one with this key. There must be no further ones before it.
    pub(crate) fn write_before(&mut self, end: u128, recorder: &mut Recorder, ledger: &mut Ledger) {
        // Rows of one event stay in their order.
        self.waiting.sort_by_key(|(event, _)| *event);
        let ready = self.waiting.partition_point(|(event, _)| *event < end);
        let numbers = &mut self.numbers;
        for (_, row) in self.waiting.drain(..ready) {
            match row {
                Row::Made(first, number) => numbers.made(first, number),
                Row::Hop(row) => recorder.hop(&HopEvent { packet: numbers.of(row.packet), ..row }),
                Row::Note(row) => recorder.note(&row),
                Row::Sent(mut row) => {
                    row.state.packet = numbers.of(row.state.packet);
                    recorder.sent(&row);
                }
                Row::Dropped(tag, why) => ledger.dropped(tag, why),
            }
        }
        self.left = self.waiting.len();
    }
}
