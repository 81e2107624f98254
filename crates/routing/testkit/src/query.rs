//! Queries of a test.

use std::fmt::Display;
use std::io;
use std::net::Ipv4Addr;

use wayhop_core::{DropReason, Inspect, NodeId, Packet, PacketId, Route, SendState, TraceNote};
use wayhop_wire::{icmp, ipv4};

use crate::net::Net;
use crate::packets::addr;
use crate::pcap;
use crate::record::{EventKind, Record};

/// A protocol's tables as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// (table, columns) in the protocol's order.
    pub rows: Vec<(&'static str, Vec<(&'static str, String)>)>,
    /// The packets held, and where.
    pub held: Vec<(&'static str, PacketId)>,
}

impl Tables {
    /// The rows of one table.
    pub fn table(&self, name: &str) -> impl Iterator<Item = &Vec<(&'static str, String)>> {
        self.rows.iter().filter(move |(t, _)| *t == name).map(|(_, row)| row)
    }
    /// The value in column `column` of the row of `table` whose column `key` reads `value`.
    pub fn cell(&self, table: &str, key: &str, value: &str, column: &str) -> Option<&str> {
        let row = self.table(table).find(|r| r.iter().any(|(c, v)| *c == key && v == value))?;
        row.iter().find(|(c, _)| *c == column).map(|(_, v)| v.as_str())
    }
}

impl Inspect for Tables {
    fn row(&mut self, table: &'static str, fields: &[(&'static str, &dyn Display)]) {
        self.rows.push((table, fields.iter().map(|(c, v)| (*c, v.to_string())).collect()));
    }
    fn held(&mut self, place: &'static str, p: &Packet) {
        self.held.push((place, p.meta.id));
    }
}

impl Net {
    /// The notices (ICMP host unreachable) that a node's stack got, which gets nothing else: from whom, and about a packet to whom.
    ///
    /// # Panics
    /// If it got something else, or a notice that does not quote eight octets of its own packet (RFC 792).
    pub fn host_unreachables(&self, node: usize) -> Vec<(Ipv4Addr, Ipv4Addr)> {
        self.delivered_at(node)
            .map(|bytes| {
                let ip = ipv4::Packet::new_checked(bytes).expect("it is IP");
                let message = icmp::Repr::parse(ip.payload());
                let Ok(icmp::Repr::DestinationUnreachable { code: 1, original, .. }) = message else {
                    panic!("something else was delivered");
                };
                let about = ipv4::Packet::new_snapped(original).expect("a complete header");
                assert_eq!(
                    (about.src(), about.payload().len()),
                    (addr(node), 8),
                    "eight octets of an own packet"
                );
                (ip.src(), about.dst())
            })
            .collect()
    }
    /// What node `node` did, in order.
    pub fn of(&self, node: usize) -> impl Iterator<Item = &Record> {
        self.common.record.iter().filter(move |r| r.node == NodeId(node as u32))
    }
    /// The IP packets that a node's local stack got, in order.
    pub fn delivered_at(&self, node: usize) -> impl Iterator<Item = &[u8]> {
        self.of(node).filter_map(|r| match &r.what {
            EventKind::Delivered { bytes, .. } => Some(bytes.as_slice()),
            _ => None,
        })
    }
    /// The sequence numbers of a flow's packets that were delivered, in order of arrival, doubles included.
    pub fn delivered(&self, flow: u32) -> Vec<u32> {
        let seq = |r: &Record| match r.what {
            EventKind::Delivered { flow: Some(f), .. } if f.flow == flow => Some(f.seq),
            _ => None,
        };
        self.common.record.iter().filter_map(seq).collect()
    }
    /// The reasons of all drops of data and control packets, in order.
    pub fn drops(&self) -> Vec<(NodeId, DropReason)> {
        let reason = |r: &Record| match r.what {
            EventKind::Dropped { reason, .. } => Some((r.node, reason)),
            _ => None,
        };
        self.common.record.iter().filter_map(reason).collect()
    }
    /// The frames that node `node` put on the air: (record, IPv4 next hop, IP packet).
    pub fn sent_by(&self, node: usize) -> impl Iterator<Item = (&Record, Ipv4Addr, &[u8])> {
        self.of(node).filter_map(|r| match &r.what {
            EventKind::Sent { next_hop, bytes, .. } => Some((r, next_hop.v4()?, bytes.as_slice())),
            _ => None,
        })
    }
    /// The remarks of a name, with their nodes.
    pub fn notes(&self, what: &str) -> Vec<(NodeId, TraceNote)> {
        let note = |r: &Record| match r.what {
            EventKind::Note(n) if n.what == what => Some((r.node, n)),
            _ => None,
        };
        self.common.record.iter().filter_map(note).collect()
    }

    /// The states in which a node sent its packets, in order.
    pub fn states(&self, node: usize) -> Vec<SendState> {
        self.of(node).filter_map(|r| if let EventKind::State(s) = r.what { Some(s) } else { None }).collect()
    }
    /// The row of a node's forwarding table for a destination.
    pub fn route(&self, node: usize, to: Ipv4Addr) -> Option<Route> {
        self.hosts[node].node.table().get(to.into()).map(|row| row.route)
    }
    /// A node's whole forwarding table, by destination.
    pub fn routes(&self, node: usize) -> Vec<Route> {
        let mut all: Vec<Route> = self.hosts[node].node.table().rows().map(|row| row.route).collect();
        all.sort_unstable_by_key(|r| r.destination);
        all
    }
    /// The tables that a node's protocol shows.
    pub fn inspect(&self, node: usize) -> Tables {
        let mut t = Tables::default();
        self.hosts[node].node.inspect(self.now(), &mut t);
        t
    }
    /// Writes every frame that was sent as a capture.
    pub fn write_pcap(&self, to: impl io::Write) -> io::Result<()> {
        let frames = self.common.record.iter().filter_map(|r| match &r.what {
            EventKind::Sent { bytes, .. } => Some((r.at, bytes.as_slice())),
            _ => None,
        });
        pcap::write(to, frames)
    }
}
