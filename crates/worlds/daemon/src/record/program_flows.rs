//! The conversations of this host's programs, as far as its node knows: packets sent and received,
//! without their fate elsewhere.

use wayhop_core::{Addr, FlowTag, PacketId};
use wayhop_trace::{
    Conversation, ConversationEnds, Conversations, FlowSummary, HopEvent, HopKind, Identity, PacketClass,
    Recent, is_for_neighbours,
};

use crate::config::number::NODE;

/// Packets whose flow is remembered until they end.
const MOST_REMEMBERED: usize = 8_192;

/// All conversations so far.
pub(crate) struct ProgramFlows {
    all: Conversations<ConversationFacts>,
    tags: Recent<PacketId, FlowTag>,
    /// The node's addresses.
    own: Vec<Addr>,
    /// This process sees only some of the packets.
    kernel_forwards: bool,
}

struct ConversationFacts {
    /// Whether its packets begin here; else they end here.
    is_sent: bool,
    /// Payload of those that came.
    bytes: u64,
}

impl ProgramFlows {
    pub(crate) fn new(own: Vec<Addr>, kernel_forwards: bool) -> Self {
        Self { all: Conversations::behind(0), tags: Recent::of(MOST_REMEMBERED), own, kernel_forwards }
    }

    /// The row of a packet with its flow, and the class of that.
    pub(crate) fn place(&mut self, e: HopEvent, identity: Option<&Identity>) -> HopEvent {
        let flow = self.flow(&e, identity);
        let class = flow.and_then(|tag| self.all.of(tag.flow)).map_or(e.class, |c| c.ends.class());
        HopEvent { flow, class, ..e }
    }

    fn flow(&mut self, e: &HopEvent, identity: Option<&Identity>) -> Option<FlowTag> {
        let begins_or_ends = matches!(e.kind, HopKind::Originate | HopKind::Deliver);
        if e.class != PacketClass::Data || is_for_neighbours(e.destination) {
            return None;
        }
        if let Some(tag) = self.tags.get(&e.packet) {
            return Some(tag);
        }
        let identity = identity.filter(|_| begins_or_ends)?;
        let ends = ConversationEnds::new(e.source, e.destination, identity);
        let facts = || ConversationFacts { is_sent: e.kind == HopKind::Originate, bytes: 0 };
        let tag = self.all.sent(ends, i128::from(e.time.as_nanos()), facts)?;
        self.all.of_mut(tag.flow)?.more.bytes += u64::from(identity.payload);
        self.tags.put(e.packet, tag);
        Some(tag)
    }

    /// Each in numbers.
    pub(crate) fn summaries(&self) -> Vec<FlowSummary> {
        self.all.iter().map(|(id, c)| summary(id, c, &self.own, self.kernel_forwards)).collect()
    }

    /// Those that have begun since the last call.
    pub(crate) fn take_new(&mut self) -> impl Iterator<Item = FlowSummary> {
        let (own, kernel_forwards) = (&self.own, self.kernel_forwards);
        self.all.take_new().map(move |(id, c)| summary(id, c, own, kernel_forwards))
    }
}

fn summary(id: u32, c: &Conversation<ConversationFacts>, own: &[Addr], kernel_forwards: bool) -> FlowSummary {
    let is_sent = c.more.is_sent;
    let here = |is_here: bool| is_here.then_some(NODE);
    let base = c.summary(id, here(is_sent), here(!is_sent));
    let outside =
        |is_here: bool, a: Addr| (is_here && !own.contains(&a) && !a.is_multicast()).then(|| a.to_string());
    let known = Some(u64::from(c.packets)).filter(|_| !kernel_forwards);
    FlowSummary {
        // Packets of others that begin or end here passed a gateway.
        src_address: base.src_address.or_else(|| outside(is_sent, c.ends.source)),
        dst_address: base.dst_address.or_else(|| outside(!is_sent, c.ends.destination)),
        sent: known.filter(|_| is_sent),
        received: known.filter(|_| !is_sent),
        goodput_bps: c.bits_per_second(c.more.bytes).filter(|_| !is_sent && !kernel_forwards),
        ..base
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

    fn row(flows: &mut ProgramFlows, kind: HopKind, packet: u64, from: Addr, to: Addr) -> Option<FlowTag> {
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
        let ports = Some((1, 2));
        let identity = Identity { frame: 0, end_to_end: 0, protocol: 17, ports, payload: 50, echo: None };
        flows.place(e, Some(&identity)).flow
    }

    #[test]
    fn a_node_knows_what_it_sent_and_what_came_and_nothing_of_what_it_forwards() {
        let mut flows = ProgramFlows::new(vec![addr(1)], false);
        assert_eq!(
            row(&mut flows, HopKind::Originate, 1, addr(1), addr(2)),
            Some(FlowTag { flow: 0, seq: 0 })
        );
        assert_eq!(row(&mut flows, HopKind::Drop, 1, addr(1), addr(2)), Some(FlowTag { flow: 0, seq: 0 }));
        assert_eq!(row(&mut flows, HopKind::Forward, 2, addr(3), addr(2)), None);
        for packet in 3..6 {
            row(&mut flows, HopKind::Deliver, packet, addr(2), addr(1));
        }
        // A gateway's host sends it on.
        let web: Addr = Ipv4Addr::new(192, 0, 2, 7).into();
        row(&mut flows, HopKind::Deliver, 6, addr(3), web);
        let all = flows.summaries();
        let counts: Vec<_> = all.iter().map(|f| (f.sent, f.received, f.src, f.dst)).collect();
        let far = u32::MAX;
        assert_eq!(counts, [(Some(1), None, 0, far), (None, Some(3), far, 0), (None, Some(1), far, 0)]);
        let addresses = |f: &FlowSummary| (f.src_address.clone(), f.dst_address.clone());
        assert_eq!(addresses(&all[0]), (None, Some("10.0.0.2".to_owned())));
        assert_eq!(addresses(&all[2]), (Some("10.0.0.3".to_owned()), Some("192.0.2.7".to_owned())));
        assert_eq!(all[1].goodput_bps, Some(400.0));
        assert_eq!(flows.take_new().count(), 3);
        flows.kernel_forwards = true;
        assert!(flows.summaries().iter().all(|f| f.sent.is_none() && f.received.is_none()));
    }
}
