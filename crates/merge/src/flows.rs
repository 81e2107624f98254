//! Programs' traffic: packets with the same ends, protocol and ports are a flow.

use std::net::Ipv4Addr;

use rustc_hash::FxHashMap;
use wayhop_core::{Addr, FlowTag, PacketId};
use wayhop_trace::{HopKind, PacketClass};

use crate::input::NodeRun;
use crate::unite::{Packets, Timed, is_data};

/// Flows that are told apart at most; packets of further ones belong to none.
const MOST_FLOWS: usize = 100_000;

/// One direction of a conversation.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Ends {
    pub(crate) source: Addr,
    pub(crate) destination: Addr,
    pub(crate) protocol: u8,
    pub(crate) ports: Option<(u16, u16)>,
}

/// A flow.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) ends: Ends,
    /// The node that sends.
    pub(crate) from: u32,
    /// The node that receives; `None` for all.
    pub(crate) to: Option<u32>,
    pub(crate) sent: u32,
    /// When the first and the last packet were sent, by the reference's clock.
    pub(crate) first_ns: i128,
    pub(crate) last_ns: i128,
}

impl Flow {
    /// What its packets are called in tables.
    pub(crate) fn class(&self) -> PacketClass {
        class(self.ends.protocol)
    }

    /// What it is called in summaries.
    pub(crate) fn kind(&self) -> String {
        match self.ends.protocol {
            1 | 58 => "icmp".to_owned(),
            6 => "tcp".to_owned(),
            17 => "udp".to_owned(),
            other => format!("ip-{other}"),
        }
    }
}

/// What packets of this IP protocol are called in tables.
pub(crate) fn class(protocol: u8) -> PacketClass {
    match protocol {
        6 => PacketClass::Tcp,
        _ => PacketClass::Data,
    }
}

/// A packet of a flow.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) packet: PacketId,
    pub(crate) at_ns: i128,
    /// Time to live at its source.
    pub(crate) ttl: u8,
    /// Octets of the program's data.
    pub(crate) payload: u32,
}

/// All flows, and the packets of each.
#[derive(Default)]
pub(crate) struct Flows {
    pub(crate) list: Vec<Flow>,
    /// By flow, by number in the flow.
    pub(crate) sent: Vec<Vec<Sent>>,
    /// By packet.
    pub(crate) tags: FxHashMap<PacketId, FlowTag>,
    /// Packets that programs sent to somebody whose run is not here, or that are for neighbours only.
    pub(crate) elsewhere: u64,
}

/// Finds the flows of all packets that applications sent.
pub(crate) fn flows(runs: &[NodeRun], packets: &Packets, order: &[Timed]) -> Flows {
    let mut all = Flows::default();
    // What the kernels forward is in no record: that nothing is seen to arrive says nothing.
    if runs.iter().any(|run| run.summary.kernel_forwards) {
        return all;
    }
    let mut known: FxHashMap<Ends, u32> = FxHashMap::default();
    for t in order {
        let (node, row) = (t.seen.node as usize, t.seen.row as usize);
        let (hop, identity) = &runs[node].hops[row];
        let Some(identity) = identity.filter(|_| hop.kind == HopKind::Originate && is_data(hop.class)) else {
            continue;
        };
        let packet = packets.of_row[node][row];
        if all.tags.contains_key(&packet) {
            continue;
        }
        let ends = Ends {
            source: hop.source,
            destination: hop.destination,
            protocol: identity.protocol,
            ports: identity.ports,
        };
        let to = (0..).zip(runs).find(|(_, r)| r.has(hop.destination)).map(|(i, _)| i);
        if !runs[node].has(hop.source) || (to.is_none() && !is_for_the_mesh(hop.destination)) {
            all.elsewhere += 1;
            continue;
        }
        let next = all.list.len();
        if next >= MOST_FLOWS && !known.contains_key(&ends) {
            all.elsewhere += 1;
            continue;
        }
        let flow = *known.entry(ends).or_insert(next as u32);
        if flow as usize == next {
            let from = t.seen.node;
            all.list.push(Flow { ends, from, to, sent: 0, first_ns: t.at_ns, last_ns: t.at_ns });
            all.sent.push(Vec::new());
        }
        let of = &mut all.list[flow as usize];
        all.tags.insert(packet, FlowTag { flow, seq: of.sent });
        of.sent += 1;
        of.last_ns = t.at_ns;
        let payload = identity.payload;
        all.sent[flow as usize].push(Sent { packet, at_ns: t.at_ns, ttl: hop.ttl, payload });
    }
    all
}

/// Whether it is an address of all nodes of a mesh, and not one of all neighbours on a link: those are not routed (RFC 5771,
/// section 4; RFC 4291, section 2.7).
fn is_for_the_mesh(a: Addr) -> bool {
    if let Some(v4) = a.v4() {
        let [o, p, q, _] = v4.octets();
        return v4 != Ipv4Addr::BROADCAST && v4.is_multicast() && [o, p, q] != [224, 0, 0];
    }
    a.v6().is_some_and(|v6| v6.is_multicast() && v6.segments()[0] & 0xf > 2)
}
