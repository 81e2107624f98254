//! Bundles that go (RFC 9174, section 5.2).

use std::collections::VecDeque;

use crate::agent::{TransferEvent, TransferId};
use crate::cl::Event;
use crate::cl::tcpcl::message::{END, Message, START, SegmentHead};

/// Octets of data in a segment at most: what the neighbour acknowledges at a time.
const SEGMENT: u64 = 16_384;

/// Bundles that go, in order.
#[derive(Debug, Default)]
pub(super) struct Outgoing {
    transfers: VecDeque<Transfer>,
    next_id: u64,
}

#[derive(Debug)]
struct Transfer {
    of: TransferId,
    /// Its number in this session, once it has begun.
    id: Option<u64>,
    bundle: Vec<u8>,
    sent: usize,
    acknowledged: u64,
}

impl Transfer {
    fn interrupted(self) -> Event {
        Event::Transfer(TransferEvent::Interrupted { transfer: self.of, acknowledged: self.acknowledged })
    }
}

impl Outgoing {
    pub(super) fn push(&mut self, transfer: TransferId, bundle: Vec<u8>) {
        self.transfers.push_back(Transfer { of: transfer, id: None, bundle, sent: 0, acknowledged: 0 });
    }

    /// The next segment, with its data. `starts`: whether further transfers may begin.
    pub(super) fn segment(&mut self, mru: u64, starts: bool) -> Option<Vec<u8>> {
        let next_id = &mut self.next_id;
        let unsent = |t: &&mut Transfer| t.sent < t.bundle.len() && (starts || t.id.is_some());
        let transfer = self.transfers.iter_mut().find(unsent)?;
        let total = transfer.bundle.len();
        let data = total.min(transfer.sent + SEGMENT.min(mru.max(1)) as usize);
        let mut flags = 0;
        let id = *transfer.id.get_or_insert_with(|| {
            flags |= START;
            *next_id += 1;
            *next_id - 1
        });
        if data == total {
            flags |= END;
        }
        let length = (data - transfer.sent) as u64;
        let head = SegmentHead { flags, id, total: Some(total as u64), unknown_critical: false, length };
        let segment = [&Message::Segment(head).encode()[..], &transfer.bundle[transfer.sent..data]].concat();
        transfer.sent = data;
        Some(segment)
    }

    /// An acknowledgement: the transfer, if it is now complete. `Err` if nothing like it was sent.
    /// Only its length counts: dtn7 leaves out END, which section 5.2.3 requires in the last one.
    pub(super) fn acknowledge(&mut self, id: u64, length: u64) -> Result<Option<TransferId>, ()> {
        let position = self.transfers.iter().position(|t| t.id == Some(id)).ok_or(())?;
        let transfer = &mut self.transfers[position];
        if length > transfer.sent as u64 || length < transfer.acknowledged {
            return Err(());
        }
        transfer.acknowledged = length;
        if length < transfer.bundle.len() as u64 {
            return Ok(None);
        }
        Ok(self.transfers.remove(position).map(|t| t.of))
    }

    /// The neighbour does not want it.
    pub(super) fn refuse(&mut self, id: u64) -> Option<TransferId> {
        let position = self.transfers.iter().position(|t| t.id == Some(id))?;
        self.transfers.remove(position).map(|t| t.of)
    }

    /// Transfers that have not begun do not begin any more.
    pub(super) fn give_up_unbegun(&mut self) -> impl Iterator<Item = Event> {
        let (begun, unbegun) = self.transfers.drain(..).partition(|t| t.id.is_some());
        self.transfers = begun;
        let unbegun: VecDeque<Transfer> = unbegun;
        unbegun.into_iter().map(Transfer::interrupted)
    }

    /// The session is over.
    pub(super) fn give_up(&mut self) -> impl Iterator<Item = Event> {
        self.transfers.drain(..).map(Transfer::interrupted)
    }

    /// Whether nothing is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.transfers.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_is_whole_when_its_last_octet_is_acknowledged_with_or_without_the_flag() {
        let mut outgoing = Outgoing::default();
        outgoing.push(TransferId(7), vec![1; 20_000]);
        assert!(outgoing.segment(u64::MAX, true).is_some());
        assert_eq!(outgoing.acknowledge(0, 16_384), Ok(None));
        assert_eq!(outgoing.acknowledge(0, 20_000), Err(()), "the rest was not sent");
        assert!(outgoing.segment(u64::MAX, true).is_some());
        assert_eq!(outgoing.acknowledge(0, 20_000), Ok(Some(TransferId(7))));
        assert_eq!(outgoing.acknowledge(0, 20_000), Err(()), "it is over");
    }
}
