//! Address resolution as ns-2 and BSD do it: one packet a destination is held while its link address is asked for.

use rustc_hash::FxHashMap;
use wayhop_core::Addr;
use wayhop_radio::Outgoing;

/// Packets that may wait for the same address, one pushing out the other, before the link layer gives up on it (ns-2's
/// `ARP_MAX_REQUEST_COUNT`).
const MAX_REQUESTS: u8 = 3;

/// One node's table.
#[derive(Default)]
pub(crate) struct ArpTable {
    entries: FxHashMap<Addr, Entry>,
}

#[derive(Default)]
struct Entry {
    known: bool,
    requests: u8,
    held: Option<Outgoing>,
}

/// What to do with a packet.
pub(crate) enum Resolution {
    /// The link address is known: send it.
    Send(Outgoing),
    /// It is held; ask for the address. Whatever was held before is pushed out.
    Ask { pushed_out: Option<Outgoing> },
    /// Asked often enough: neither this packet nor the one held can be sent.
    GiveUp { held: Option<Outgoing>, packet: Outgoing },
}

impl ArpTable {
    /// A packet is to be sent.
    pub(crate) fn resolve(&mut self, out: Outgoing) -> Resolution {
        let entry = self.entries.entry(out.next_hop).or_default();
        if entry.known {
            return Resolution::Send(out);
        }
        if entry.requests >= MAX_REQUESTS {
            entry.requests = 0;
            return Resolution::GiveUp { held: entry.held.take(), packet: out };
        }
        entry.requests += 1;
        Resolution::Ask { pushed_out: entry.held.replace(out) }
    }

    /// Somebody's link address was heard, in a request or a reply: returns the packet that waited for it.
    pub(crate) fn learn(&mut self, addr: Addr) -> Option<Outgoing> {
        let entry = self.entries.entry(addr).or_default();
        entry.known = true;
        entry.held.take()
    }

    /// The packets held.
    pub(crate) fn held(&self) -> impl Iterator<Item = &Outgoing> {
        self.entries.values().filter_map(|e| e.held.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wayhop_core::{NodeId, PacketId, PacketMeta, Pool, Priority};
    use wayhop_radio::Payload;

    fn out(pool: &mut Pool, id: u64) -> Outgoing {
        Outgoing {
            packet: pool.packet(&[0; 20], PacketMeta { id: PacketId(id), ..PacketMeta::default() }),
            payload: Payload::Ip,
            next_hop: NodeId(7).default_addr(),
            to: 7,
            priority: Priority::Data,
            report: None,
            wants_status: false,
        }
    }

    #[test]
    fn one_packet_is_held_and_a_newer_one_pushes_it_out() {
        let (mut pool, mut t) = (Pool::new(), ArpTable::default());
        assert!(matches!(t.resolve(out(&mut pool, 1)), Resolution::Ask { pushed_out: None }));
        let Resolution::Ask { pushed_out: Some(first) } = t.resolve(out(&mut pool, 2)) else { panic!() };
        assert_eq!(first.packet.meta.id.0, 1);
        assert_eq!(t.learn(NodeId(7).default_addr()).unwrap().packet.meta.id.0, 2);
        assert!(matches!(t.resolve(out(&mut pool, 3)), Resolution::Send(_)));
    }

    #[test]
    fn the_fourth_packet_without_an_answer_gives_up() {
        let (mut pool, mut t) = (Pool::new(), ArpTable::default());
        for id in 1..=3 {
            assert!(matches!(t.resolve(out(&mut pool, id)), Resolution::Ask { .. }));
        }
        let Resolution::GiveUp { held, packet } = t.resolve(out(&mut pool, 4)) else { panic!() };
        assert_eq!((held.unwrap().packet.meta.id.0, packet.packet.meta.id.0), (3, 4));
        assert!(matches!(t.resolve(out(&mut pool, 5)), Resolution::Ask { pushed_out: None }));
    }
}
