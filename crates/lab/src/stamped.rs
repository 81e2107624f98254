//! How packets of flows are known.

use wayhop_core::PacketId;

/// The name of a flow's packet in the run's tables.
pub(super) fn packet_id(flow: u32, seq: u32) -> PacketId {
    PacketId(u64::from(flow) << 32 | u64::from(seq))
}
