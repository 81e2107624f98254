//! How packets of flows are recognised.

use wayhop_core::{Addr, NodeId, PacketId};
use wayhop_scenario::{FlowConfig, Resolved};

/// The address of a node in a flow's family.
pub(super) fn address(s: &Resolved, config: &FlowConfig, node: NodeId) -> Addr {
    match s.ipv6.as_ref().filter(|_| config.ip6) {
        Some(plan) => plan.addresses[node.index()].into(),
        None => s.addresses[node.index()].into(),
    }
}

/// The name of a flow's packet in the run's tables.
pub(super) fn packet_id(flow: u32, seq: u32) -> PacketId {
    PacketId(u64::from(flow) << 32 | u64::from(seq))
}
