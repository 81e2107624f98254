//! The Automatic Route Shortening Table (RFC 4728 section 5.2).

use crate::flow_state::flow_table::Ends;

/// How many flows the table has room for, and how many packets of each.
const FLOWS: usize = 64;
const PACKETS: usize = 4;

/// The ends of a flow and its identifier.
pub(crate) type FlowName = (Ends, u16);

/// What tells a packet of a flow from others: identification and fragment offset of its IP header, which no hop changes.
pub(crate) type FlowPacketKey = (u16, u16);

/// The Automatic Route Shortening Table: a ring of flows, each with a ring of packets.
#[derive(Clone, Default, Hash)]
pub(crate) struct ArsTable {
    rows: Vec<OverheardFlow>,
    next: usize,
}

#[derive(Clone, Hash)]
struct OverheardFlow {
    name: FlowName,
    heard: [Option<(FlowPacketKey, u8)>; PACKETS],
    next: usize,
}

impl ArsTable {
    /// Notes that a packet was overheard when it was due at the node with this Hop Count; the lowest counts.
    pub(crate) fn note(&mut self, name: FlowName, key: FlowPacketKey, hop_count: u8) {
        let at = self.rows.iter().position(|r| r.name == name).unwrap_or_else(|| {
            let row = OverheardFlow { name, heard: [None; PACKETS], next: 0 };
            if self.rows.len() < FLOWS {
                self.rows.push(row);
                return self.rows.len() - 1;
            }
            let at = self.next;
            self.rows[at] = row;
            self.next = (at + 1) % FLOWS;
            at
        });
        let row = &mut self.rows[at];
        if let Some((_, lowest)) = row.heard.iter_mut().flatten().find(|(k, _)| *k == key) {
            *lowest = hop_count.min(*lowest);
            return;
        }
        row.heard[row.next] = Some((key, hop_count));
        row.next = (row.next + 1) % PACKETS;
    }

    /// The Hop Count noted for a packet, which is forgotten.
    pub(crate) fn take(&mut self, name: FlowName, key: FlowPacketKey) -> Option<u8> {
        let row = self.rows.iter_mut().find(|r| r.name == name)?;
        let noted = row.heard.iter_mut().find(|h| h.is_some_and(|(k, _)| k == key))?;
        noted.take().map(|(_, hop_count)| hop_count)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const AB: Ends = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));

    #[test]
    fn the_lowest_hop_count_of_a_packet_counts_and_is_told_once() {
        let mut t = ArsTable::default();
        for n in [3, 2, 4] {
            t.note((AB, 1), (7, 0), n);
        }
        assert_eq!(t.take((AB, 3), (7, 0)), None);
        assert_eq!(t.take((AB, 1), (8, 0)), None);
        assert_eq!(t.take((AB, 1), (7, 0)), Some(2));
        assert_eq!(t.take((AB, 1), (7, 0)), None);
    }

    #[test]
    fn packets_give_way_before_flows_do() {
        let mut t = ArsTable::default();
        for id in 0..1_000 {
            t.note((AB, 1), (id, 0), 1);
        }
        assert_eq!(t.rows.len(), 1);
        assert_eq!((995..1_000).filter(|&id| t.take((AB, 1), (id, 0)).is_some()).count(), 4);
        for flow in 0..200 {
            t.note((AB, flow), (1, 0), 1);
        }
        assert_eq!(t.rows.len(), FLOWS, "bounded");
        assert_eq!(t.take((AB, 199), (1, 0)), Some(1));
    }
}
