//! How packets of flows are known.

use wayhop_core::PacketId;
use wayhop_scenario::FlowKind;
use wayhop_trace::PacketClass;

pub(super) fn class(kind: &FlowKind) -> PacketClass {
    match kind {
        FlowKind::Cbr { .. } => PacketClass::Cbr,
        FlowKind::Poisson { .. } => PacketClass::Poisson,
        FlowKind::Ping { .. } => PacketClass::Ping,
        FlowKind::Tcp(_) => PacketClass::Tcp,
    }
}

/// The name of a flow's packet in the run's tables.
pub(super) fn packet_id(flow: u32, seq: u32) -> PacketId {
    PacketId(u64::from(flow) << 32 | u64::from(seq))
}
