//! UDPCL (RFC 7122, draft-ietf-dtn-udpcl): one bundle a datagram. Larger bundles go as fragments, which the agent makes.

use std::collections::VecDeque;

use wayhop_core::Time;

use crate::agent::{Refusal, TransferEvent, TransferId};
use crate::cl::{Closed, Event, Session};
use crate::eid::Eid;

/// The UDP port of UDPCL.
pub const PORT: u16 = 4_556;

/// One neighbour's UDP address and port. Nothing is acknowledged: [`TransferEvent::Sent`] says that a datagram went.
#[derive(Debug)]
pub struct Udpcl {
    largest: usize,
    queue: VecDeque<(TransferId, Vec<u8>)>,
    events: VecDeque<Event>,
    /// How many bundles came.
    came: u64,
    is_over: bool,
}

impl Udpcl {
    /// The session with a neighbour; `largest`: octets of a datagram's data that reach it (with IPv4, the path's MTU - 28).
    pub fn new(largest: usize) -> Self {
        let events = VecDeque::from([Event::Up { peer: Eid::None, largest: Some(largest) }]);
        Self { largest, queue: VecDeque::new(), events, came: 0, is_over: false }
    }

    fn tell(&mut self, event: TransferEvent) {
        self.events.push_back(Event::Transfer(event));
    }

    fn end(&mut self, reason: Closed) {
        if !std::mem::replace(&mut self.is_over, true) {
            for (transfer, _) in std::mem::take(&mut self.queue) {
                self.tell(TransferEvent::Interrupted { transfer, acknowledged: 0 });
            }
            self.events.push_back(Event::Down(reason));
        }
    }
}

impl Session for Udpcl {
    /// A datagram. What does not begin with an array of CBOR is no bundle of version 7: padding, a keep-alive, DTLS, BPv6.
    fn receive(&mut self, _: Time, octets: &[u8]) {
        if !self.is_over && matches!(octets.first(), Some(0x80..=0x9f)) {
            self.came += 1;
            self.tell(TransferEvent::Received { transfer: TransferId(self.came), bundle: octets.to_vec() });
        }
    }
    fn transmit(&mut self, _: Time, _: usize) -> Option<Vec<u8>> {
        let (transfer, datagram) = self.queue.pop_front()?;
        self.tell(TransferEvent::Sent(transfer));
        Some(datagram)
    }
    fn event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }
    fn send(&mut self, _: Time, transfer: TransferId, bundle: Vec<u8>) {
        if self.is_over {
            self.tell(TransferEvent::Interrupted { transfer, acknowledged: 0 });
        } else if bundle.len() > self.largest {
            self.tell(TransferEvent::Refused(transfer, Refusal::NotAcceptable));
        } else {
            self.queue.push_back((transfer, bundle));
        }
    }
    fn accept(&mut self, _: Time, _: TransferId) {}
    fn refuse(&mut self, _: Time, _: TransferId, _: Refusal) {}
    fn timer(&mut self, _: Time) {}
    fn next_timer(&self) -> Option<Time> {
        None
    }
    fn close(&mut self, _: Time) {
        self.end(Closed::Local);
    }
    fn lost(&mut self, _: Time) {
        self.end(Closed::Lost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bundle_is_a_datagram_and_a_larger_one_is_refused() {
        let mut session = Udpcl::new(4);
        session.event();
        session.send(Time::ZERO, TransferId(1), vec![0x9f, 0xff]);
        session.send(Time::ZERO, TransferId(2), vec![0x9f; 5]);
        assert_eq!(session.transmit(Time::ZERO, 0), Some(vec![0x9f, 0xff]));
        let refused = TransferEvent::Refused(TransferId(2), Refusal::NotAcceptable);
        assert_eq!(session.event(), Some(Event::Transfer(refused)));
        let sent = TransferEvent::Sent(TransferId(1));
        assert_eq!(session.event(), Some(Event::Transfer(sent)));
    }

    #[test]
    fn datagrams_that_are_no_bundles_are_passed_over() {
        let mut session = Udpcl::new(1_400);
        session.event();
        for datagram in [&[][..], &[0; 4], &[0x06, 1], &[0x16, 0xfe]] {
            session.receive(Time::ZERO, datagram);
        }
        assert_eq!(session.event(), None);
    }
}
