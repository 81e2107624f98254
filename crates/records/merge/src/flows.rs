//! The flows of programs' traffic.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};
use wayhop_core::{Addr, FlowTag, PacketId};
use wayhop_trace::{
    Conversation, ConversationEnds, Conversations, HopEvent, HopKind, is_for_all, is_for_neighbours,
};

use crate::frames::RowRef;
use crate::input::{Mesh, NodeRun};
use crate::unite::{Packets, TimedRow, is_data};

#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) conversation: Conversation,
    /// The node that sends; the gateway by which packets from outside came.
    pub(crate) from: u32,
    pub(crate) is_from_outside: bool,
    pub(crate) to: To,
}

/// Where a flow's packets go.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Node(u32),
    /// All nodes but the one that sends.
    All,
    /// A host outside of the mesh, by the gateway that a packet left by last, if any did.
    Outside(Option<u32>),
}

impl Flow {
    pub(crate) fn receivers(&self, nodes: usize) -> u32 {
        if self.to == To::All { nodes as u32 - 1 } else { 1 }
    }

    /// Whether a packet that this node delivers has arrived: outside, if it left the mesh there.
    pub(crate) fn is_meant_for(&self, node: u32) -> bool {
        match self.to {
            To::Node(to) => node == to,
            To::All | To::Outside(_) => node != self.from,
        }
    }
}

#[derive(Copy, Clone, Debug)]
pub(crate) struct FlowPacket {
    pub(crate) packet: PacketId,
    pub(crate) at_ns: i128,
    /// Time to live at its source.
    pub(crate) ttl: u8,
    /// Octets of the program's data.
    pub(crate) payload: u32,
}

#[derive(Default)]
pub(crate) struct Flows {
    pub(crate) list: Vec<Flow>,
    /// By flow, by number in the flow.
    pub(crate) sent: Vec<Vec<FlowPacket>>,
    /// By packet.
    pub(crate) tags: FxHashMap<PacketId, FlowTag>,
    /// Packets that programs sent to somebody whose run is not here, or that are for neighbours only.
    pub(crate) elsewhere: u64,
    /// Rows with which packets came into the mesh: a gateway forwards them without having received them from a neighbour.
    pub(crate) entries: BTreeSet<RowRef>,
}

/// Finds the flows of all packets that applications sent.
pub(crate) fn flows(runs: &[NodeRun], packets: &Packets, order: &[TimedRow]) -> Flows {
    let mut all = Flows::default();
    // What the kernels forward is in no record: that nothing is seen to arrive says nothing.
    if runs.iter().any(|run| run.summary.kernel_forwards) {
        return all;
    }
    let mut conversations = Conversations::default();
    let mut ways: Vec<(u32, bool, To)> = Vec::new();
    let ways_out = WaysOut::of(runs, packets);
    for t in order {
        let (node, row) = (t.seen.node as usize, t.seen.row as usize);
        let (hop, identity) = &runs[node].hops[row];
        let packet = packets.of_row[node][row];
        let is_from_outside = !runs.iter().any(|r| r.has(hop.source));
        let begins = match hop.kind {
            HopKind::Originate => true,
            HopKind::Forward => is_from_outside && ways_out.is_entry(t.seen.node, packet, hop.source),
            _ => false,
        };
        let Some(identity) = identity.filter(|_| begins && is_data(hop.class)) else { continue };
        if all.tags.contains_key(&packet) {
            continue;
        }
        let own = runs.iter().find(|r| r.has(hop.destination)).map(|r| To::Node(r.number));
        let all_of_them = || is_for_all(hop.destination).then_some(To::All);
        let to = own.or_else(all_of_them).or_else(|| ways_out.to(packet, hop.destination));
        let ends = ConversationEnds::new(hop.source, hop.destination, &identity);
        let to = to.filter(|_| is_from_outside || runs[node].has(hop.source));
        let Some((to, tag)) = to.and_then(|to| Some((to, conversations.sent(ends, t.at_ns, || ())?))) else {
            all.elsewhere += 1;
            continue;
        };
        all.tags.insert(packet, tag);
        if hop.kind == HopKind::Forward {
            all.entries.insert(t.seen);
        }
        let place = tag.flow as usize;
        if place == ways.len() {
            ways.push((runs[node].number, is_from_outside, to));
            all.sent.push(Vec::new());
        } else if to != To::Outside(None) {
            ways[place].2 = to;
        }
        let payload = identity.payload;
        all.sent[place].push(FlowPacket { packet, at_ns: t.at_ns, ttl: hop.ttl, payload });
    }
    for ((_, conversation), (from, is_from_outside, to)) in conversations.iter().zip(ways) {
        all.list.push(Flow { conversation: *conversation, from, is_from_outside, to });
    }
    all
}

/// Where packets left the mesh, and came into it.
struct WaysOut {
    /// The gateway that a packet left by.
    by: FxHashMap<PacketId, u32>,
    /// Which packets each run's node received.
    received: FxHashSet<(u32, PacketId)>,
    /// The mesh's own addresses, if a configuration tells them.
    mesh: Option<Mesh>,
}

impl WaysOut {
    fn of(runs: &[NodeRun], packets: &Packets) -> Self {
        let (mut by, mut received) = (FxHashMap::default(), FxHashSet::default());
        for (run, of_row) in runs.iter().zip(&packets.of_row) {
            // A node that hands a packet with a foreign destination to its host leads out.
            let leaves = |hop: &HopEvent| {
                let to = hop.destination;
                hop.kind == HopKind::Deliver && !to.is_multicast() && to != Addr::BROADCAST && !run.has(to)
            };
            let leaving = run.hops.iter().zip(of_row).filter(|((hop, _), _)| leaves(hop));
            by.extend(leaving.map(|(_, p)| (*p, run.number)));
        }
        for ((node, run), of_row) in (0..).zip(runs).zip(&packets.of_row) {
            let came = run.hops.iter().zip(of_row).filter(|((hop, _), _)| hop.kind == HopKind::Receive);
            received.extend(came.map(|(_, packet)| (node, *packet)));
        }
        Self { by, received, mesh: runs.iter().find_map(|r| Mesh::of(&r.manifest)) }
    }

    /// Whether a packet that a node forwards came there from outside, and not from a neighbour.
    fn is_entry(&self, run: u32, packet: PacketId, source: Addr) -> bool {
        let is_outside = |from| self.mesh.is_none_or(|mesh| !mesh.has(from));
        source.v4().is_some_and(is_outside) && !self.received.contains(&(run, packet))
    }

    /// Where a packet goes whose destination is none of the nodes; `None` if that may be a node whose run is not here.
    fn to(&self, packet: PacketId, destination: Addr) -> Option<To> {
        let by = self.by.get(&packet).copied();
        let is_outside = |to| self.mesh.is_some_and(|mesh| !mesh.has(to)) && !is_for_neighbours(destination);
        (by.is_some() || destination.v4().is_some_and(is_outside)).then_some(To::Outside(by))
    }
}
