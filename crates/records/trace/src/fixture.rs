//! Events for tests.

use std::net::Ipv4Addr;

use wayhop_core::{FlowTag, NodeId, PacketId, Time};

use crate::{HopEvent, HopKind, Messages, PacketClass};

/// A plain forwarded data packet; `n` is its time in milliseconds, its id and its number in flow 0.
pub(crate) fn hop(n: u64) -> HopEvent {
    HopEvent {
        iface: wayhop_core::IfaceId::ANY,
        time: Time::from_nanos(n * 1_000_000),
        packet: PacketId(n),
        flow: Some(FlowTag { flow: 0, seq: n as u32 }),
        node: NodeId(2),
        bytes: 92,
        source: Ipv4Addr::new(10, 0, 0, 1).into(),
        destination: Ipv4Addr::new(10, 0, 0, 5).into(),
        peer: Ipv4Addr::new(10, 0, 0, 4).into(),
        signal_dbm: f32::NAN,
        kind: HopKind::Forward,
        class: PacketClass::Cbr,
        messages: Messages::NONE,
        ttl: 62,
        reason: None,
    }
}
