//! The conversations of this host's programs, as far as its node knows them: what it sent, and what came. What became of the
//! packets elsewhere is not known here.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, FlowTag, PacketId};
use wayhop_trace::{
    Conversations, Ends, FlowSummary, HopEvent, HopKind, Identity, PacketClass, is_for_neighbours,
};

use crate::numbers::NODE;

/// Packets whose flow is remembered until they end.
const MOST_REMEMBERED: usize = 8_192;

/// All conversations so far.
#[derive(Default)]
pub(crate) struct Talks {
    numbers: Conversations,
    /// By place in `numbers`.
    list: Vec<Talk>,
    tags: FxHashMap<PacketId, FlowTag>,
    order: VecDeque<PacketId>,
}

struct Talk {
    /// Whether its packets begin here; else they end here.
    is_sent: bool,
    /// Octets behind the transport headers of those that came.
    octets: u64,
}

impl Talks {
    /// The row of a packet with its flow, and the class of that.
    pub(crate) fn place(&mut self, e: HopEvent, identity: Option<&Identity>) -> HopEvent {
        let flow = self.flow(&e, identity);
        let class = flow.and_then(|tag| self.numbers.of(tag.flow)).map_or(e.class, |c| c.ends.class());
        HopEvent { flow, class, ..e }
    }

    fn flow(&mut self, e: &HopEvent, identity: Option<&Identity>) -> Option<FlowTag> {
        let begins_or_ends = matches!(e.kind, HopKind::Originate | HopKind::Deliver);
        if e.class != PacketClass::Data || is_for_neighbours(e.destination) {
            return None;
        }
        if let Some(tag) = self.tags.get(&e.packet) {
            return Some(*tag);
        }
        let ends = Ends::new(e.source, e.destination, identity.filter(|_| begins_or_ends)?);
        let tag = self.numbers.sent(ends, i128::from(e.time.as_nanos()))?;
        let place = self.numbers.place(tag.flow)?;
        let is_sent = e.kind == HopKind::Originate;
        if place == self.list.len() {
            self.list.push(Talk { is_sent, octets: 0 });
        }
        self.list[place].octets += identity.map_or(0, |i| u64::from(i.payload));
        self.tags.insert(e.packet, tag);
        self.order.push_back(e.packet);
        if self.order.len() > MOST_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.tags.remove(&oldest);
        }
        Some(tag)
    }

    /// Each in numbers. Where the kernel forwards, this process sees only some of the packets: their counts are not known.
    pub(crate) fn summaries(&self, is_own: impl Fn(Addr) -> bool, kernel_forwards: bool) -> Vec<FlowSummary> {
        let known = |n: u64| Some(n).filter(|_| !kernel_forwards);
        let one = |(id, (c, talk)): (u32, (&wayhop_trace::Conversation, &Talk))| {
            let (count, is_sent) = (u64::from(c.packets), talk.is_sent);
            let here = |is_here: bool| is_here.then_some(NODE);
            let base = c.summary(id, here(is_sent), here(!is_sent));
            let outside =
                |is_here: bool, a: Addr| (is_here && !is_own(a) && !a.is_multicast()).then(|| a.to_string());
            FlowSummary {
                // Packets of others that begin or end here passed a gateway.
                src_address: base.src_address.or_else(|| outside(is_sent, c.ends.source)),
                dst_address: base.dst_address.or_else(|| outside(!is_sent, c.ends.destination)),
                sent: known(count).filter(|_| is_sent),
                received: known(count).filter(|_| !is_sent),
                goodput_bps: c.bits_per_second(talk.octets).filter(|_| !is_sent && !kernel_forwards),
                ..base
            }
        };
        (0..).zip(self.numbers.list().iter().zip(&self.list)).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use wayhop_core::{DropReason, IfaceId, NodeId, Time};
    use wayhop_trace::Messages;

    use super::*;

    fn addr(last: u8) -> Addr {
        Ipv4Addr::new(10, 0, 0, last).into()
    }

    fn row(talks: &mut Talks, kind: HopKind, packet: u64, from: Addr, to: Addr) -> Option<FlowTag> {
        let e = HopEvent {
            time: Time::from_nanos(packet * 1_000_000_000),
            packet: PacketId(packet),
            flow: None,
            node: NodeId(NODE),
            bytes: 84,
            source: from,
            destination: to,
            peer: Addr::UNSPECIFIED,
            iface: IfaceId::ANY,
            signal_dbm: f32::NAN,
            kind,
            class: PacketClass::Data,
            messages: Messages::NONE,
            ttl: 64,
            reason: (kind == HopKind::Drop).then_some(DropReason::NoRoute),
        };
        let identity = Identity { frame: 0, end_to_end: 0, protocol: 17, ports: Some((1, 2)), payload: 50 };
        talks.place(e, Some(&identity)).flow
    }

    #[test]
    fn a_node_knows_what_it_sent_and_what_came_and_nothing_of_what_it_forwards() {
        let mut talks = Talks::default();
        assert_eq!(
            row(&mut talks, HopKind::Originate, 1, addr(1), addr(2)),
            Some(FlowTag { flow: 0, seq: 0 })
        );
        assert_eq!(row(&mut talks, HopKind::Drop, 1, addr(1), addr(2)), Some(FlowTag { flow: 0, seq: 0 }));
        assert_eq!(row(&mut talks, HopKind::Forward, 2, addr(3), addr(2)), None);
        for packet in 3..6 {
            row(&mut talks, HopKind::Deliver, packet, addr(2), addr(1));
        }
        // A gateway's host sends it on.
        let web: Addr = Ipv4Addr::new(192, 0, 2, 7).into();
        row(&mut talks, HopKind::Deliver, 6, addr(3), web);
        let all = talks.summaries(|a| a == addr(1), false);
        let counts: Vec<_> = all.iter().map(|f| (f.sent, f.received, f.src, f.dst)).collect();
        let far = u32::MAX;
        assert_eq!(counts, [(Some(1), None, 0, far), (None, Some(3), far, 0), (None, Some(1), far, 0)]);
        let addresses = |f: &FlowSummary| (f.src_address.clone(), f.dst_address.clone());
        assert_eq!(addresses(&all[0]), (None, Some("10.0.0.2".to_owned())));
        assert_eq!(addresses(&all[2]), (Some("10.0.0.3".to_owned()), Some("192.0.2.7".to_owned())));
        assert_eq!(all[1].goodput_bps, Some(400.0));
        assert!(talks.summaries(|_| true, true).iter().all(|f| f.sent.is_none() && f.received.is_none()));
    }
}
