//! What became of every packet: each ends delivered, dropped with a reason, or held.

use wayhop_core::{DropReason, FlowTag};
use wayhop_trace::{MessageCounts, Messages, PacketClass};

/// The outcome of one data packet, in an octet: on its way, delivered, or last dropped for this reason.
#[derive(Copy, Clone, PartialEq, Eq)]
struct Outcome(u8);

impl Outcome {
    const UNDER_WAY: Self = Self(0);
    const DELIVERED: Self = Self(1);

    const fn dropped(r: DropReason) -> Self {
        Self(2 + r as u8)
    }
    fn reason(self) -> Option<DropReason> {
        self.0.checked_sub(2).map(|i| DropReason::ALL[i as usize])
    }
}

/// Counts of a run.
#[derive(Default)]
pub(crate) struct Ledger {
    /// By flow, then by the packet's number.
    outcomes: Vec<Vec<Outcome>>,
    pub(crate) routing_packets: u64,
    pub(crate) routing_bytes: u64,
    /// Routing messages on the air.
    pub(crate) messages: MessageCounts,
}

/// How the data packets of a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Reached their destination at least once.
    pub delivered: u64,
    /// Still in a buffer, a queue, or on the air when the run ended.
    pub held: u64,
    /// By reason, in the order of [`DropReason::ALL`].
    pub dropped: [u64; DropReason::ALL.len()],
    /// Packets that are in none of these: a defect.
    pub lost_track_of: Vec<FlowTag>,
}

impl Ledger {
    pub(crate) fn new(flows: usize) -> Self {
        Self { outcomes: vec![Vec::new(); flows], ..Self::default() }
    }

    /// An application made a packet.
    pub(crate) fn originated(&mut self, tag: FlowTag) {
        let outcomes = &mut self.outcomes[tag.flow as usize];
        outcomes.resize(outcomes.len().max(tag.seq as usize + 1), Outcome::UNDER_WAY);
    }
    /// It arrived.
    pub(crate) fn delivered(&mut self, tag: FlowTag) {
        self.outcomes[tag.flow as usize][tag.seq as usize] = Outcome::DELIVERED;
    }
    /// A copy of it ended. The last drop tells the reason, unless another copy arrives or has arrived.
    pub(crate) fn dropped(&mut self, tag: FlowTag, why: DropReason) {
        let outcome = &mut self.outcomes[tag.flow as usize][tag.seq as usize];
        if *outcome != Outcome::DELIVERED {
            *outcome = Outcome::dropped(why);
        }
    }
    /// A packet was handed to the interface queue, by its source or by a node that forwards it.
    pub(crate) fn queued(&mut self, class: PacketClass, bytes: usize) {
        if class.is_control() {
            self.routing_packets += 1;
            self.routing_bytes += bytes as u64;
        }
    }
    /// A packet was put on the air for the first time at a node.
    pub(crate) fn on_air(&mut self, messages: Messages) {
        self.messages.add(messages);
    }

    /// Closes the books. `held` are the packets found in buffers and queues; `lossy_air` says of a flow that the radio does
    /// not report its losses, so that a packet that nobody holds was lost on the air.
    pub(crate) fn close(&self, held: impl Iterator<Item = FlowTag>, lossy_air: impl Fn(u32) -> bool) -> Ends {
        let mut is_held: Vec<Vec<bool>> = self.outcomes.iter().map(|f| vec![false; f.len()]).collect();
        held.for_each(|t| is_held[t.flow as usize][t.seq as usize] = true);
        let mut ends =
            Ends { delivered: 0, held: 0, dropped: [0; DropReason::ALL.len()], lost_track_of: Vec::new() };
        for (flow, outcomes) in self.outcomes.iter().enumerate() {
            for (seq, outcome) in outcomes.iter().enumerate() {
                if *outcome == Outcome::DELIVERED {
                    ends.delivered += 1;
                } else if is_held[flow][seq] {
                    ends.held += 1;
                } else if let Some(reason) = outcome.reason() {
                    ends.dropped[reason as usize] += 1;
                } else if lossy_air(flow as u32) {
                    ends.dropped[DropReason::LostOnAir as usize] += 1;
                } else {
                    ends.lost_track_of.push(FlowTag { flow: flow as u32, seq: seq as u32 });
                }
            }
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
        (0..5).for_each(|s| l.originated(tag(s)));
        l.delivered(tag(0));
        l.dropped(tag(0), DropReason::MacRetries);
        l.dropped(tag(1), DropReason::MacRetries);
        l.dropped(tag(1), DropReason::NoRoute);
        l.dropped(tag(2), DropReason::NoRoute);
        l.delivered(tag(2));
        let ends = l.close([tag(3)].into_iter(), |_| false);
        assert_eq!((ends.delivered, ends.held), (2, 1));
        assert_eq!(ends.dropped[DropReason::NoRoute as usize], 1);
        assert_eq!(ends.lost_track_of, [tag(4)]);
        let lossy = l.close([tag(3)].into_iter(), |_| true);
        assert_eq!(lossy.dropped[DropReason::LostOnAir as usize], 1);
    }
}
