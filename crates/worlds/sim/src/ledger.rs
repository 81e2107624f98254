//! The fate of every packet: delivered, dropped with a reason, or held.

use wayhop_core::{DropReason, FlowTag};
use wayhop_protocols::CLASSIFIER;
use wayhop_trace::{
    Lengths, MessageCounts, Outcome as Packet, OverheadFrames, PacketClass, PacketOutcome, Transmissions,
};

use crate::classify::PacketFacts;

/// The outcome of one data packet, in an octet: unknown, on its way, delivered, or last dropped for this reason. A bit says
/// that its flow does not count it: an acknowledgement of TCP.
#[derive(Copy, Clone, PartialEq, Eq)]
struct OutcomeOctet(u8);

impl OutcomeOctet {
    /// On a real clock: it left for the host's network stack, and has not come back.
    const IN_HOST: Self = Self(0);
    const UNDER_WAY: Self = Self(1);
    const DELIVERED: Self = Self(2);
    const UNCOUNTED: u8 = 0x80;

    const fn dropped(r: DropReason) -> Self {
        Self(3 + r as u8)
    }
    const fn state(self) -> Self {
        Self(self.0 & !Self::UNCOUNTED)
    }
    const fn is_counted(self) -> bool {
        self.0 & Self::UNCOUNTED == 0
    }
    /// Changes all but whether it is counted.
    const fn turn(&mut self, to: Self) {
        self.0 = to.0 | self.0 & Self::UNCOUNTED;
    }
    fn reason(self) -> Option<DropReason> {
        self.state().0.checked_sub(3).map(|i| DropReason::ALL[i as usize])
    }
}

/// The packets of one flow.
#[derive(Clone, Default)]
struct Book {
    /// By the packet's number.
    outcomes: Vec<OutcomeOctet>,
    /// Of a flow to several nodes: how many of them each packet reached, by its number.
    reached: Vec<u32>,
}

/// Counts of a run.
#[derive(Default)]
pub(crate) struct Ledger {
    /// By flow.
    books: Vec<Book>,
    pub(crate) routing_packets: u64,
    pub(crate) routing_bytes: u64,
    pub(crate) routing_header_bytes: u64,
    /// Data packets.
    pub(crate) transmissions: Transmissions,
    /// Frames with routing packets and of address resolution; those of the MAC itself are with the radios.
    pub(crate) frames: OverheadFrames,
    /// Routing messages on the air.
    pub(crate) messages: MessageCounts,
}

/// How the data packets of a run ended. A packet for several nodes is one for each of them. A connection's packets without
/// data, which its flow does not count, are in none of the counts, but are not lost track of either.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PacketEndings {
    /// Reached their destination at least once.
    pub delivered: u64,
    /// Still in a buffer, a queue, on the air, or in a host when the run ended.
    pub held: u64,
    /// By reason, in the order of [`DropReason::ALL`].
    pub dropped: [u64; DropReason::ALL.len()],
    /// The same by flow.
    pub flows: Vec<FlowEnds>,
    /// Packets that are in none of these: a defect.
    pub lost_track_of: Vec<FlowTag>,
}

/// How the packets of a flow ended.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct FlowEnds {
    /// All that entered the network.
    pub sent: u64,
    /// Reached their destination at least once.
    pub delivered: u64,
    /// Ended on the way.
    pub dropped: u64,
    /// Neither.
    pub held: u64,
}

/// What closing the books of a flow takes.
#[derive(Copy, Clone)]
pub(crate) struct FlowFacts {
    /// The nodes that each of its packets is for.
    pub(crate) receivers: u64,
    /// The radio does not report its losses, so that a packet that nobody holds was lost on the air.
    pub(crate) lossy_air: bool,
    /// Packets go through hosts on their way, which may have them.
    pub(crate) in_hosts: bool,
}

impl Ledger {
    pub(crate) fn new(flows: usize) -> Self {
        Self { books: vec![Book::default(); flows], ..Self::default() }
    }

    /// An application made a packet; `counted` by its flow, or not.
    pub(crate) fn originated(&mut self, tag: FlowTag, counted: bool) {
        // Flows of programs come while the run goes on.
        self.books.resize(self.books.len().max(tag.flow as usize + 1), Book::default());
        let outcomes = &mut self.books[tag.flow as usize].outcomes;
        outcomes.resize(outcomes.len().max(tag.seq as usize + 1), OutcomeOctet::IN_HOST);
        let outcome = &mut outcomes[tag.seq as usize];
        // A ping's answer has its request's number.
        if outcome.state() == OutcomeOctet::IN_HOST {
            *outcome = OutcomeOctet::UNDER_WAY;
            outcome.0 |= if counted { 0 } else { OutcomeOctet::UNCOUNTED };
        }
    }
    /// Whether it has arrived before.
    pub(crate) fn has_arrived(&self, tag: FlowTag) -> bool {
        let outcome = self.books.get(tag.flow as usize).and_then(|b| b.outcomes.get(tag.seq as usize));
        outcome.is_some_and(|o| o.state() == OutcomeOctet::DELIVERED)
    }
    /// It arrived; `one_of_many`: at one of several nodes that it is for.
    pub(crate) fn delivered(&mut self, tag: FlowTag, one_of_many: bool) {
        let book = &mut self.books[tag.flow as usize];
        book.outcomes[tag.seq as usize].turn(OutcomeOctet::DELIVERED);
        if one_of_many {
            book.reached.resize(book.outcomes.len(), 0);
            book.reached[tag.seq as usize] += 1;
        }
    }
    /// A copy of it ended. The last drop tells the reason, unless another copy arrives or has arrived.
    pub(crate) fn dropped(&mut self, tag: FlowTag, why: DropReason) {
        let outcome = &mut self.books[tag.flow as usize].outcomes[tag.seq as usize];
        if outcome.state() != OutcomeOctet::DELIVERED {
            outcome.turn(OutcomeOctet::dropped(why));
        }
    }
    /// A packet was handed to the interface queue, by its source or by a node that forwards it.
    pub(crate) fn queued(&mut self, control: Option<PacketClass>, packet: &[u8]) {
        let bytes = packet.len() as u64;
        match control {
            None => {}
            Some(PacketClass::Arp) => return,
            Some(_) => {
                self.routing_packets += 1;
                self.routing_bytes += bytes;
                return;
            }
        }
        let Some(lengths) = Lengths::of(packet, CLASSIFIER) else { return };
        let payload = u64::from(lengths.payload);
        self.routing_header_bytes += u64::from(lengths.routing_header);
        self.transmissions.packets += 1;
        self.transmissions.payload_bytes += payload;
        self.transmissions.header_bytes += bytes - payload;
    }
    /// An IP packet was put on the air; `retry` if it had been before.
    pub(crate) fn on_air(&mut self, facts: &PacketFacts, retry: bool) {
        if !retry {
            self.messages.add(facts.messages);
        }
        match facts.control {
            None => {}
            Some(PacketClass::Arp) => self.frames.resolution += 1,
            Some(_) => self.frames.routing += 1,
        }
    }

    /// Closes the books. `held` are the packets found in buffers and queues; what became of each is told.
    pub(crate) fn close(
        &self,
        held: impl Iterator<Item = FlowTag>,
        facts: impl Fn(u32) -> FlowFacts,
        mut tell: impl FnMut(PacketOutcome),
    ) -> PacketEndings {
        let mut is_held: Vec<Vec<bool>> = self.books.iter().map(|b| vec![false; b.outcomes.len()]).collect();
        held.for_each(|t| is_held[t.flow as usize][t.seq as usize] = true);
        let mut ends = PacketEndings {
            delivered: 0,
            held: 0,
            dropped: [0; DropReason::ALL.len()],
            flows: Vec::with_capacity(self.books.len()),
            lost_track_of: Vec::new(),
        };
        for (flow, book) in self.books.iter().enumerate() {
            let facts = facts(flow as u32);
            let mut own = FlowEnds::default();
            for (seq, outcome) in book.outcomes.iter().enumerate() {
                let packet = FlowTag { flow: flow as u32, seq: seq as u32 };
                let all = if outcome.is_counted() { facts.receivers } else { 0 };
                own.sent += all;
                let arrived = if outcome.state() == OutcomeOctet::DELIVERED {
                    book.reached.get(seq).map_or(all, |n| u64::from(*n).min(all))
                } else {
                    0
                };
                own.delivered += arrived;
                let rest = all - arrived;
                let mut tell = |outcome, nodes: u64| {
                    if nodes > 0 {
                        tell(PacketOutcome { packet, outcome, nodes: nodes as u32 });
                    }
                };
                tell(Packet::Delivered, arrived);
                if outcome.state() == OutcomeOctet::DELIVERED && rest == 0 {
                    continue;
                }
                if is_held[flow][seq] || outcome.state() == OutcomeOctet::IN_HOST {
                    own.held += rest;
                    tell(Packet::Held, rest);
                } else if let Some(why) =
                    outcome.reason().or_else(|| facts.lossy_air.then_some(DropReason::LostOnAir))
                {
                    ends.dropped[why as usize] += rest;
                    own.dropped += rest;
                    tell(Packet::Dropped(why), rest);
                } else if facts.in_hosts {
                    own.held += rest;
                    tell(Packet::Held, rest);
                } else {
                    ends.lost_track_of.push(packet);
                }
            }
            ends.delivered += own.delivered;
            ends.held += own.held;
            ends.flows.push(own);
        }
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_packet_ends_once() {
        let tag = |seq| FlowTag { flow: 0, seq };
        let mut l = Ledger::new(1);
        (0..5).for_each(|s| l.originated(tag(s), true));
        l.delivered(tag(0), false);
        l.dropped(tag(0), DropReason::MacRetries);
        l.dropped(tag(1), DropReason::MacRetries);
        l.dropped(tag(1), DropReason::NoRoute);
        l.dropped(tag(2), DropReason::NoRoute);
        l.delivered(tag(2), false);
        let facts = |lossy_air| move |_| FlowFacts { receivers: 1, lossy_air, in_hosts: false };
        let ends = l.close([tag(3)].into_iter(), facts(false), |_| ());
        assert_eq!((ends.delivered, ends.held), (2, 1));
        assert_eq!(ends.dropped[DropReason::NoRoute as usize], 1);
        assert_eq!(ends.lost_track_of, [tag(4)]);
        let lossy = l.close([tag(3)].into_iter(), facts(true), |_| ());
        assert_eq!(lossy.dropped[DropReason::LostOnAir as usize], 1);
    }
}
