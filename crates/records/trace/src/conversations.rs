//! Conversations of programs as flows: one for each direction between the same addresses and ports, by the same IP protocol.

use std::net::Ipv4Addr;

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, FlowTag};

use crate::{FlowSummary, Identity, PacketClass};

/// Conversations that a run tells apart. A port scan has more: packets of those beyond are in no flow, and are counted.
pub(crate) const MOST_CONVERSATIONS: usize = 100_000;

/// The ends of one direction of a conversation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConversationEnds {
    /// IP source.
    pub source: Addr,
    /// IP destination.
    pub destination: Addr,
    /// Number of the IP protocol.
    pub protocol: u8,
    /// Ports of TCP and UDP; the identifier of an ICMP echo in both.
    pub ports: Option<(u16, u16)>,
}

impl ConversationEnds {
    /// Those of a packet with these addresses.
    pub const fn new(source: Addr, destination: Addr, packet: &Identity) -> Self {
        Self { source, destination, protocol: packet.protocol, ports: packet.ports }
    }

    /// What its packets are called in tables.
    pub const fn class(&self) -> PacketClass {
        match self.protocol {
            6 => PacketClass::Tcp,
            _ => PacketClass::Data,
        }
    }

    /// What it is called in summaries.
    pub fn kind(&self) -> String {
        match self.protocol {
            1 | 58 => "icmp".to_owned(),
            6 => "tcp".to_owned(),
            17 => "udp".to_owned(),
            other => format!("ip-{other}"),
        }
    }
}

/// Whether packets for this address are for all nodes of a mesh: a multicast group of more than one link (RFC 5771, section 4;
/// RFC 4291, section 2.7).
pub fn is_for_all(a: Addr) -> bool {
    if let Some(v4) = a.v4() {
        let [o, p, q, _] = v4.octets();
        return v4.is_multicast() && [o, p, q] != [224, 0, 0];
    }
    a.v6().is_some_and(|v6| v6.is_multicast() && v6.segments()[0] & 0xf > 2)
}

/// Whether packets for this address stay on the link, and so are in no flow of a mesh: broadcasts, and groups of one link.
pub fn is_for_neighbours(a: Addr) -> bool {
    a.v4() == Some(Ipv4Addr::BROADCAST) || a.is_multicast() && !is_for_all(a)
}

/// One direction of a conversation, so far.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Conversation<T = ()> {
    /// Who talks to whom.
    pub ends: ConversationEnds,
    /// Packets.
    pub packets: u32,
    /// When the first one was sent, nanoseconds.
    pub first_ns: i128,
    /// When the last one was sent, nanoseconds.
    pub last_ns: i128,
    /// When one arrived last, nanoseconds; `None` if none did, or nobody saw it.
    pub arrived_ns: Option<i128>,
    /// What the world knows of it besides.
    pub more: T,
}

impl<T> Conversation<T> {
    /// A packet arrived.
    pub fn arrives(&mut self, at_ns: i128) {
        self.arrived_ns = self.arrived_ns.max(Some(at_ns));
    }

    /// Until when it was active, nanoseconds: one mean interval after its last packet, or when one arrived last if that is later. Packets
    /// that were sent in one moment take their time on the air.
    fn active_until_ns(&self) -> i128 {
        let gaps = i128::from(self.packets).max(2) - 1;
        let sent_ns = self.last_ns + (self.last_ns - self.first_ns) / gaps;
        sent_ns.max(self.arrived_ns.unwrap_or(sent_ns))
    }

    /// How long it was active, seconds, from its first packet on; `None` of a single packet.
    pub fn active_s(&self) -> Option<f64> {
        let span_ns = self.active_until_ns() - self.first_ns;
        (self.packets > 1 && span_ns > 0).then(|| span_ns as f64 / 1e9)
    }

    /// The rate of this number of bytes over the time that it was active, bits per second.
    pub fn bits_per_second(&self, bytes: u64) -> Option<f64> {
        self.active_s().map(|s| bytes as f64 * 8.0 / s)
    }

    /// A flow's summary with what identifies the conversation. `from` and `to` are its ends in the mesh, where there are such.
    pub fn summary(&self, id: u32, from: Option<u32>, to: Option<u32>) -> FlowSummary {
        let ConversationEnds { source, destination, protocol, ports } = self.ends;
        let is_node = |to: Option<u32>, at: Addr| to.is_some() || is_for_all(at);
        FlowSummary {
            id,
            kind: self.ends.kind(),
            src: from.unwrap_or(u32::MAX),
            dst: to.unwrap_or(u32::MAX),
            protocol: Some(protocol),
            src_port: ports.map(|p| p.0),
            dst_port: ports.map(|p| p.1),
            src_address: from.is_none().then(|| source.to_string()),
            dst_address: (!is_node(to, destination)).then(|| destination.to_string()),
            active_ns: Some((self.first_ns, self.active_until_ns())),
            ..FlowSummary::default()
        }
    }
}

/// Numbers conversations, and the packets of each, as they appear.
#[derive(Debug, Default)]
pub struct Conversations<T = ()> {
    known: FxHashMap<ConversationEnds, u32>,
    list: Vec<Conversation<T>>,
    /// The number of the first.
    first: u32,
    /// How many [`Conversations::take_new`] has returned.
    taken: usize,
}

impl<T> Conversations<T> {
    /// Such that the first conversation has this number: behind a scenario's own flows.
    pub fn behind(flows: u32) -> Self {
        Self { known: FxHashMap::default(), list: Vec::new(), first: flows, taken: 0 }
    }

    /// The flow of a packet that was sent now, and its number in the flow; `more` is of a conversation that begins with it. `None` if
    /// there are too many conversations for a new one.
    pub fn sent(&mut self, ends: ConversationEnds, at_ns: i128, more: impl FnOnce() -> T) -> Option<FlowTag> {
        let next = self.list.len();
        if next >= MOST_CONVERSATIONS && !self.known.contains_key(&ends) {
            return None;
        }
        let place = *self.known.entry(ends).or_insert(next as u32) as usize;
        if place == next {
            self.list.push(Conversation {
                ends,
                packets: 0,
                first_ns: at_ns,
                last_ns: at_ns,
                arrived_ns: None,
                more: more(),
            });
        }
        let of = &mut self.list[place];
        let seq = of.packets;
        of.packets = seq.checked_add(1)?;
        of.last_ns = at_ns;
        Some(FlowTag { flow: self.first + place as u32, seq })
    }

    /// All of them with their numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &Conversation<T>)> {
        (self.first..).zip(&self.list)
    }

    /// Those that have begun since the last call.
    pub fn take_new(&mut self) -> impl Iterator<Item = (u32, &Conversation<T>)> {
        let from = std::mem::replace(&mut self.taken, self.list.len());
        (self.first + from as u32..).zip(&self.list[from..])
    }

    /// The conversation that a flow is; `None` of a scenario's flow.
    pub fn of(&self, flow: u32) -> Option<&Conversation<T>> {
        self.list.get(flow.checked_sub(self.first)? as usize)
    }

    /// As [`Conversations::of`].
    pub fn of_mut(&mut self, flow: u32) -> Option<&mut Conversation<T>> {
        self.list.get_mut(flow.checked_sub(self.first)? as usize)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use proptest::prelude::*;

    use super::*;

    fn ends(from: u8, to: u8, protocol: u8, ports: Option<(u16, u16)>) -> ConversationEnds {
        let a = |n| Addr::from(Ipv4Addr::new(10, 0, 0, n));
        ConversationEnds { source: a(from), destination: a(to), protocol, ports }
    }

    fn one(ends: ConversationEnds, times: &[i128]) -> Conversation {
        let mut all = Conversations::default();
        for at in times {
            all.sent(ends, *at, || ());
        }
        all.list[0]
    }

    #[test]
    fn each_direction_counts_its_own_packets_and_flows_of_a_scenario_come_first() {
        let mut all = Conversations::<()>::behind(3);
        let (there, back) = (ends(1, 2, 6, Some((5_000, 80))), ends(2, 1, 6, Some((80, 5_000))));
        let tags = [(there, 0), (back, 10), (there, 20)].map(|(e, at)| all.sent(e, at, || ()).expect("room"));
        assert_eq!(tags.map(|t| (t.flow, t.seq)), [(3, 0), (4, 0), (3, 1)]);
        assert_eq!(all.of(4).expect("the answers").ends, back);
        assert!(all.of(2).is_none() && all.of(5).is_none());
        assert_eq!(all.take_new().map(|(id, c)| (id, c.packets)).collect::<Vec<_>>(), [(3, 2), (4, 1)]);
        all.sent(ends(1, 3, 6, None), 30, || ());
        assert_eq!(all.take_new().map(|(id, _)| id).collect::<Vec<_>>(), [5]);
        let s = all.list[0].summary(3, Some(0), Some(1));
        let about = (s.kind.as_str(), s.protocol, s.src_port, s.dst_port, s.src_address, s.dst_address);
        assert_eq!(about, ("tcp", Some(6), Some(5_000), Some(80), None, None));
    }

    #[test]
    fn an_end_that_is_no_node_has_its_address_and_a_group_is_for_all() {
        let of = |to: u8| one(ends(1, to, 17, None), &[0]).summary(0, Some(0), None);
        let group =
            ConversationEnds { destination: Ipv4Addr::new(239, 1, 2, 3).into(), ..ends(1, 0, 17, None) };
        let to_group = one(group, &[0]).summary(0, Some(0), None);
        assert!(to_group.is_to_all() && !of(9).is_to_all());
        assert_eq!((of(9).dst, of(9).dst_address.as_deref()), (u32::MAX, Some("10.0.0.9")));
    }

    #[test]
    fn a_port_scan_does_not_fill_the_memory_and_known_conversations_go_on() {
        let mut all = Conversations::<()>::default();
        let scan = |n: u32| ends(1, (n >> 16) as u8, 6, Some((1, n as u16)));
        let numbered =
            (0..MOST_CONVERSATIONS as u32 + 500).filter(|n| all.sent(scan(*n), 0, || ()).is_some());
        assert_eq!(numbered.count(), MOST_CONVERSATIONS);
        assert_eq!(all.sent(scan(7), 1, || ()), Some(FlowTag { flow: 7, seq: 1 }));
    }

    #[test]
    fn what_stays_on_the_link_is_told_from_what_goes_to_all() {
        let v4 = |a: [u8; 4]| Addr::from(Ipv4Addr::from(a));
        let v6 = |a: &str| Addr::from(a.parse::<Ipv6Addr>().expect("an address"));
        for link in [v4([224, 0, 0, 251]), v4([255; 4]), v6("ff02::16")] {
            assert!(is_for_neighbours(link) && !is_for_all(link), "{link}");
        }
        for all in [v4([239, 192, 0, 1]), v4([224, 0, 1, 1]), v6("ff05::2")] {
            assert!(!is_for_neighbours(all) && is_for_all(all), "{all}");
        }
        assert!(!is_for_neighbours(v4([10, 0, 0, 1])) && !is_for_all(v6("fd00::1")));
    }

    #[test]
    fn the_time_of_a_conversation_ends_one_interval_after_its_last_packet() {
        let of = |times: &[i128]| one(ends(1, 2, 17, None), times).active_s();
        assert_eq!((of(&[5]), of(&[0, 1_000_000_000, 2_000_000_000])), (None, Some(3.0)));
    }

    /// Two packets of 1,000 bytes, which a program sends within a microsecond; a radio of 2 Mb/s takes 8 ms.
    #[test]
    fn a_burst_has_the_rate_at_which_it_arrives() {
        let mut burst = one(ends(1, 2, 17, None), &[0, 1_000]);
        assert_eq!(burst.bits_per_second(2_000), Some(8e9));
        burst.arrives(8_000_000);
        burst.arrives(4_000_000);
        assert_eq!(burst.bits_per_second(2_000), Some(2e6));
        let mut single = one(ends(1, 2, 17, None), &[0]);
        single.arrives(4_000_000);
        assert_eq!(single.bits_per_second(1_000), None);
    }

    proptest! {
        /// Counting by a sorted map of vectors, as simply as it can be.
        #[test]
        fn packets_are_numbered_as_a_plain_count_numbers_them(
            sent in proptest::collection::vec((0_u8..4, 0_u8..4, 0_u8..3, 0_u16..3), 0..200),
        ) {
            let mut all = Conversations::<()>::behind(2);
            let mut order: Vec<(ConversationEnds, u32)> = Vec::new();
            for (at, (from, to, protocol, port)) in sent.into_iter().enumerate() {
                let e = ends(from, to, protocol, (port > 0).then_some((port, 9)));
                let tag = all.sent(e, at as i128, || ()).expect("room");
                let place = order.iter().position(|(known, _)| *known == e).unwrap_or_else(|| {
                    order.push((e, 0));
                    order.len() - 1
                });
                prop_assert_eq!((tag.flow, tag.seq), (place as u32 + 2, order[place].1));
                order[place].1 += 1;
            }
            prop_assert_eq!(all.list.len(), order.len());
            for (one, (e, n)) in all.list.iter().zip(order) {
                prop_assert_eq!((one.ends, one.packets), (e, n));
            }
        }
    }
}
