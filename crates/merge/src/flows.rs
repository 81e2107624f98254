//! The flows of programs' traffic.

use rustc_hash::FxHashMap;
use wayhop_core::{FlowTag, PacketId};
use wayhop_trace::{Conversation, Conversations, Ends, HopKind, is_for_all};

use crate::input::NodeRun;
use crate::unite::{Packets, Timed, is_data};

/// A flow.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) talk: Conversation,
    /// The node that sends.
    pub(crate) from: u32,
    /// The node that receives; `None` for all.
    pub(crate) to: Option<u32>,
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
    let mut talks = Conversations::default();
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
        let to = (0..).zip(runs).find(|(_, r)| r.has(hop.destination)).map(|(i, _)| i);
        let is_known = to.is_some() || is_for_all(hop.destination);
        let ends = Ends::new(hop.source, hop.destination, &identity);
        let is_ours = runs[node].has(hop.source) && is_known;
        let Some(tag) = is_ours.then(|| talks.sent(ends, t.at_ns)).flatten() else {
            all.elsewhere += 1;
            continue;
        };
        all.tags.insert(packet, tag);
        let place = tag.flow as usize;
        if place == all.list.len() {
            all.list.push(Flow { talk: talks.list()[place], from: t.seen.node, to });
            all.sent.push(Vec::new());
        }
        let payload = identity.payload;
        all.sent[place].push(Sent { packet, at_ns: t.at_ns, ttl: hop.ttl, payload });
    }
    for (flow, talk) in all.list.iter_mut().zip(talks.list()) {
        flow.talk = *talk;
    }
    all
}
